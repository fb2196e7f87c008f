// The crypto provider of SQLCipher, and memory for secrets.

#if __linux__
#define _GNU_SOURCE 1
#endif
// Apple's <string.h> declares memset_s on demand.
#if __APPLE__
#define __STDC_WANT_LIB_EXT1__ 1
#endif

#include "strongroom_crypto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#if __linux__
#include <sys/prctl.h>
#endif

#if __APPLE__
#include <CommonCrypto/CommonCrypto.h>
#include <CommonCrypto/CommonRandom.h>
#else
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#endif

// MARK: Provider

#if __APPLE__

int strongroom_pbkdf2(
    strongroom_digest digest, const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size,
    uint32_t rounds, uint8_t *out, size_t out_size)
{
    CCPseudoRandomAlgorithm prf = digest == STRONGROOM_SHA512 ? kCCPRFHmacAlgSHA512
        : digest == STRONGROOM_SHA256 ? kCCPRFHmacAlgSHA256 : kCCPRFHmacAlgSHA1;
    return CCKeyDerivationPBKDF(kCCPBKDF2, secret, secret_size, salt, salt_size, prf, rounds, out, out_size);
}

static CCHmacAlgorithm cc_hmac(strongroom_digest digest) {
    return digest == STRONGROOM_SHA512 ? kCCHmacAlgSHA512
        : digest == STRONGROOM_SHA256 ? kCCHmacAlgSHA256 : kCCHmacAlgSHA1;
}

int strongroom_hmac(
    strongroom_digest digest, const void *key, size_t key_size, const void *data, size_t size, uint8_t *out)
{
    CCHmac(cc_hmac(digest), key, key_size, data, size, out);
    return 0;
}

struct strongroom_mac { CCHmacAlgorithm algorithm; };

strongroom_mac *strongroom_mac_new(strongroom_digest digest) {
    strongroom_mac *mac = malloc(sizeof *mac);
    if (mac != NULL) mac->algorithm = cc_hmac(digest);
    return mac;
}

int strongroom_mac_compute(
    strongroom_mac *mac, const void *key, size_t key_size, const void *data, size_t size, const void *end,
    size_t end_size, uint8_t *out)
{
    CCHmacContext context;
    CCHmacInit(&context, mac->algorithm, key, key_size);
    CCHmacUpdate(&context, data, size);
    CCHmacUpdate(&context, end, end_size);
    CCHmacFinal(&context, out);
    strongroom_wipe(&context, sizeof context);
    return 0;
}

void strongroom_mac_free(strongroom_mac *mac) { free(mac); }

struct strongroom_sha256 { CC_SHA256_CTX context; };

strongroom_sha256 *strongroom_sha256_new(void) {
    strongroom_sha256 *state = malloc(sizeof *state);
    if (state != NULL) CC_SHA256_Init(&state->context);
    return state;
}

int strongroom_sha256_add(strongroom_sha256 *state, const void *bytes, size_t size) {
    return CC_SHA256_Update(&state->context, bytes, (CC_LONG)size) == 1 ? 0 : 1;
}

int strongroom_sha256_end(strongroom_sha256 *state, uint8_t *out) {
    return CC_SHA256_Final(out, &state->context) == 1 ? 0 : 1;
}

void strongroom_sha256_free(strongroom_sha256 *state) { free(state); }

int strongroom_random(void *out, size_t size) { return CCRandomGenerateBytes(out, size); }

bool strongroom_equal(const void *a, const void *b, size_t size) { return timingsafe_bcmp(a, b, size) == 0; }

void strongroom_wipe(void *bytes, size_t size) { memset_s(bytes, size, 0, size); }

#else

// When a program exits, OpenSSL frees its state, although other threads may still use databases: they would crash, or
// report intact pages as damaged. The first initialization of OpenSSL decides, so this comes before any other use.
#ifdef OPENSSL_INIT_NO_ATEXIT
__attribute__((constructor)) static void keep_provider(void) {
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
#endif

static const EVP_MD *evp(strongroom_digest digest) {
    return digest == STRONGROOM_SHA512 ? EVP_sha512() : digest == STRONGROOM_SHA256 ? EVP_sha256() : EVP_sha1();
}

int strongroom_pbkdf2(
    strongroom_digest digest, const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size,
    uint32_t rounds, uint8_t *out, size_t out_size)
{
    int done = PKCS5_PBKDF2_HMAC(
        secret, (int)secret_size, salt, (int)salt_size, (int)rounds, evp(digest), (int)out_size, out);
    return done == 1 ? 0 : 1;
}

int strongroom_hmac(
    strongroom_digest digest, const void *key, size_t key_size, const void *data, size_t size, uint8_t *out)
{
    return HMAC(evp(digest), key, (int)key_size, data, size, out, NULL) != NULL ? 0 : 1;
}

// HMAC() looks its algorithm up each time, which takes a quarter as long as the HMAC of a page of 4096 bytes.

strongroom_mac *strongroom_mac_new(strongroom_digest digest) {
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = hmac != NULL ? EVP_MAC_CTX_new(hmac) : NULL;
    EVP_MAC_free(hmac);
    char *name = (char *)EVP_MD_get0_name(evp(digest));
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0), OSSL_PARAM_construct_end(),
    };
    if (context != NULL && EVP_MAC_CTX_set_params(context, parameters) == 1) return (strongroom_mac *)context;
    EVP_MAC_CTX_free(context);
    return NULL;
}

int strongroom_mac_compute(
    strongroom_mac *mac, const void *key, size_t key_size, const void *data, size_t size, const void *end,
    size_t end_size, uint8_t *out)
{
    EVP_MAC_CTX *context = (EVP_MAC_CTX *)mac;
    size_t length = 0;
    // OpenSSL 3.0.2 does not begin again without the key.
    bool done = EVP_MAC_init(context, key, key_size, NULL) == 1
        && EVP_MAC_update(context, data, size) == 1 && EVP_MAC_update(context, end, end_size) == 1
        && EVP_MAC_final(context, out, &length, EVP_MAX_MD_SIZE) == 1;
    return done ? 0 : 1;
}

void strongroom_mac_free(strongroom_mac *mac) { EVP_MAC_CTX_free((EVP_MAC_CTX *)mac); }

strongroom_sha256 *strongroom_sha256_new(void) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1) return (strongroom_sha256 *)context;
    EVP_MD_CTX_free(context);
    return NULL;
}

int strongroom_sha256_add(strongroom_sha256 *state, const void *bytes, size_t size) {
    return EVP_DigestUpdate((EVP_MD_CTX *)state, bytes, size) == 1 ? 0 : 1;
}

int strongroom_sha256_end(strongroom_sha256 *state, uint8_t *out) {
    return EVP_DigestFinal_ex((EVP_MD_CTX *)state, out, NULL) == 1 ? 0 : 1;
}

void strongroom_sha256_free(strongroom_sha256 *state) { EVP_MD_CTX_free((EVP_MD_CTX *)state); }

int strongroom_random(void *out, size_t size) { return RAND_bytes(out, (int)size) == 1 ? 0 : 1; }

bool strongroom_equal(const void *a, const void *b, size_t size) { return CRYPTO_memcmp(a, b, size) == 0; }

void strongroom_wipe(void *bytes, size_t size) { OPENSSL_cleanse(bytes, size); }

#endif

// MARK: Memory for secrets

static size_t whole_pages(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

void *strongroom_secret_allocate(size_t size) {
    size_t length = whole_pages(size ? size : 1);
    void *bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return NULL;
    // RLIMIT_MEMLOCK may refuse. A key that can be swapped is better than a database that can't be opened.
    (void)mlock(bytes, length);
#ifdef MADV_DONTDUMP
    (void)madvise(bytes, length, MADV_DONTDUMP);
#endif
    return bytes;
}

void strongroom_secret_free(void *bytes, size_t size) {
    if (!bytes) return;
    size_t length = whole_pages(size ? size : 1);
    strongroom_wipe(bytes, length);
    munlock(bytes, length);
    munmap(bytes, length);
}

int strongroom_prevent_core_dumps(void) {
    struct rlimit none = { 0, 0 };
    if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
#if __linux__
    // A program that the system pipes dumps to gets them regardless of the limit.
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
#endif
    return 0;
}

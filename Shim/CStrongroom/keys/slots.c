// Key slots with SQLCipher's crypto provider: scrypt, Argon2id, AES key wrap.

#include "strongroom_slots.h"
#include "strongroom_crypto.h"

#if __APPLE__
#include <CommonCrypto/CommonCrypto.h>
#include <CommonCrypto/CommonSymmetricKeywrap.h>
#else
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/opensslv.h>
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#include <openssl/kdf.h>
#include <openssl/params.h>
#endif
#endif

#if __APPLE__ || OPENSSL_VERSION_NUMBER < 0x30000000L
int strongroom_argon2id(
    const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size, uint32_t passes, uint32_t memory,
    uint32_t lanes, uint8_t *out, size_t out_size)
{
    (void)secret, (void)secret_size, (void)salt, (void)salt_size, (void)passes, (void)memory, (void)lanes;
    (void)out, (void)out_size;
    return STRONGROOM_UNSUPPORTED;
}
#endif

#if __APPLE__

int strongroom_scrypt(
    const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size, uint64_t n, uint32_t r, uint32_t p,
    uint8_t *out, size_t out_size)
{
    (void)secret, (void)secret_size, (void)salt, (void)salt_size, (void)n, (void)r, (void)p, (void)out, (void)out_size;
    return STRONGROOM_UNSUPPORTED;
}

int strongroom_wrap_key(const uint8_t *wrapping, const uint8_t *key, uint8_t *wrapped) {
    size_t size = STRONGROOM_WRAPPED_KEY_SIZE;
    int result = CCSymmetricKeyWrap(
        kCCWRAPAES, CCrfc3394_iv, CCrfc3394_ivLen, wrapping, STRONGROOM_KEY_SIZE, key, STRONGROOM_KEY_SIZE, wrapped,
        &size);
    return result == kCCSuccess && size == STRONGROOM_WRAPPED_KEY_SIZE ? 0 : STRONGROOM_REFUSED;
}

int strongroom_unwrap_key(const uint8_t *wrapping, const uint8_t *wrapped, uint8_t *key) {
    size_t size = STRONGROOM_KEY_SIZE;
    int result = CCSymmetricKeyUnwrap(
        kCCWRAPAES, CCrfc3394_iv, CCrfc3394_ivLen, wrapping, STRONGROOM_KEY_SIZE, wrapped, STRONGROOM_WRAPPED_KEY_SIZE,
        key, &size);
    return result == kCCSuccess && size == STRONGROOM_KEY_SIZE ? 0 : STRONGROOM_REFUSED;
}

#else

/// Clears the provider's error queue, which the next user of it would read otherwise.
static int refused(void) {
    ERR_clear_error();
    return STRONGROOM_REFUSED;
}

int strongroom_scrypt(
    const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size, uint64_t n, uint32_t r, uint32_t p,
    uint8_t *out, size_t out_size)
{
    uint64_t memory = 128 * n * r + 128 * (uint64_t)r * p + (1 << 20);
    int done = EVP_PBE_scrypt(secret, secret_size, salt, salt_size, n, r, p, memory, out, out_size);
    return done == 1 ? 0 : refused();
}

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
int strongroom_argon2id(
    const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size, uint32_t passes, uint32_t memory,
    uint32_t lanes, uint8_t *out, size_t out_size)
{
    EVP_KDF *function = EVP_KDF_fetch(NULL, "ARGON2ID", NULL);
    if (!function) return refused(), STRONGROOM_UNSUPPORTED;
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(function);
    EVP_KDF_free(function);
    if (!context) return refused();
    OSSL_PARAM settings[] = {
        OSSL_PARAM_construct_octet_string("pass", (void *)secret, secret_size),
        OSSL_PARAM_construct_octet_string("salt", (void *)salt, salt_size),
        OSSL_PARAM_construct_uint32("iter", &passes),
        OSSL_PARAM_construct_uint32("memcost", &memory),
        OSSL_PARAM_construct_uint32("lanes", &lanes),
        OSSL_PARAM_construct_end(),
    };
    int done = EVP_KDF_derive(context, out, out_size, settings);
    EVP_KDF_CTX_free(context);
    return done == 1 ? 0 : refused();
}
#endif

/// Wraps or unwraps a key. /// /// - parameter encrypts: 1 wraps, 0 unwraps.
static int transform(int encrypts, const uint8_t *wrapping, const uint8_t *in, int size, uint8_t *out, int expected) {
    uint8_t result[STRONGROOM_WRAPPED_KEY_SIZE + 16];
    int count = 0, rest = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (!context) return refused();
    EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    int done = EVP_CipherInit_ex(context, EVP_aes_256_wrap(), NULL, wrapping, NULL, encrypts) == 1
        && EVP_CipherUpdate(context, result, &count, in, size) == 1
        && EVP_CipherFinal_ex(context, result + count, &rest) == 1 && count + rest == expected;
    EVP_CIPHER_CTX_free(context);
    for (int index = 0; done && index < expected; index++) out[index] = result[index];
    strongroom_wipe(result, sizeof result);
    return done ? 0 : refused();
}

int strongroom_wrap_key(const uint8_t *wrapping, const uint8_t *key, uint8_t *wrapped) {
    return transform(1, wrapping, key, STRONGROOM_KEY_SIZE, wrapped, STRONGROOM_WRAPPED_KEY_SIZE);
}

int strongroom_unwrap_key(const uint8_t *wrapping, const uint8_t *wrapped, uint8_t *key) {
    return transform(0, wrapping, wrapped, STRONGROOM_WRAPPED_KEY_SIZE, key, STRONGROOM_KEY_SIZE);
}

#endif

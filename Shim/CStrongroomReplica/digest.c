// Digests and signatures.

#include "replica_digest.h"

#include <openssl/evp.h>

// One state for many digests: looking the algorithm up takes longer than hashing a small page.
static EVP_MD_CTX *context_of(replica_digest *digest) { return (EVP_MD_CTX *)digest; }

replica_digest *replica_digest_new(void) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_MD *algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    // The context keeps the algorithm.
    bool is_ready = context && algorithm && EVP_DigestInit_ex2(context, algorithm, NULL) == 1;
    EVP_MD_free(algorithm);
    if (is_ready) return (replica_digest *)context;
    EVP_MD_CTX_free(context);
    return NULL;
}

int replica_digest_begin(replica_digest *digest) {
    return EVP_DigestInit_ex2(context_of(digest), NULL, NULL) == 1 ? 0 : 1;
}

int replica_digest_add(replica_digest *digest, const void *bytes, size_t size) {
    return EVP_DigestUpdate(context_of(digest), bytes, size) == 1 ? 0 : 1;
}

int replica_digest_end(replica_digest *digest, uint8_t *out) {
    unsigned size = 0;
    return EVP_DigestFinal_ex(context_of(digest), out, &size) == 1 && size == REPLICA_DIGEST_SIZE ? 0 : 1;
}

void replica_digest_free(replica_digest *digest) { EVP_MD_CTX_free(context_of(digest)); }

// MARK: Signatures

int replica_public_key(const uint8_t *private_key, uint8_t *public_key) {
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, private_key, REPLICA_KEY_SIZE);
    size_t size = REPLICA_KEY_SIZE;
    bool done = key && EVP_PKEY_get_raw_public_key(key, public_key, &size) == 1 && size == REPLICA_KEY_SIZE;
    EVP_PKEY_free(key);
    return done ? 0 : 1;
}

int replica_sign(const uint8_t *private_key, const void *bytes, size_t size, uint8_t *signature) {
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, private_key, REPLICA_KEY_SIZE);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t length = REPLICA_SIGNATURE_SIZE;
    bool done = key && context && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1
        && EVP_DigestSign(context, signature, &length, bytes, size) == 1 && length == REPLICA_SIGNATURE_SIZE;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return done ? 0 : 1;
}

bool replica_is_signed(const uint8_t *public_key, const void *bytes, size_t size, const uint8_t *signature) {
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, REPLICA_KEY_SIZE);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_valid = key && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1
        && EVP_DigestVerify(context, signature, REPLICA_SIGNATURE_SIZE, bytes, size) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return is_valid;
}

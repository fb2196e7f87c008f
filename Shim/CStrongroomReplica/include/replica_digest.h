// Digests and signatures, by the crypto library that SQLCipher uses.

#ifndef REPLICA_DIGEST_H
#define REPLICA_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPLICA_DIGEST_SIZE = 32, REPLICA_KEY_SIZE = 32, REPLICA_SIGNATURE_SIZE = 64 };

/// The state of a SHA-256. NULL without memory, or if the provider refuses.
typedef struct replica_digest replica_digest;
replica_digest *replica_digest_new(void);
/// Zero is success.
int replica_digest_begin(replica_digest *digest);
int replica_digest_add(replica_digest *digest, const void *bytes, size_t size);
int replica_digest_end(replica_digest *digest, uint8_t *out);
void replica_digest_free(replica_digest *digest);

// Ed25519. Keys and signatures have the form of RFC 8032. Zero is success.

int replica_public_key(const uint8_t *private_key, uint8_t *public_key);
int replica_sign(const uint8_t *private_key, const void *bytes, size_t size, uint8_t *signature);
bool replica_is_signed(const uint8_t *public_key, const void *bytes, size_t size, const uint8_t *signature);

#endif

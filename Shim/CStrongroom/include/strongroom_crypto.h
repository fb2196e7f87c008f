// The crypto library that SQLCipher itself uses, and memory for secrets.

#ifndef STRONGROOM_CRYPTO_H
#define STRONGROOM_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Provider. Zero is success. The provider may refuse, for example in FIPS mode.

typedef enum { STRONGROOM_SHA1 = 1, STRONGROOM_SHA256 = 256, STRONGROOM_SHA512 = 512 } strongroom_digest;

int strongroom_pbkdf2(
    strongroom_digest digest, const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size,
    uint32_t rounds, uint8_t *out, size_t out_size);
int strongroom_hmac(
    strongroom_digest digest, const void *key, size_t key_size, const void *data, size_t size, uint8_t *out);
/// The provider's state for many HMACs, which is cheaper than one for each. For one thread at a time.
typedef struct strongroom_mac strongroom_mac;
/// Returns NULL without memory, and if the provider refuses.
strongroom_mac *strongroom_mac_new(strongroom_digest digest);
/// Computes the HMAC of two parts in sequence.
int strongroom_mac_compute(
    strongroom_mac *mac, const void *key, size_t key_size, const void *data, size_t size, const void *end,
    size_t end_size, uint8_t *out);
void strongroom_mac_free(strongroom_mac *mac);

/// The state of a SHA-256 of bytes that come in parts.
typedef struct strongroom_sha256 strongroom_sha256;
/// Returns NULL without memory, and if the provider refuses.
strongroom_sha256 *strongroom_sha256_new(void);
int strongroom_sha256_add(strongroom_sha256 *state, const void *bytes, size_t size);
/// Writes the 32 bytes of the digest. Nothing can be added afterwards.
int strongroom_sha256_end(strongroom_sha256 *state, uint8_t *out);
void strongroom_sha256_free(strongroom_sha256 *state);

int strongroom_random(void *out, size_t size);

/// Takes constant time for a given size.
bool strongroom_equal(const void *a, const void *b, size_t size);

// MARK: Memory for secrets: pages of their own, locked against swapping within the limits of the system, excluded from
// core dumps, and wiped on release.

/// Returns NULL without memory.
void *strongroom_secret_allocate(size_t size);
/// Frees memory. `size` is the requested size.
void strongroom_secret_free(void *bytes, size_t size);
/// Overwrites memory. The compiler can't remove the call.
void strongroom_wipe(void *bytes, size_t size);

/// Prevents core dumps of this process. Returns zero or an errno.
int strongroom_prevent_core_dumps(void);

#endif

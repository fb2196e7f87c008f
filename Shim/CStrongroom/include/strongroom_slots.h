// Key slots: derivations of keys from passphrases, and the wrapping of keys.

#ifndef STRONGROOM_SLOTS_H
#define STRONGROOM_SLOTS_H

#include <stddef.h>
#include <stdint.h>

enum { STRONGROOM_KEY_SIZE = 32, STRONGROOM_WRAPPED_KEY_SIZE = 40 };

/// The failures. Zero is success. The provider refuses, for example for lack of memory, or doesn't have the
/// function.
enum { STRONGROOM_REFUSED = 1, STRONGROOM_UNSUPPORTED = 2 };

/// scrypt, RFC 7914. Needs 128 * n * r bytes of memory.
int strongroom_scrypt(
    const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size, uint64_t n, uint32_t r, uint32_t p,
    uint8_t *out, size_t out_size);

/// Argon2id, RFC 9106, version 1.3, on one thread. Memory is in KiB. libcrypto 3.2 and newer have it, which is
/// checked at run time.
int strongroom_argon2id(
    const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size, uint32_t passes, uint32_t memory,
    uint32_t lanes, uint8_t *out, size_t out_size);

/// AES-256 key wrap, RFC 3394.
int strongroom_wrap_key(const uint8_t *wrapping, const uint8_t *key, uint8_t *wrapped);
/// Also returns STRONGROOM_REFUSED if `wrapped` was not wrapped with that key.
int strongroom_unwrap_key(const uint8_t *wrapping, const uint8_t *wrapped, uint8_t *key);

#endif

// What the machine itself says: memory in use, and how fast its crypto library is.

#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

/// The most memory that this process has had resident, in bytes.
int64_t machine_peak_memory(void);

/// Bytes a second of one core, in pieces of one database page.
double machine_aes256_cbc_encryption(void);
double machine_aes256_cbc_decryption(void);
double machine_hmac_sha512(void);

#endif

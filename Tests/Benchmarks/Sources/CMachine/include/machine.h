// Figures of the machine: the use of a process, and the speed of its crypto library.

#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

/// The most memory that this process has had resident, in bytes.
int64_t machine_peak_memory(void);

/// Makes the memory in use the peak, where the system allows it.
void machine_forget_peak_memory(void);

/// The use of all threads of this process.
typedef struct {
    /// User and system time, in seconds.
    double processor_time;
    /// Voluntary context switches: each is followed by a wake-up.
    int64_t wake_ups;
    /// The bytes of all calls of write, to files, pipes and sockets. -1 if the system does not count them.
    int64_t bytes_written;
} machine_usage;

machine_usage machine_usage_so_far(void);

/// True if this process holds a POSIX lock for writing on any file. Always false where there is no /proc/locks.
int machine_holds_write_lock(void);

/// Keeps this thread, and the processes that it starts, on that many cores. Does nothing where there is no such call.
void machine_use_cores(int count);

/// Drops a file from the system's cache, where the system allows it.
void machine_forget_file(const char *path);

/// Bytes a second of one core, in pieces of one database page.
double machine_aes256_cbc_encryption(void);
double machine_aes256_cbc_decryption(void);
double machine_hmac_sha512(void);

#endif

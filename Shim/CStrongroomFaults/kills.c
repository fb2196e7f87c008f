// A process that ends by SIGKILL in front of one of its changes of files: SQLite's, and those that the library itself
// asks of the system.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "CStrongroomFaults.h"
#include "kills.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int64_t operations, last = -1;

void strongroom_faults_note_operation(void) {
    if (atomic_fetch_add(&operations, 1) == atomic_load(&last)) kill(getpid(), SIGKILL);
}

void strongroom_faults_kill_after(int64_t count) {
    atomic_store(&operations, 0);
    atomic_store(&last, count);
}

#if __linux__
#include <fcntl.h>
#include <sys/syscall.h>

int64_t strongroom_faults_operations(void) { return atomic_load(&operations); }

int rename(const char *from, const char *to) {
    strongroom_faults_note_operation();
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path) {
    strongroom_faults_note_operation();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int ftruncate(int file, off_t size) {
    strongroom_faults_note_operation();
    return (int)syscall(SYS_ftruncate, file, size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
    strongroom_faults_note_operation();
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    strongroom_faults_note_operation();
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}
#else
int64_t strongroom_faults_operations(void) { return -1; }
#endif

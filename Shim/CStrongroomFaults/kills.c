// A process that ends by SIGKILL in front of one of its changes of files, or in which one of them fails: SQLite's, and
// those that the library itself asks of the system.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "CStrongroomFaults.h"
#include "kills.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int64_t operations, last = -1, failing = -1;
static atomic_bool goes_on_failing;

int strongroom_faults_note_operation(void) {
    int64_t number = atomic_fetch_add(&operations, 1), first = atomic_load(&failing);
    if (number == atomic_load(&last)) kill(getpid(), SIGKILL);
    bool fails = first >= 0 && (number == first || (number > first && atomic_load(&goes_on_failing)));
    if (fails) errno = EIO;
    return fails ? -1 : 0;
}

void strongroom_faults_kill_after(int64_t count) {
    atomic_store(&operations, 0);
    atomic_store(&last, count);
}

void strongroom_faults_fail_after(int64_t count, bool lasting) {
    atomic_store(&operations, 0);
    atomic_store(&goes_on_failing, lasting);
    atomic_store(&failing, count);
}

#if __linux__
#include <fcntl.h>
#include <sys/syscall.h>

int64_t strongroom_faults_operations(void) { return atomic_load(&operations); }

static _Thread_local void (*after_renaming)(void *context);
static _Thread_local void *context_after_renaming;

void strongroom_faults_after_renaming(void (*act)(void *context), void *context) {
    after_renaming = act;
    context_after_renaming = context;
}

int rename(const char *from, const char *to) {
    if (strongroom_faults_note_operation() != 0) return -1;
    int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    void (*act)(void *context) = after_renaming;
    after_renaming = NULL;
    if (act) act(context_after_renaming);
    return result;
}

int unlink(const char *path) {
    if (strongroom_faults_note_operation() != 0) return -1;
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int ftruncate(int file, off_t size) {
    if (strongroom_faults_note_operation() != 0) return -1;
    return (int)syscall(SYS_ftruncate, file, size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
    if (strongroom_faults_note_operation() != 0) return -1;
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    if (strongroom_faults_note_operation() != 0) return -1;
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}
#else
int64_t strongroom_faults_operations(void) { return -1; }

void strongroom_faults_after_renaming(void (*act)(void *context), void *context) { (void)act, (void)context; }
#endif

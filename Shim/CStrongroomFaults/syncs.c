// The syncs that the library itself asks of the system. Where the linker lets this program's own fsync come first,
// they are seen, and can fail.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "CStrongroomFaults.h"
#include "kills.h"
#include <errno.h>
#include <unistd.h>

#if __linux__
#include <sys/syscall.h>

// Of one thread: tests run at the same time.
static _Thread_local int64_t syncs, passing = -1;

int fsync(int file) {
    syncs++;
    if (strongroom_faults_note_operation() != 0) return -1;
    if (passing == 0) {
        errno = EIO;
        return -1;
    }
    if (passing > 0) passing--;
    return (int)syscall(SYS_fsync, file);
}

int64_t strongroom_faults_syncs(void) { return syncs; }

void strongroom_faults_fail_syncs(int64_t after) { passing = after; }
#else
int64_t strongroom_faults_syncs(void) { return -1; }

void strongroom_faults_fail_syncs(int64_t after) { (void)after; }
#endif

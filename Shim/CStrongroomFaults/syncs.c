// The syncs that the library itself asks of the system. Where the linker lets this program's own fsync come first,
// they are seen, and can fail.

#include "system.h"
#include <errno.h>

// Of one thread: tests run at the same time.
static _Thread_local int64_t syncs, passing = -1;

int strongroom_faults_before_sync(void) {
    syncs++;
    if (passing == 0) return EIO;
    if (passing > 0) passing--;
    return 0;
}

int64_t strongroom_faults_syncs(void) {
#if __linux__
    return syncs;
#else
    return -1;
#endif
}

void strongroom_faults_fail_syncs(int64_t after) { passing = after; }

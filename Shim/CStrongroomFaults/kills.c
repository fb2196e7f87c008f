// A process that ends by SIGKILL in front of one of its changes of files: SQLite's, and those that the library itself
// asks of the system.

#include "system.h"
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int64_t operations, last = -1;

void strongroom_faults_note_operation(void) {
    if (atomic_fetch_add(&operations, 1) == atomic_load(&last)) kill(getpid(), SIGKILL);
}

void strongroom_faults_kill_after(int64_t count) {
    atomic_store(&operations, 0);
    atomic_store(&last, count);
}

int64_t strongroom_faults_operations(void) {
#if __linux__
    return atomic_load(&operations);
#else
    return -1;
#endif
}

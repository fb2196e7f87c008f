// Kills the process before one of its changes of files, or makes the change fail: SQLite's, and the library's own.

#include "system.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int64_t operations, last = -1, failing = -1;
static atomic_bool goes_on_failing;

bool strongroom_faults_fail_operation(void) {
    int64_t number = atomic_fetch_add(&operations, 1), first = atomic_load(&failing);
    if (number == atomic_load(&last)) kill(getpid(), SIGKILL);
    bool fails = first >= 0 && (number == first || (number > first && atomic_load(&goes_on_failing)));
    if (fails) errno = EIO;
    return fails;
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

static _Thread_local void (*after_renaming)(void *context);
static _Thread_local void *context_after_renaming;

void strongroom_faults_after_renaming(void (*act)(void *context), void *context) {
    after_renaming = act;
    context_after_renaming = context;
}

void strongroom_faults_note_renaming(void) {
    void (*act)(void *context) = after_renaming;
    after_renaming = NULL;
    if (act) act(context_after_renaming);
}

int64_t strongroom_faults_operations(void) {
#if __linux__
    return atomic_load(&operations);
#else
    return -1;
#endif
}

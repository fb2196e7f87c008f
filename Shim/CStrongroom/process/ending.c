// The end of the program. SQLCipher from 4.7 on frees all its keys in an exit handler, and closing a connection
// afterwards would free them again. So connections are left open from then on, as the system closes them anyway.

#include "ending.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/// The longest time in seconds for which the program's end waits for connections that are being closed.
enum { patience = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t closed = PTHREAD_COND_INITIALIZER;
static int closings;
static bool has_ended;

// A thread may end the program while it closes a connection, in a callback.
static _Thread_local int own_closings;

/// Runs before SQLCipher's handler, which was registered earlier.
static void end(void) {
    struct timespec latest;
    clock_gettime(CLOCK_REALTIME, &latest);
    latest.tv_sec += patience;
    pthread_mutex_lock(&lock);
    has_ended = true;
    int result = 0;
    while (closings > own_closings && result == 0) result = pthread_cond_timedwait(&closed, &lock, &latest);
    pthread_mutex_unlock(&lock);
}

static int note_cleanup(void *cleans_up, int count, char **values, char **names) {
    (void)names;
    int major = 0, minor = 0;
    if (count == 0 || !values[0] || sscanf(values[0], "%d.%d", &major, &minor) != 2) return 0;
    *(bool *)cleans_up = major > 4 || (major == 4 && minor >= 7);
    return 0;
}

int strongroom_prepare_end(sqlite3 *db) {
    bool cleans_up = false;
    int result = sqlite3_exec(db, "PRAGMA cipher_version", note_cleanup, &cleans_up, NULL);
    if (result == SQLITE_OK && cleans_up && atexit(end) != 0) result = SQLITE_NOMEM;
    return result;
}

bool strongroom_begin_closing(void) {
    pthread_mutex_lock(&lock);
    bool may_close = !has_ended;
    if (may_close) closings++, own_closings++;
    pthread_mutex_unlock(&lock);
    return may_close;
}

void strongroom_end_closing(void) {
    pthread_mutex_lock(&lock);
    closings--, own_closings--;
    pthread_cond_broadcast(&closed);
    pthread_mutex_unlock(&lock);
}

// The syncs that the library itself asks of the system. Where the linker lets this program's own fsync come first,
// they are seen, and can fail.

#include "system.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

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

// MARK: - SQLite's syncs

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char measured_path[512];
static int64_t largest_sync;

void strongroom_faults_measure_syncs(const char *path) {
    pthread_mutex_lock(&lock);
    snprintf(measured_path, sizeof measured_path, "%s", path);
    largest_sync = 0;
    pthread_mutex_unlock(&lock);
}

void strongroom_faults_measure_sync(const char *path, int64_t size) {
    pthread_mutex_lock(&lock);
    bool is_measured = measured_path[0] != 0 && strstr(path, measured_path) != NULL;
    if (is_measured && size > largest_sync) largest_sync = size;
    pthread_mutex_unlock(&lock);
}

int64_t strongroom_faults_largest_sync(void) {
    pthread_mutex_lock(&lock);
    int64_t largest = largest_sync;
    pthread_mutex_unlock(&lock);
    return largest;
}

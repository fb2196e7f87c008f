// Which calls of the system fail, on the files of one folder.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "system.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most_path = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool watching, failing;
static char folder[most_path];
static int64_t counts[STRONGROOM_CALL_COUNT];
static int64_t failures;
static struct {
    strongroom_call call;
    int64_t after;
    int error;      // 0 for no failure
    bool lasting;
} rule;

static const char *name_of(int file, char *buffer, size_t size) {
#if __linux__
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    long count = syscall(SYS_readlinkat, -100, link, buffer, size - 1);
    if (count < 0) return NULL;
    buffer[count] = 0;
    return buffer;
#else
    (void)file, (void)buffer, (void)size;
    return NULL;
#endif
}

const char *strongroom_faults_watched(const char *path, int file, char *buffer, size_t size) {
    if (!atomic_load_explicit(&watching, memory_order_relaxed)) return NULL;
    if (path == NULL) path = name_of(file, buffer, size);
    return path != NULL && strncmp(path, folder, strlen(folder)) == 0 ? path : NULL;
}

static bool ends(const char *path, const char *ending) {
    size_t size = strlen(path), wanted = strlen(ending);
    return size >= wanted && strcmp(path + size - wanted, ending) == 0;
}

static int failure(strongroom_call call) {
    int64_t number = counts[call]++;
    if (rule.error == 0 || rule.call != call) return 0;
    if (number < rule.after || (number > rule.after && !rule.lasting)) return 0;
    failures++;
    return rule.error;
}

int strongroom_faults_before(strongroom_call call, const char *path, int file) {
    char buffer[most_path];
    path = strongroom_faults_watched(path, file, buffer, sizeof buffer);
    if (path == NULL) return 0;
    if (call == STRONGROOM_CALL_LOCK && ends(path, "-shm")) call = STRONGROOM_CALL_SHM_LOCK;
    pthread_mutex_lock(&lock);
    int error = failure(call);
    pthread_mutex_unlock(&lock);
    return error;
}

void strongroom_calls_watch(const char *path) {
    pthread_mutex_lock(&lock);
    if (path != NULL) snprintf(folder, sizeof folder, "%s", path);
    memset(counts, 0, sizeof counts);
    rule.error = 0;
    failures = 0;
    atomic_store(&failing, false);
    atomic_store(&watching, path != NULL);
    pthread_mutex_unlock(&lock);
}

void strongroom_calls_fail(strongroom_call call, int64_t after, bool lasting, int error) {
    pthread_mutex_lock(&lock);
    rule.call = call;
    rule.after = after;
    rule.lasting = lasting;
    rule.error = error;
    atomic_store(&failing, error != 0);
    pthread_mutex_unlock(&lock);
}

bool strongroom_faults_fail(void) { return atomic_load_explicit(&failing, memory_order_relaxed); }

int64_t strongroom_calls_count(strongroom_call call) {
    pthread_mutex_lock(&lock);
    int64_t count = counts[call];
    pthread_mutex_unlock(&lock);
    return count;
}

int64_t strongroom_calls_failures(void) {
    pthread_mutex_lock(&lock);
    int64_t count = failures;
    pthread_mutex_unlock(&lock);
    return count;
}

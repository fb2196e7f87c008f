// The changes that a program makes in a folder, in their order. A test makes of them what a power cut leaves.

#include "system.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool runs;
static uint8_t *records;
static size_t used, room;

bool strongroom_trace_runs(void) { return atomic_load_explicit(&runs, memory_order_relaxed); }

static void put(const void *bytes, size_t size) {
    if (room - used < size) {
        room = (room + size) * 2;
        records = realloc(records, room);
        if (!records) abort();
    }
    if (size > 0) memcpy(records + used, bytes, size);
    used += size;
}

static void add(strongroom_trace_record record, const char *path, const char *to, const void *bytes) {
    record.path_size = path ? (uint32_t)strlen(path) : 0;
    record.to_size = to ? (uint32_t)strlen(to) : 0;
    pthread_mutex_lock(&lock);
    put(&record, sizeof record);
    put(path, record.path_size);
    put(to, record.to_size);
    if (bytes) put(bytes, (size_t)record.size);
    pthread_mutex_unlock(&lock);
}

static uint64_t number_of(int file) {
    struct stat status;
    return file >= 0 && fstat(file, &status) == 0 ? status.st_ino : 0;
}

static void add_file(strongroom_trace_record record, int file, const void *bytes) {
    char buffer[4096];
    const char *path = strongroom_trace_runs() ? strongroom_faults_watched(NULL, file, buffer, sizeof buffer) : NULL;
    if (!path) return;
    record.file = number_of(file);
    add(record, path, NULL, bytes);
}

void strongroom_trace_write(int file, const void *bytes, size_t size, int64_t offset) {
    add_file((strongroom_trace_record){ .kind = STRONGROOM_TRACE_WRITE, .offset = offset, .size = size }, file, bytes);
}

void strongroom_trace_file(strongroom_trace_kind kind, int file, int64_t size) {
    add_file((strongroom_trace_record){ .kind = kind, .offset = size }, file, NULL);
}

void strongroom_trace_name(strongroom_trace_kind kind, const char *path, const char *to, int file) {
    if (!strongroom_trace_runs() || !strongroom_faults_watched(path, -1, NULL, 0)) return;
    add((strongroom_trace_record){ .kind = kind, .file = number_of(file) }, path, to, NULL);
}

void strongroom_trace_note(int64_t number) {
    if (strongroom_trace_runs()) {
        add((strongroom_trace_record){ .kind = STRONGROOM_TRACE_NOTE, .offset = number }, NULL, NULL, NULL);
    }
}

void strongroom_trace_begin(void) {
    used = 0;
    atomic_store(&runs, true);
}

const void *strongroom_trace_end(int64_t *size) {
    atomic_store(&runs, false);
    *size = (int64_t)used;
    return records;
}

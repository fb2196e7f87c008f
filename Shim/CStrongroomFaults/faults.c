#include "CStrongroomFaults.h"
#include "system.h"
#include "turns.h"
#include "../CSQLCipher/sqlcipher.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_WATCHES = 64, MOST_RULES = 64, MOST_PATH = 512 };

typedef struct {
    unsigned char bytes[64];
    int length;
    int64_t sightings;
    char place[MOST_PATH];
} watch;

typedef struct {
    char path[MOST_PATH];
    strongroom_fault fault;
    int64_t after;
    bool lasting;
} rule;

typedef struct {
    sqlite3_file base;
    char path[MOST_PATH];
    int64_t unsynced;
    // The real file follows.
} recorded_file;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static watch watches[MOST_WATCHES];
static int watch_count;
static rule rules[MOST_RULES];
static int64_t bytes_written;
static int64_t fault_hits;
static sqlite3_vfs *real_vfs;
static sqlite3_vfs faults_vfs;

static sqlite3_file *real(sqlite3_file *file) {
    return (sqlite3_file *)((recorded_file *)file + 1);
}

static bool contains(const unsigned char *text, int length, const unsigned char *bytes, int count) {
    for (const unsigned char *end = text + length; count <= end - text; text++) {
        text = memchr(text, bytes[0], (size_t)(end - text - count + 1));
        if (text == NULL) return false;
        if (memcmp(text, bytes, (size_t)count) == 0) return true;
    }
    return false;
}

static void record(const char *path, const void *bytes, int length) {
    pthread_mutex_lock(&lock);
    bytes_written += length;
    for (int i = 0; i < watch_count; i++) {
        if (!contains(bytes, length, watches[i].bytes, watches[i].length)) continue;
        watches[i].sightings++;
        snprintf(watches[i].place, MOST_PATH, "%s", path);
    }
    pthread_mutex_unlock(&lock);
}

typedef enum { READ, WRITE, TRUNCATION, SYNC } operation;

static bool concerns(strongroom_fault fault, operation operation) {
    switch (fault) {
    case STRONGROOM_FAULT_NONE: return false;
    case STRONGROOM_FAULT_SYNC: return operation == SYNC;
    case STRONGROOM_FAULT_READ: return operation == READ;
    case STRONGROOM_FAULT_CHANGE: return operation != READ;
    default: return operation == WRITE;
    }
}

/// The fault that hits an operation on the file now.
static strongroom_fault fault_for(const char *path, operation operation) {
    strongroom_fault fault = STRONGROOM_FAULT_NONE;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_RULES && fault == STRONGROOM_FAULT_NONE; i++) {
        rule *candidate = &rules[i];
        if (!concerns(candidate->fault, operation) || strstr(path, candidate->path) == NULL) continue;
        if (candidate->after > 0) { candidate->after--; continue; }
        fault = candidate->fault;
        fault_hits++;
        if (!candidate->lasting) candidate->fault = STRONGROOM_FAULT_NONE;
    }
    pthread_mutex_unlock(&lock);
    return fault;
}

// MARK: - Moments

typedef struct {
    char path[MOST_PATH];
    strongroom_moment moment;
    void (*act)(void *context);
    void *context;
} appointment;

static appointment appointments[8];

void strongroom_faults_at(strongroom_moment moment, const char *path, void (*act)(void *context), void *context) {
    pthread_mutex_lock(&lock);
    appointment *free_one = NULL;
    for (int i = 0; i < 8 && free_one == NULL; i++)
        if (appointments[i].act == NULL) free_one = &appointments[i];
    if (free_one == NULL) abort();
    strncpy(free_one->path, path, MOST_PATH - 1);
    free_one->moment = moment;
    free_one->act = act;
    free_one->context = context;
    pthread_mutex_unlock(&lock);
}

/// Keeps the first appointment that was made for this moment, which is over then.
static void reach(const char *path, strongroom_moment moment) {
    void (*act)(void *context) = NULL;
    void *context = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 8 && act == NULL; i++) {
        appointment *made = &appointments[i];
        if (made->act == NULL || made->moment != moment || strstr(path, made->path) == NULL) continue;
        act = made->act;
        context = made->context;
        made->act = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (act != NULL) act(context);
}

// MARK: - Files

static int file_close(sqlite3_file *file) {
    return real(file)->pMethods->xClose(real(file));
}

static int file_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset) {
    const char *path = ((recorded_file *)file)->path;
    if (fault_for(path, READ) != STRONGROOM_FAULT_NONE) return SQLITE_IOERR_READ;
    int code = real(file)->pMethods->xRead(real(file), bytes, length, offset);
    if (offset == 0 && strstr(path, "-wal") != NULL) reach(path, STRONGROOM_MOMENT_LOG_HEADER_READ);
    return code;
}

static int write_another(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
    unsigned char wrong = ((const unsigned char *)bytes)[length / 2] ^ 0xff;
    int code = real(file)->pMethods->xWrite(real(file), bytes, length, offset);
    return code == SQLITE_OK ? real(file)->pMethods->xWrite(real(file), &wrong, 1, offset + length / 2) : code;
}

static int file_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
    const char *path = ((recorded_file *)file)->path;
    switch (fault_for(path, WRITE)) {
    case STRONGROOM_FAULT_FULL: return SQLITE_FULL;
    case STRONGROOM_FAULT_IO: case STRONGROOM_FAULT_CHANGE: return SQLITE_IOERR_WRITE;
    case STRONGROOM_FAULT_TORN:
        real(file)->pMethods->xWrite(real(file), bytes, length / 2, offset);
        return SQLITE_IOERR_WRITE;
    case STRONGROOM_FAULT_LIE: return write_another(file, bytes, length, offset);
    default: break;
    }
    record(path, bytes, length);
    ((recorded_file *)file)->unsynced += length;
    return real(file)->pMethods->xWrite(real(file), bytes, length, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    if (fault_for(((recorded_file *)file)->path, TRUNCATION) != STRONGROOM_FAULT_NONE) return SQLITE_IOERR_TRUNCATE;
    return real(file)->pMethods->xTruncate(real(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
    if (fault_for(((recorded_file *)file)->path, SYNC) != STRONGROOM_FAULT_NONE) return SQLITE_IOERR_FSYNC;
    const char *path = ((recorded_file *)file)->path;
    strongroom_faults_measure_sync(path, ((recorded_file *)file)->unsynced);
    ((recorded_file *)file)->unsynced = 0;
    int code = real(file)->pMethods->xSync(real(file), flags);
    if (code == SQLITE_OK && strstr(path, "-wal") != NULL) reach(path, STRONGROOM_MOMENT_LOG_SYNCED);
    return code;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    int code = real(file)->pMethods->xFileSize(real(file), size);
    reach(((recorded_file *)file)->path, STRONGROOM_MOMENT_SIZE_READ);
    return code;
}

static int file_lock(sqlite3_file *file, int level) {
    strongroom_faults_turn();
    return real(file)->pMethods->xLock(real(file), level);
}

static int file_unlock(sqlite3_file *file, int level) {
    strongroom_faults_turn();
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int file_check_reserved_lock(sqlite3_file *file, int *result) {
    return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) {
    return real(file)->pMethods->xSectorSize(real(file));
}

static int file_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **address) {
    strongroom_faults_turn();
    return real(file)->pMethods->xShmMap(real(file), page, size, extend, address);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    strongroom_faults_turn();
    int code = real(file)->pMethods->xShmLock(real(file), offset, count, flags);
    bool ends_read = offset >= 3 && flags == (SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
    if (ends_read && code == SQLITE_OK) reach(((recorded_file *)file)->path, STRONGROOM_MOMENT_TRANSACTION_ENDED);
    return code;
}

static void file_shm_barrier(sqlite3_file *file) {
    strongroom_faults_turn();
    real(file)->pMethods->xShmBarrier(real(file));
}

static int file_shm_unmap(sqlite3_file *file, int delete) {
    return real(file)->pMethods->xShmUnmap(real(file), delete);
}

/// No page is read or written past the VFS by memory mapping.
static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int size, void **page) {
    (void)file; (void)offset; (void)size;
    *page = NULL;
    return SQLITE_OK;
}

/// Without mapping, called by a checkpoint that has read where the log ends.
static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
    (void)offset;
    strongroom_faults_turn();
    if (page == NULL) reach(((recorded_file *)file)->path, STRONGROOM_MOMENT_LOG_END_READ);
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    3,
    file_close, file_read, file_write, file_truncate, file_sync, file_size,
    file_lock, file_unlock, file_check_reserved_lock, file_control, file_sector_size, file_characteristics,
    file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap,
    file_fetch, file_unfetch,
};

static int faults_open(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file, int flags, int *flags_out) {
    (void)vfs;
    file->pMethods = NULL;
    ((recorded_file *)file)->unsynced = 0;
    strncpy(((recorded_file *)file)->path, path != NULL ? path : "(temporary file)", MOST_PATH - 1);
    ((recorded_file *)file)->path[MOST_PATH - 1] = 0;
    int code = real_vfs->xOpen(real_vfs, path, real(file), flags, flags_out);
    if (real(file)->pMethods != NULL) file->pMethods = &methods;
    return code;
}

// MARK: - Waits

static pthread_cond_t sleep_begins = PTHREAD_COND_INITIALIZER;
static int64_t sleeps;

static int faults_sleep(sqlite3_vfs *vfs, int microseconds) {
    pthread_mutex_lock(&lock);
    sleeps++;
    pthread_cond_broadcast(&sleep_begins);
    pthread_mutex_unlock(&lock);
    (void)vfs;
    // The connection that is waited for stands still on this very thread.
    if (strongroom_faults_has_turn()) return microseconds;
    return real_vfs->xSleep(real_vfs, microseconds);
}

int64_t strongroom_faults_sleeps(void) {
    pthread_mutex_lock(&lock);
    int64_t count = sleeps;
    pthread_mutex_unlock(&lock);
    return count;
}

bool strongroom_faults_await_sleep(int64_t former) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 20;
    pthread_mutex_lock(&lock);
    int result = 0;
    while (sleeps <= former && result == 0) result = pthread_cond_timedwait(&sleep_begins, &lock, &end);
    bool has_slept = sleeps > former;
    pthread_mutex_unlock(&lock);
    return has_slept;
}

// MARK: - For tests

static void install(void) {
    real_vfs = sqlite3_vfs_find(NULL);
    faults_vfs = *real_vfs;
    faults_vfs.zName = "strongroom-faults";
    faults_vfs.szOsFile = (int)sizeof(recorded_file) + real_vfs->szOsFile;
    faults_vfs.xOpen = faults_open;
    faults_vfs.xSleep = faults_sleep;
    // Everything else is the system's: the copied functions look at nothing but the copied fields.
    sqlite3_vfs_register(&faults_vfs, 1);
}

void strongroom_faults_install(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

int strongroom_faults_watch(const void *bytes, int length) {
    pthread_mutex_lock(&lock);
    if (watch_count == MOST_WATCHES || length > (int)sizeof watches[0].bytes) abort();
    int number = watch_count++;
    memcpy(watches[number].bytes, bytes, (size_t)length);
    watches[number].length = length;
    pthread_mutex_unlock(&lock);
    return number;
}

int64_t strongroom_faults_sightings(int number) {
    pthread_mutex_lock(&lock);
    int64_t sightings = watches[number].sightings;
    pthread_mutex_unlock(&lock);
    return sightings;
}

void strongroom_faults_last_place(int number, char *buffer, int size) {
    pthread_mutex_lock(&lock);
    strncpy(buffer, watches[number].place, (size_t)size - 1);
    buffer[size - 1] = 0;
    pthread_mutex_unlock(&lock);
}

int64_t strongroom_faults_bytes_written(void) {
    pthread_mutex_lock(&lock);
    int64_t count = bytes_written;
    pthread_mutex_unlock(&lock);
    return count;
}

static void add_rule(const char *path, strongroom_fault fault, int64_t after, bool lasting) {
    pthread_mutex_lock(&lock);
    rule *free_rule = NULL;
    for (int i = 0; i < MOST_RULES && free_rule == NULL; i++)
        if (rules[i].fault == STRONGROOM_FAULT_NONE) free_rule = &rules[i];
    if (free_rule == NULL) abort();
    strncpy(free_rule->path, path, MOST_PATH - 1);
    free_rule->fault = fault;
    free_rule->after = after;
    free_rule->lasting = lasting;
    pthread_mutex_unlock(&lock);
}

void strongroom_faults_set(const char *path, strongroom_fault fault, int64_t after) {
    add_rule(path, fault, after, true);
}

void strongroom_faults_set_once(const char *path, strongroom_fault fault, int64_t after) {
    add_rule(path, fault, after, false);
}

int64_t strongroom_faults_hits(void) {
    pthread_mutex_lock(&lock);
    int64_t hits = fault_hits;
    pthread_mutex_unlock(&lock);
    return hits;
}

void strongroom_faults_clear(const char *path) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_RULES; i++)
        if (strcmp(rules[i].path, path) == 0) rules[i].fault = STRONGROOM_FAULT_NONE;
    pthread_mutex_unlock(&lock);
}

// sqlite3_rekey returns SQLITE_OK after a full disk, a busy file or a failed sync, so its writes are monitored.

#include "../files/log_format.h"
#include "strongroom_rekey.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The methods of an open file with some replaced. The file points to `methods`, the first member, so that the
/// replacements find the others.
typedef struct {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    sqlite3_file *file;
    struct rewrite *rewrite;
} tap;

/// The monitor of the writes to a connection's files.
struct rewrite {
    strongroom_progress progress;
    void *context;
    const strongroom_page_format *guard;    // pages of another key are not written
    int64_t guarded;    // how many pages are looked at, each at the price of an HMAC
    int64_t pages, stoppable;
    uint32_t page;      // the number in the last frame header
    int failure;        // the first one; every write fails from then on, so that nothing half-done is committed
    int read_failure;
    bool stopped, committed;
    uint8_t *held;      // frames on their way to the log, one write for many; NULL where each is written at once
    int held_size;
    int64_t held_offset;
    tap taps[2];        // the database, and its write-ahead log
    struct rewrite *next;
};

enum { smallest_page = 512, most_held = 1 << 16 };

static bool is_log(const tap *self) { return self == &self->rewrite->taps[1]; }

static void note_frame(struct rewrite *rewrite, const uint8_t *header) {
    rewrite->page = frame_page(header);
    if (frame_commits(header)) rewrite->committed = true;
}

/// Returns the first failure, if the page must not be written.
static int refusal(tap *self, const void *bytes, int size, sqlite3_int64 offset) {
    struct rewrite *rewrite = self->rewrite;
    rewrite->pages++;
    bool asks_to_stop = rewrite->progress && rewrite->progress(rewrite->context, rewrite->pages) != 0;
    if (asks_to_stop && rewrite->pages <= rewrite->stoppable) {
        rewrite->stopped = true;
        return SQLITE_FULL;
    }
    if (!rewrite->guard || rewrite->pages > rewrite->guarded || size != rewrite->guard->page_size) return SQLITE_OK;
    uint32_t number = is_log(self) ? rewrite->page : (uint32_t)(offset / size + 1);
    return strongroom_page_is_authentic(rewrite->guard, bytes, number) ? SQLITE_OK : SQLITE_IOERR_WRITE;
}

static int write_held(tap *self) {
    struct rewrite *rewrite = self->rewrite;
    int size = is_log(self) ? rewrite->held_size : 0;
    if (size == 0) return SQLITE_OK;
    rewrite->held_size = 0;
    return self->original->xWrite(self->file, rewrite->held, size, rewrite->held_offset);
}

/// Writes to the log are sequential, except for repeated writes of the last frame.
static int put(tap *self, const void *bytes, int size, sqlite3_int64 offset) {
    struct rewrite *rewrite = self->rewrite;
    if (!is_log(self) || !rewrite->held) return self->original->xWrite(self->file, bytes, size, offset);
    bool follows = offset == rewrite->held_offset + rewrite->held_size;
    if (!follows || size > most_held - rewrite->held_size) {
        int result = write_held(self);
        if (result != SQLITE_OK) return result;
        rewrite->held_offset = offset;
    }
    if (size > most_held) return self->original->xWrite(self->file, bytes, size, offset);
    memcpy(rewrite->held + rewrite->held_size, bytes, (size_t)size);
    rewrite->held_size += size;
    return SQLITE_OK;
}

static int tap_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    tap *self = (tap *)file->pMethods;
    struct rewrite *rewrite = self->rewrite;
    if (rewrite->failure == SQLITE_OK && size >= smallest_page) rewrite->failure = refusal(self, bytes, size, offset);
    if (rewrite->failure == SQLITE_OK) rewrite->failure = put(self, bytes, size, offset);
    if (rewrite->failure == SQLITE_OK && is_log(self) && size == frame_header) note_frame(rewrite, bytes);
    return rewrite->failure;
}

static int tap_sync(sqlite3_file *file, int flags) {
    tap *self = (tap *)file->pMethods;
    struct rewrite *rewrite = self->rewrite;
    if (rewrite->failure == SQLITE_OK) rewrite->failure = write_held(self);
    if (rewrite->failure == SQLITE_OK) rewrite->failure = self->original->xSync(file, flags);
    return rewrite->failure;
}

static int tap_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
    tap *self = (tap *)file->pMethods;
    struct rewrite *rewrite = self->rewrite;
    if (rewrite->failure == SQLITE_OK) rewrite->failure = write_held(self);
    int result = self->original->xRead(file, bytes, size, offset);
    if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ) rewrite->read_failure = result;
    return result;
}

static void install(tap *self, struct rewrite *rewrite, sqlite3 *db, int file_control) {
    sqlite3_file *file = NULL;
    self->file = NULL;
    if (sqlite3_file_control(db, "main", file_control, &file) != SQLITE_OK || !file || !file->pMethods) return;
    self->original = file->pMethods;
    self->methods = *file->pMethods;
    self->methods.xWrite = tap_write;
    self->methods.xSync = tap_sync;
    self->methods.xRead = tap_read;
    self->file = file;
    self->rewrite = rewrite;
    file->pMethods = &self->methods;
}

static void install_taps(struct rewrite *rewrite, sqlite3 *db) {
    install(&rewrite->taps[0], rewrite, db, SQLITE_FCNTL_FILE_POINTER);
    install(&rewrite->taps[1], rewrite, db, SQLITE_FCNTL_JOURNAL_POINTER);
}

static void remove_taps(struct rewrite *rewrite) {
    for (int i = 0; i < 2; i++) {
        tap *self = &rewrite->taps[i];
        if (self->file && self->file->pMethods == &self->methods) self->file->pMethods = self->original;
        self->file = NULL;
    }
}

// MARK: Statements

static int begin(sqlite3 *db) {
    return sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
}

/// A rekey commits or rolls back below SQL, whose transaction state does not change. `rollback` is already
/// prepared: without memory, no other statement can be.
static int end(sqlite3 *db, bool succeeded, sqlite3_stmt *rollback) {
    if (sqlite3_get_autocommit(db)) return SQLITE_OK;
    int result = succeeded ? sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) : SQLITE_OK;
    if (sqlite3_get_autocommit(db)) return result;
    sqlite3_step(rollback);
    int rolled_back = sqlite3_reset(rollback);
    return result != SQLITE_OK ? result : rolled_back;
}

static int ask(sqlite3 *db, const char *pragma, int64_t *answer) {
    char sql[64];
    sqlite3_stmt *statement = NULL;
    snprintf(sql, sizeof sql, "PRAGMA main.%s", pragma);
    int result = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (result != SQLITE_OK) return result;
    bool answered = sqlite3_step(statement) == SQLITE_ROW;
    if (answered) *answer = sqlite3_column_int64(statement, 0);
    result = sqlite3_finalize(statement);
    return result == SQLITE_OK && !answered ? SQLITE_ERROR : result;
}

static int tell(sqlite3 *db, const char *pragma, int64_t value) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA main.%s = %lld", pragma, (long long)value);
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

// MARK: Replacing one key by another

/// If the commit itself fails, SQLCipher keeps the new key although the file has the old one, and that can't be
/// undone. So nearly every page is written before the commit: the cache holds this many pages while they change their
/// key.
enum { cached_pages = 16, unstoppable_pages = 64 };

static int rewrite_pages(sqlite3 *db, struct rewrite *rewrite, const void *spec, int size) {
    install_taps(rewrite, db);
    int result = sqlite3_rekey_v2(db, "main", spec, size);
    // The sync of a commit has written these pages. Without a commit, they don't count.
    bool is_held = rewrite->committed && rewrite->failure == SQLITE_OK && rewrite->taps[1].file;
    if (is_held) rewrite->failure = write_held(&rewrite->taps[1]);
    remove_taps(rewrite);
    return rewrite->failure ? rewrite->failure : result;
}

/// Changes the key of the write side before the first page is written. No page is written with it here.
static void restore_key(sqlite3 *db, const strongroom_page_key *key, sqlite3_stmt *rollback) {
    // Takes no lock, which another process may hold by now, but lets ROLLBACK end the transaction of the rekey.
    sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    struct rewrite rewrite = { .failure = SQLITE_FULL };
    rewrite_pages(db, &rewrite, key->spec, key->size);
    end(db, false, rollback);
}

/// Prevents all further writes of this connection to its files.
static void close_for_writes(sqlite3 *db) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct rewrite *closed;
    struct rewrite *rewrite = calloc(1, sizeof *rewrite);
    if (!rewrite) abort();    // The next write would mix keys.
    rewrite->failure = SQLITE_IOERR_WRITE;
    install_taps(rewrite, db);
    // The connection's files point to it until they are closed, which is not reported.
    pthread_mutex_lock(&lock);
    rewrite->next = closed;
    closed = rewrite;
    pthread_mutex_unlock(&lock);
}

static int write_version(sqlite3 *db) {
    int64_t version = 0;
    int result = ask(db, "user_version", &version);
    return result == SQLITE_OK ? tell(db, "user_version", version) : result;
}

/// Writes a page under a write lock, and releases the lock.
static int prove_key(sqlite3 *db, const strongroom_page_format *format, sqlite3_stmt *rollback) {
    struct rewrite rewrite = { .guard = format, .guarded = INT64_MAX };
    install_taps(&rewrite, db);
    int result = write_version(db);
    int ended = end(db, result == SQLITE_OK, rollback);
    remove_taps(&rewrite);
    if (result == SQLITE_OK) result = rewrite.failure ? rewrite.failure : ended;
    // Without a recorded page, nothing is known.
    return result == SQLITE_OK && rewrite.pages == 0 ? SQLITE_NOMEM : result;
}

int strongroom_rekey_forget(sqlite3 *db, const strongroom_page_format *format, sqlite3_stmt *rollback) {
    enum { full = 2 };
    int64_t synchronous = full;
    int result = ask(db, "synchronous", &synchronous);
    if (result == SQLITE_OK) result = tell(db, "synchronous", full);
    if (result == SQLITE_OK) result = begin(db);
    if (result == SQLITE_OK) result = prove_key(db, format, rollback);
    else end(db, false, rollback);
    int restored = synchronous == full ? SQLITE_OK : tell(db, "synchronous", synchronous);
    return result != SQLITE_OK ? result : restored;
}

int strongroom_rekey_sync(sqlite3 *db) {
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (result != SQLITE_OK || !file->pMethods) return result;
    return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
}

int strongroom_rekey_begin(sqlite3 *db) { return begin(db); }

int strongroom_rekey_cancel(sqlite3 *db, sqlite3_stmt *rollback) { return end(db, false, rollback); }

// MARK: Memory

// SQLite has one limit for all connections, and several may change their keys at the same time.
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
static int heap_lifts;
static sqlite3_int64 heap_limit;

static void lift_heap_limit(void) {
    pthread_mutex_lock(&heap_lock);
    if (heap_lifts++ == 0) heap_limit = sqlite3_hard_heap_limit64(0);
    pthread_mutex_unlock(&heap_lock);
}

static void restore_heap_limit(void) {
    pthread_mutex_lock(&heap_lock);
    if (--heap_lifts == 0) sqlite3_hard_heap_limit64(heap_limit);
    pthread_mutex_unlock(&heap_lock);
}

typedef struct { int64_t size, spill; } cache;

static int shrink_cache(sqlite3 *db, cache *before) {
    int result = ask(db, "cache_size", &before->size);
    if (result == SQLITE_OK) result = ask(db, "cache_spill", &before->spill);
    if (result == SQLITE_OK) result = tell(db, "cache_size", cached_pages);
    if (result == SQLITE_OK) result = tell(db, "cache_spill", cached_pages);
    return result;
}

static int restore_cache(sqlite3 *db, const cache *before) {
    int spill = tell(db, "cache_spill", before->spill), size = tell(db, "cache_size", before->size);
    return spill != SQLITE_OK ? spill : size;
}

// MARK: Rekey

/// Changes the key of the pages, and then ends the transaction that SQL has open.
static void change_key(sqlite3 *db, const strongroom_page_key *key, struct rewrite *rewrite, sqlite3_stmt *rollback,
                       strongroom_rekey_report *report) {
    // Without memory, each page costs two system calls.
    rewrite->held = malloc(most_held);
    int result = rewrite_pages(db, rewrite, key->spec, key->size);
    free(rewrite->held);
    report->committed = result == SQLITE_OK && rewrite->committed;
    int ended = end(db, report->committed, rollback);
    // After a page that couldn't be read or held in memory, everything is rolled back, and the result is still
    // SQLITE_OK.
    int hidden = rewrite->read_failure ? rewrite->read_failure : SQLITE_NOMEM;
    if (result == SQLITE_OK && !report->committed) result = hidden;
    bool is_over = report->committed && sqlite3_get_autocommit(db);
    report->result = is_over ? SQLITE_OK : result != SQLITE_OK ? result : ended;
    report->stopped = rewrite->stopped;
    report->pages = rewrite->pages;
}

/// Called after a failure. Returns false if the connection can't prove that it writes with its old key.
static bool give_key_back(sqlite3 *db, const strongroom_page_key *old_key, sqlite3_stmt *rollback) {
    restore_key(db, old_key, rollback);
    if (strongroom_rekey_forget(db, old_key->format, rollback) == SQLITE_OK) return true;
    close_for_writes(db);
    return false;
}

strongroom_rekey_report strongroom_rekey(
    sqlite3 *db, const strongroom_page_key *old_key, const strongroom_page_key *key, strongroom_progress progress,
    void *context, sqlite3_stmt *rollback)
{
    strongroom_rekey_report report = { 0 };
    cache before = { .size = -2000, .spill = 1 };
    struct rewrite rewrite = { .progress = progress, .context = context, .guarded = 1 };
    // Without memory for the new key, SQLCipher goes on with the old one, and returns SQLITE_OK.
    if (key->format->hmac_digest != 0) rewrite.guard = key->format;
    // A change of key needs little memory, and without it the old key can't be set again.
    lift_heap_limit();
    report.result = shrink_cache(db, &before);
    if (report.result == SQLITE_OK) report.result = ask(db, "page_count", &rewrite.stoppable);
    if (report.result == SQLITE_OK) {
        rewrite.stoppable -= unstoppable_pages;
        change_key(db, key, &rewrite, rollback, &report);
        report.lost = !report.committed && !give_key_back(db, old_key, rollback);
    } else {
        end(db, false, rollback);
    }
    int restored = restore_cache(db, &before);
    if (report.result == SQLITE_OK) report.result = restored;
    restore_heap_limit();
    return report;
}

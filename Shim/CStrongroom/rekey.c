// sqlite3_rekey answers "done" after a full disk, a busy file or a failed sync, so its writes are watched.

#include "log_format.h"
#include "strongroom_crypto.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The methods of an open file with some replaced. The file points at `methods`, the first field, so that the replacements find
/// the rest.
typedef struct {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    sqlite3_file *file;
    struct watch *watch;
} tap;

/// Frames of the log on their way to the file: one write for many. SQLite's own files take less than 128 KiB at a time.
typedef struct {
    uint8_t bytes[1 << 16];
    int64_t pages[1 << 7];      // where in the file each page will be
    int64_t offset;
    int size, page_count;
} frames;

struct watch {
    strongroom_progress progress;
    void *context;
    strongroom_verifier *verifier;
    const strongroom_page_format *guard;    // pages of another key are not written
    int64_t guarded;    // how many pages are looked at, each at the price of an HMAC
    int64_t pages, stoppable;
    uint32_t page;      // the number in the last frame header
    int failure;        // the first one; every write fails from then on, so that nothing half-done is committed
    int read_failure;
    bool stopped, committed;
    frames *frames;     // NULL where each frame is written at once
    tap taps[2];        // the database, and its write-ahead log
    struct watch *next;
};

enum { smallest_page = 512 };

static bool is_log(const tap *self) { return self == &self->watch->taps[1]; }

static void note_frame(struct watch *watch, const uint8_t *header) {
    watch->page = frame_page(header);
    if (frame_commits(header)) watch->committed = true;
}

/// The first failure, if the page must not be written.
static int refusal(tap *self, const void *bytes, int size, sqlite3_int64 offset) {
    struct watch *watch = self->watch;
    watch->pages++;
    if (watch->progress && watch->progress(watch->context, watch->pages) != 0 && watch->pages <= watch->stoppable) {
        watch->stopped = true;
        return SQLITE_FULL;
    }
    if (!watch->guard || watch->pages > watch->guarded || size != watch->guard->page_size) return SQLITE_OK;
    uint32_t number = is_log(self) ? watch->page : (uint32_t)(offset / size + 1);
    return strongroom_page_is_authentic(watch->guard, bytes, number) ? SQLITE_OK : SQLITE_IOERR_WRITE;
}

static int write_frames(tap *self) {
    frames *frames = self->watch->frames;
    if (!is_log(self) || !frames || frames->size == 0) return SQLITE_OK;
    int result = self->original->xWrite(self->file, frames->bytes, frames->size, frames->offset);
    if (result == SQLITE_OK && self->watch->verifier && frames->page_count > 0)
        strongroom_verifier_add(self->watch->verifier, frames->pages, (size_t)frames->page_count);
    frames->size = frames->page_count = 0;
    return result;
}

/// Writes to the log follow each other, except those of the last frame again.
static int put(tap *self, const void *bytes, int size, sqlite3_int64 offset) {
    struct watch *watch = self->watch;
    frames *frames = watch->frames;
    bool is_page = size >= smallest_page;
    if (!is_log(self) || !frames) {
        int result = self->original->xWrite(self->file, bytes, size, offset);
        if (result == SQLITE_OK && is_log(self) && is_page && watch->verifier) strongroom_verifier_add(watch->verifier, (const int64_t[]){ offset }, 1);
        return result;
    }
    bool fits = offset == frames->offset + frames->size && frames->size + size <= (int)sizeof frames->bytes;
    if (!fits) {
        int result = write_frames(self);
        if (result != SQLITE_OK) return result;
        frames->offset = offset;
    }
    memcpy(frames->bytes + frames->size, bytes, (size_t)size);
    frames->size += size;
    if (is_page) frames->pages[frames->page_count++] = offset;
    return SQLITE_OK;
}

static int watched_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    tap *self = (tap *)file->pMethods;
    struct watch *watch = self->watch;
    if (watch->failure) return watch->failure;
    bool is_page = size >= smallest_page;
    if (is_page) watch->failure = refusal(self, bytes, size, offset);
    if (watch->failure) return watch->failure;
    watch->failure = put(self, bytes, size, offset);
    if (watch->failure == SQLITE_OK && is_log(self) && size == frame_header) note_frame(watch, bytes);
    return watch->failure;
}

static int watched_sync(sqlite3_file *file, int flags) {
    tap *self = (tap *)file->pMethods;
    struct watch *watch = self->watch;
    if (watch->failure == SQLITE_OK) watch->failure = write_frames(self);
    if (watch->failure == SQLITE_OK) watch->failure = self->original->xSync(file, flags);
    return watch->failure;
}

static int watched_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
    tap *self = (tap *)file->pMethods;
    struct watch *watch = self->watch;
    if (watch->failure == SQLITE_OK) watch->failure = write_frames(self);
    int result = self->original->xRead(file, bytes, size, offset);
    if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ) watch->read_failure = result;
    return result;
}

static void install(tap *self, struct watch *watch, sqlite3 *db, int file_control) {
    sqlite3_file *file = NULL;
    self->file = NULL;
    if (sqlite3_file_control(db, "main", file_control, &file) != SQLITE_OK || !file || !file->pMethods) return;
    self->original = file->pMethods;
    self->methods = *file->pMethods;
    self->methods.xWrite = watched_write;
    self->methods.xSync = watched_sync;
    self->methods.xRead = watched_read;
    self->file = file;
    self->watch = watch;
    file->pMethods = &self->methods;
}

static void install_all(struct watch *watch, sqlite3 *db) {
    install(&watch->taps[0], watch, db, SQLITE_FCNTL_FILE_POINTER);
    install(&watch->taps[1], watch, db, SQLITE_FCNTL_JOURNAL_POINTER);
}

static void uninstall_all(struct watch *watch) {
    for (int i = 0; i < 2; i++) {
        tap *self = &watch->taps[i];
        if (self->file && self->file->pMethods == &self->methods) self->file->pMethods = self->original;
        self->file = NULL;
    }
}

static int begin(sqlite3 *db) {
    return sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
}

/// A rekey commits or rolls back below SQL, which still believes in its transaction. `rollback` is prepared already: without memory,
/// no other statement can be.
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

/// When the commit itself fails, SQLCipher believes in the new key although the file has the old one, and can't be talked out
/// of it. So nearly every page is written before: the cache holds this many while the pages change their key.
enum { cached_pages = 16, unstoppable_pages = 64 };

static int rewrite_pages(sqlite3 *db, struct watch *watch, const void *spec, int size) {
    install_all(watch, db);
    int result = sqlite3_rekey_v2(db, "main", spec, size);
    // The sync of a commit has written all there is; without a commit, the rest counts for nothing.
    if (watch->committed && watch->failure == SQLITE_OK && watch->taps[1].file) watch->failure = write_frames(&watch->taps[1]);
    uninstall_all(watch);
    return watch->failure ? watch->failure : result;
}

/// The key of the write side changes before the first page is written; no page gets that far.
static void restore_key(sqlite3 *db, const void *spec, int size, sqlite3_stmt *rollback) {
    // Takes no lock, which another process may hold by now, but lets ROLLBACK end what the rekey leaves open.
    sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    struct watch watch = { .failure = SQLITE_FULL };
    rewrite_pages(db, &watch, spec, size);
    end(db, false, rollback);
}

/// Lets no page of this connection reach its files any more.
static void close_for_writes(sqlite3 *db) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct watch *closed;
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch) abort();    // The next write would mix keys.
    watch->failure = SQLITE_IOERR_WRITE;
    install_all(watch, db);
    // The connection's files point at it until they are closed, which nobody tells.
    pthread_mutex_lock(&lock);
    watch->next = closed;
    closed = watch;
    pthread_mutex_unlock(&lock);
}

static int write_version(sqlite3 *db) {
    int64_t version = 0;
    int result = ask(db, "user_version", &version);
    return result == SQLITE_OK ? tell(db, "user_version", version) : result;
}

/// Under a write lock: writes a page and lets go.
static int prove_key(sqlite3 *db, const strongroom_page_format *format, sqlite3_stmt *rollback) {
    struct watch watch = { .guard = format, .guarded = INT64_MAX };
    install_all(&watch, db);
    int result = write_version(db);
    int ended = end(db, result == SQLITE_OK, rollback);
    uninstall_all(&watch);
    if (result == SQLITE_OK) result = watch.failure ? watch.failure : ended;
    // Without a page that was seen, nothing is known.
    return result == SQLITE_OK && watch.pages == 0 ? SQLITE_NOMEM : result;
}

int strongroom_rekey_forget(sqlite3 *db, const strongroom_page_format *format, sqlite3_stmt *rollback) {
    int64_t synchronous = 2;
    int result = ask(db, "synchronous", &synchronous);
    if (result == SQLITE_OK) result = tell(db, "synchronous", 2);
    if (result == SQLITE_OK) result = begin(db);
    if (result == SQLITE_OK) result = prove_key(db, format, rollback);
    else end(db, false, rollback);
    int restored = synchronous == 2 ? SQLITE_OK : tell(db, "synchronous", synchronous);
    return result != SQLITE_OK ? result : restored;
}

int strongroom_rekey_begin(sqlite3 *db) { return begin(db); }

int strongroom_rekey_cancel(sqlite3 *db, sqlite3_stmt *rollback) { return end(db, false, rollback); }

// SQLite has one limit for all connections, and several may change their keys at a time.
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

/// The pages, and what SQL believes of its transaction afterwards.
static void change_key(sqlite3 *db, const strongroom_page_key *key, struct watch *watch, sqlite3_stmt *rollback, strongroom_rekey_report *report) {
    // Without memory, and for large pages, the system is called twice for each page.
    if (key->format->page_size <= (int)sizeof watch->frames->bytes / 4) watch->frames = calloc(1, sizeof *watch->frames);
    int result = rewrite_pages(db, watch, key->spec, key->size);
    free(watch->frames);
    report->committed = result == SQLITE_OK && watch->committed;
    int ended = end(db, report->committed, rollback);
    // A page that couldn't be read or held in memory rolls everything back, and the answer is still "done".
    if (result == SQLITE_OK && !report->committed) result = watch->read_failure ? watch->read_failure : SQLITE_NOMEM;
    report->result = report->committed && sqlite3_get_autocommit(db) ? SQLITE_OK : result != SQLITE_OK ? result : ended;
    report->stopped = watch->stopped;
    report->pages = watch->pages;
}

strongroom_rekey_report strongroom_rekey(sqlite3 *db, const strongroom_page_key *old_key, const strongroom_page_key *key,
                                         strongroom_progress progress, void *context, strongroom_verifier *verifier, sqlite3_stmt *rollback) {
    strongroom_rekey_report report = { 0 };
    cache before = { .size = -2000, .spill = 1 };
    struct watch watch = { .progress = progress, .context = context, .verifier = verifier, .guarded = 1 };
    // Without memory for the new key, SQLCipher goes on with the old one, and says "done".
    if (key->format->hmac_digest != 0) watch.guard = key->format;
    // What a change of key takes is little, and without it the connection can't be given its old key back.
    lift_heap_limit();
    report.result = shrink_cache(db, &before);
    if (report.result == SQLITE_OK) report.result = ask(db, "page_count", &watch.stoppable);
    if (report.result == SQLITE_OK) {
        watch.stoppable -= unstoppable_pages;
        change_key(db, key, &watch, rollback, &report);
        if (!report.committed) {
            restore_key(db, old_key->spec, old_key->size, rollback);
            report.lost = strongroom_rekey_forget(db, old_key->format, rollback) != SQLITE_OK;
            if (report.lost) close_for_writes(db);
        }
    } else {
        end(db, false, rollback);
    }
    if (verifier) strongroom_verifier_finish(verifier);
    int restored = restore_cache(db, &before);
    if (report.result == SQLITE_OK) report.result = restored;
    restore_heap_limit();
    return report;
}

// SQLCipher's key calls. sqlite3_rekey answers "done" after a full disk, a busy file or a failed sync, so its writes are watched.

#include "strongroom_crypto.h"

#include <stdio.h>
#include <string.h>

int strongroom_key(sqlite3 *db, const char *schema, const void *spec, int size) {
    return sqlite3_key_v2(db, schema, spec, size);
}

int strongroom_execute(sqlite3 *db, const char *sql) { return sqlite3_exec(db, sql, NULL, NULL, NULL); }

char *strongroom_ask(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    char *answer = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const unsigned char *text = sqlite3_column_text(statement, 0);
        if (text) answer = sqlite3_mprintf("%s", text);
    }
    sqlite3_finalize(statement);
    return answer;
}

int strongroom_checkpoint(sqlite3 *db, int *logged, int *moved) {
    return sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_PASSIVE, logged, moved);
}

int strongroom_attach(sqlite3 *db, const char *path, const char *schema, const void *spec, int size) {
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db, "ATTACH DATABASE ?1 AS ?2 KEY ?3", -1, &statement, NULL);
    if (result != SQLITE_OK) return result;
    sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, schema, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, spec, size, SQLITE_STATIC);
    sqlite3_step(statement);
    return sqlite3_finalize(statement);
}

int strongroom_copy_rows(sqlite3_stmt *query, sqlite3_stmt *insertion, int count, bool *inserting) {
    int result = SQLITE_ROW, columns = sqlite3_column_count(query);
    int64_t room = 4 << 20;   // large rows are fewer rows: whoever wants to stop is heard
    while (count-- > 0 && room > 0) {
        *inserting = false;
        result = sqlite3_step(query);
        if (result != SQLITE_ROW) return result;
        *inserting = true;
        for (int i = 0; i < columns; i++) {
            sqlite3_value *value = sqlite3_column_value(query, i);
            result = sqlite3_bind_value(insertion, i + 1, value);
            if (result != SQLITE_OK) return result;
            // Asking for the bytes of a number would make a text of it.
            int type = sqlite3_value_type(value);
            if (type == SQLITE_TEXT || type == SQLITE_BLOB) room -= sqlite3_value_bytes(value);
        }
        result = sqlite3_step(insertion);
        if (result != SQLITE_DONE) return result;
        result = sqlite3_reset(insertion);
        if (result != SQLITE_OK) return result;
    }
    return SQLITE_ROW;
}

void strongroom_free(void *text) { sqlite3_free(text); }

const char *strongroom_database_path(sqlite3 *db) {
    const char *path = sqlite3_db_filename(db, "main");
    return path ? path : "";
}

/// The methods of an open file with xWrite and xSync replaced. The file points at `methods`, the first field, so that the
/// replacements find the rest.
typedef struct {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    sqlite3_file *file;
    struct watch *watch;
} tap;

struct watch {
    strongroom_progress progress;
    void *context;
    strongroom_verifier *verifier;
    int64_t pages, stoppable;
    int failure;       // the first one; every write fails from then on, so that nothing half-done is committed
    bool stopped;
    tap taps[2];
};

static int watched_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    tap *self = (tap *)file->pMethods;
    struct watch *watch = self->watch;
    if (watch->failure) return watch->failure;
    // Frame headers of the log are smaller than any page.
    if (size >= 512) {
        watch->pages++;
        bool stop = watch->progress && watch->progress(watch->context, watch->pages) != 0;
        if (stop && watch->pages <= watch->stoppable) {
            watch->stopped = true;
            return watch->failure = SQLITE_FULL;
        }
    }
    int result = self->original->xWrite(file, bytes, size, offset);
    if (result != SQLITE_OK) watch->failure = result;
    else if (size >= 512 && watch->verifier && self == &watch->taps[1]) strongroom_verifier_add(watch->verifier, offset);
    return result;
}

static int watched_sync(sqlite3_file *file, int flags) {
    tap *self = (tap *)file->pMethods;
    struct watch *watch = self->watch;
    if (watch->failure) return watch->failure;
    int result = self->original->xSync(file, flags);
    if (result != SQLITE_OK) watch->failure = result;
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

/// A rekey commits or rolls back below SQL, which still believes in its transaction.
static int end(sqlite3 *db, bool succeeded) {
    if (sqlite3_get_autocommit(db)) return SQLITE_OK;
    int result = sqlite3_exec(db, succeeded ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL);
    if (!sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return result;
}

static int64_t ask(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int64_t answer = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return answer;
}

static void tell(sqlite3 *db, const char *pragma, int64_t value) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA main.%s = %lld", pragma, (long long)value);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/// When the commit itself fails, SQLCipher believes in the new key although the file has the old one, and can't be talked out
/// of it. So nearly every page is written before: the cache holds this many while the pages change their key.
enum { cached_pages = 16, unstoppable_pages = 64 };

static int rewrite_pages(sqlite3 *db, struct watch *watch, const void *spec, int size) {
    install_all(watch, db);
    int result = sqlite3_rekey_v2(db, "main", spec, size);
    uninstall_all(watch);
    return watch->failure ? watch->failure : result;
}

/// The key of the write side changes before the first page is written; no page gets that far.
static bool restore_key(sqlite3 *db, const void *spec, int size) {
    if (begin(db) != SQLITE_OK) { end(db, false); return false; }
    struct watch watch = { .failure = SQLITE_FULL };
    rewrite_pages(db, &watch, spec, size);
    end(db, false);
    return true;
}

int strongroom_rekey_begin(sqlite3 *db) { return begin(db); }

int strongroom_rekey_cancel(sqlite3 *db) { return end(db, false); }

strongroom_rekey_report strongroom_rekey(sqlite3 *db, const void *old_spec, const void *spec, int size,
                                         strongroom_progress progress, void *context, strongroom_verifier *verifier) {
    strongroom_rekey_report report = { 0 };
    int64_t cache_size = ask(db, "PRAGMA main.cache_size"), spill = ask(db, "PRAGMA main.cache_spill");
    tell(db, "cache_size", cached_pages);
    tell(db, "cache_spill", cached_pages);
    struct watch watch = { .progress = progress, .context = context, .verifier = verifier };
    watch.stoppable = ask(db, "PRAGMA main.page_count") - unstoppable_pages;
    int result = rewrite_pages(db, &watch, spec, size);
    if (verifier) strongroom_verifier_finish(verifier);
    int ended = end(db, result == SQLITE_OK);
    report.result = result != SQLITE_OK ? result : ended;
    report.stopped = watch.stopped;
    report.pages = watch.pages;
    if (report.result != SQLITE_OK) report.lost = !restore_key(db, old_spec, size);
    tell(db, "cache_spill", spill);
    tell(db, "cache_size", cache_size);
    return report;
}

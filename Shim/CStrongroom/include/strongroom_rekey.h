// A change of key in place. SQLCipher's own answer proves nothing, so what it writes is watched.

#ifndef STRONGROOM_REKEY_H
#define STRONGROOM_REKEY_H

#include "strongroom_pages.h"

/// Called with the pages written so far; non-zero stops.
typedef int (*strongroom_progress)(void *context, int64_t pages);

/// A key as SQLCipher takes it, and as its pages show it.
typedef struct {
    const void *spec;
    int size;
    const strongroom_page_format *format;
} strongroom_page_key;

/// What became of a rekey.
typedef struct {
    /// Of the first statement, write, sync or read that failed; SQLITE_NOMEM if none did and nothing was committed.
    int result;
    bool committed;     ///< The file has the new key.
    bool stopped;       ///< By the progress callback.
    bool lost;          ///< The connection couldn't prove that it writes with its old key: it writes nothing any more.
    int64_t pages;      ///< How many were written.
} strongroom_rekey_report;

/// Locks the database, whose journal is a write-ahead log, against other writers.
int strongroom_rekey_begin(sqlite3 *db);

/// Gives that lock back, nothing having changed. `rollback` is a prepared ROLLBACK here and below: without memory, none
/// could be prepared.
int strongroom_rekey_cancel(sqlite3 *db, sqlite3_stmt *rollback);

/// Under that lock, writes every page anew with `key`, and lets go; after a failure gives the connection `old_key`
/// back, so that its next write does not mix keys. The last pages belong to the commit and can't be stopped.
/// SQLCipher's own answer proves nothing: open the file again and look.
///
/// Never with a rollback journal: SQLCipher writes the new salt into the old page 1 that it puts there, and a rollback
/// after a crash would bring back pages that no passphrase opens.
strongroom_rekey_report strongroom_rekey(
    sqlite3 *db, const strongroom_page_key *old_key, const strongroom_page_key *key, strongroom_progress progress,
    void *context, sqlite3_stmt *rollback);

/// Commits one page over what a failed rekey left at the end of the write-ahead log: a commit whose sync failed would
/// come back when the log is recovered after a crash. The page is written only if it is authentic in `format`.
int strongroom_rekey_forget(sqlite3 *db, const strongroom_page_format *format, sqlite3_stmt *rollback);

#endif

// A change of key in place. SQLCipher's own result code proves nothing, so its writes are monitored.

#ifndef STRONGROOM_REKEY_H
#define STRONGROOM_REKEY_H

#include "strongroom_pages.h"

/// Called with the number of pages written so far. A result other than zero stops.
typedef int (*strongroom_progress)(void *context, int64_t pages);

/// A key in SQLCipher's form, and the format of its pages.
typedef struct {
    const void *spec;
    int size;
    const strongroom_page_format *format;
} strongroom_page_key;

/// The outcome of a rekey.
typedef struct {
    /// The code of the first statement, write, sync or read that failed. SQLITE_NOMEM if none did and nothing was
    /// committed.
    int result;
    bool committed;     ///< The file has the new key.
    bool stopped;       ///< By the progress callback.
    bool lost;          ///< The connection couldn't prove that it writes with its old key: it writes nothing any more.
    int64_t pages;      ///< How many were written.
} strongroom_rekey_report;

/// Syncs the database, so that no sync under a lock has to write what others have left to the system.
int strongroom_rekey_sync(sqlite3 *db);

/// Locks the database, which is in WAL mode, against other writers.
int strongroom_rekey_begin(sqlite3 *db);

/// Releases that lock, when nothing has changed. `rollback` is a prepared ROLLBACK here and below: without memory,
/// none could be prepared.
int strongroom_rekey_cancel(sqlite3 *db, sqlite3_stmt *rollback);

/// Under that lock, encrypts every page with `key`, and releases the lock. After a failure it sets `old_key` on the
/// connection again, so that its next write does not mix keys. The last pages belong to the commit and can't be
/// stopped. SQLCipher's own result code proves nothing: open the file again and verify it.
///
/// Never call it with a rollback journal: SQLCipher writes the new salt into the old page 1 in the journal, and a
/// rollback after a crash would restore pages that no passphrase opens.
strongroom_rekey_report strongroom_rekey(
    sqlite3 *db, const strongroom_page_key *old_key, const strongroom_page_key *key, strongroom_progress progress,
    void *context, sqlite3_stmt *rollback);

/// Commits one page over the frames that a failed rekey has left at the end of the write-ahead log: recovery after
/// a crash would restore a commit whose sync failed. The page is only written if it is authentic in `format`.
int strongroom_rekey_forget(sqlite3 *db, const strongroom_page_format *format, sqlite3_stmt *rollback);

#endif

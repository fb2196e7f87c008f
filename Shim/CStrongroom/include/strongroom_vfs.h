// The files of connections: all of them are opened through a VFS of ours over the one that the system, or a URI, names.
// It fences logs against SQLite's WAL-reset bug, knows the locks, and stops at files where no statement can be stopped.

#ifndef STRONGROOM_VFS_H
#define STRONGROOM_VFS_H

#include "strongroom_connection.h"

/// Whether a library of these versions has the bug: SQLite's as a number (3046001), SQLCipher's as it says it
/// (`4.6.1 community`); NULL where it is not known. <https://www.sqlite.org/wal.html#walresetbug>
bool strongroom_has_wal_reset_bug(int sqlite, const char *sqlcipher);

/// Whether the library in use has it, and logs are fenced.
bool strongroom_library_has_wal_reset_bug(void);

/// Whether the database was opened through our VFS, or has no file at all: ATTACH takes a VFS from a URI.
bool strongroom_is_ours(sqlite3 *db, const char *schema);

/// Declares for whom the calling thread opens database files; NULL for nobody that is known.
void strongroom_set_opening(strongroom_connection *connection);

/// Whether the connection holds a lock that keeps others out. Safe from any thread.
static inline bool strongroom_connection_holds_lock(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->locks, __ATOMIC_ACQUIRE) != 0;
}

/// Whether reading the main database, or also an attached one, takes a lock that keeps others out: there is no
/// write-ahead log. Outside of transactions, looks into files that have been without one.
bool strongroom_reads_take_locks(strongroom_connection *connection, bool attached);

#endif

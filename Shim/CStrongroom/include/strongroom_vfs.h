// The files of connections, which are opened through a VFS over the one of the system or of a URI. It fences logs
// against SQLite's WAL-reset bug, keeps track of locks, and stops file operations where no statement can be stopped.

#ifndef STRONGROOM_VFS_H
#define STRONGROOM_VFS_H

#include "strongroom_connection.h"

/// Returns true if a library of these versions has the bug: SQLite's as a number (3046001), SQLCipher's as its text
/// (`4.6.1 community`). NULL if unknown. <https://www.sqlite.org/wal.html#walresetbug>
bool strongroom_has_wal_reset_bug(int sqlite, const char *sqlcipher);

/// Returns true if the library in use has it, so that logs are fenced.
bool strongroom_library_has_wal_reset_bug(void);

/// Returns true if the database was opened through this VFS, or has no file: ATTACH accepts a VFS in a URI.
bool strongroom_is_ours(sqlite3 *db, const char *schema);

/// Sets the connection for which the calling thread opens database files. NULL if it is unknown.
void strongroom_set_opening(strongroom_connection *connection);

/// Returns true if reading the main database, or also an attached one, takes a lock that keeps others out, because
/// it has no write-ahead log. Outside of transactions, checks the files of those that had none.
bool strongroom_reads_take_locks(strongroom_connection *connection, bool attached);

#endif

// The names of a database that another one replaces, and the files of the other one until it has its names.

#ifndef STRONGROOM_REPLACING_H
#define STRONGROOM_REPLACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

// Functions without other words return zero or an errno.

/// Returns the number of a regular file in its file system. 0 if there is nothing with the name, -1 for a symbolic
/// link, a folder, a FIFO, a device, or a socket.
int64_t strongroom_file_number(const char *path);

/// Returns true if files that this process makes can have the owner of the file.
bool strongroom_file_can_give_owner(const char *path);

/// Gives a file a second name. EEXIST if it is taken.
int strongroom_file_link(const char *from, const char *to);
/// Returns true if the file system doesn't have second names, and the error is about that.
bool strongroom_file_cannot_link(int error);
/// Renames a file, and replaces what has the name.
int strongroom_file_rename(const char *from, const char *to);
/// Removes a name, if there is one, without syncing its folder.
int strongroom_file_unlink(const char *path);

// MARK: The folder of a replacement

/// The file in a folder for copies in progress that keeps it from being swept, as long as a file with the name that is
/// its content stands beside the folder.
#define STRONGROOM_REPLACING_MARK "copy-of"

/// Locks the folder that a killed process has left. Returns a descriptor, or a negated errno: EBUSY while its process
/// runs.
int strongroom_staging_hold(const char *path);
/// Unlocks the folder, which stays.
void strongroom_staging_leave(int descriptor);

// MARK: Bytes

/// Creates a file that only its owner can read and write. Returns a descriptor, or a negated errno.
int strongroom_staged_create(const char *path);
int strongroom_staged_write(int descriptor, const void *bytes, size_t size, int64_t offset);
/// Writes the file to the disk, and closes it.
int strongroom_staged_finish(int descriptor);

/// Locks the main database as SQLite does, without reading it: against writers, or against all other connections.
/// Returns a result code: SQLITE_BUSY, or SQLITE_READONLY if this process may not write the file. The lock ends with
/// the connection.
int strongroom_database_lock(sqlite3 *db, bool exclusive);

#endif

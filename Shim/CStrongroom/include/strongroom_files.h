// Small files beside a database, the names of databases, and files for copies in the making.

#ifndef STRONGROOM_FILES_H
#define STRONGROOM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

// Zero is success; anything else an errno, or this: a symbolic link, a folder, a FIFO, a device, a socket.
enum { STRONGROOM_NOT_A_FILE = 10000 };

/// The count of bytes read, at most `capacity`, or a negated error. `settled` waits for whoever writes the file now,
/// for five seconds before it is EBUSY. Never for a database that this process may have open.
int strongroom_file_read(const char *path, bool settled, void *bytes, size_t capacity);

/// Whether this user may write the file, if there is one.
int strongroom_file_require_writable(const char *path);

/// Puts `bytes` behind the first `kept` bytes of a file, which is created if need be, unless it holds something else
/// than `expected` by now: EAGAIN. It has the owner and the mode of `database` then. Data and directory entry are on
/// the disk when this returns; after a failure the file is as it was, or not whole.
int strongroom_file_extend(const char *path, const char *database, const void *expected, size_t expected_size,
                           size_t kept, const void *bytes, size_t size);

/// Removes a file unless it holds something else than `expected` by now: EAGAIN.
int strongroom_file_remove_if(const char *path, const void *expected, size_t expected_size);

/// Opens and locks the scratch file that takes the next content of another file, for one writer at a time. It has the
/// owner and the mode of `model`. Returns a descriptor, or a negated error. What a killed process has left in it
/// doesn't count.
int strongroom_scratch_open(const char *scratch, const char *model);

/// Writes, syncs and reads back the scratch file, with the owner and the mode of `model`, and renames it to `path`,
/// replacing what is there. After a failure `path` is as it was, unless the sync of the folder failed, which comes last.
int strongroom_scratch_publish(int fd, const char *scratch, const char *path, const char *model, const void *bytes,
                               size_t size);

/// Removes the scratch file where it has no other name by now, and unlocks it.
void strongroom_scratch_close(int fd, const char *scratch);

/// Removes the scratch file of a killed process. That of a change in progress stays.
void strongroom_scratch_sweep(const char *scratch);

/// A descriptor that holds the lock of a file until it is closed, or a negated error: EBUSY when another one holds it
/// for longer than that. The file is created if need be, with the owner and the mode of `database`, and stays.
int strongroom_file_hold(const char *path, const char *database, int milliseconds);

/// Makes a file that only this user may read, whole or not at all; EEXIST if the name is taken. It grows under the name
/// `partial`. Data and directory entry are on the disk when this returns.
int strongroom_file_create(const char *path, const char *partial, const void *bytes, size_t size);

/// Removes a file, also from the disk.
int strongroom_file_remove(const char *path);

/// Gives a file another name, in one directory; EEXIST if it is taken. After a failure it has its former name.
int strongroom_file_move(const char *from, const char *to);

/// Whether the name is taken, by whatever it is.
bool strongroom_file_exists(const char *path);

/// Whether users other than the owner and the group of a file may read it.
bool strongroom_file_is_public(const char *path);

/// The size of a file without opening it; -1 without one, -2 for a directory.
int64_t strongroom_size_of_file(const char *path);

/// Whether there is a file behind the name, and behind its symbolic links: opening anything else could wait.
bool strongroom_is_regular_file(const char *path);

/// How many names a file has; 0 without one.
int64_t strongroom_link_count(const char *path);

/// Free bytes beside `path`, and the largest file that this process may write; INT64_MAX where nothing is known.
int64_t strongroom_file_room(const char *path, int64_t *largest_file);

/// The path that SQLite gives the files beside a database: absolute, with symbolic links resolved; NULL without
/// memory, and where they can't be. To be freed with sqlite3_free.
char *strongroom_real_path(const char *path);

// MARK: Copies in the making

/// A new folder in `parent` that only its owner looks into, locked while `*descriptor` is open. Zero or an errno.
int strongroom_staging_make(const char *parent, char *path, size_t capacity, int *descriptor);
/// Removes the folder and what is in it.
void strongroom_staging_remove(const char *path, int descriptor);
/// Removes the folders that killed processes left, after a call of `will_remove` with the path of each.
void strongroom_staging_sweep(const char *parent, void (*will_remove)(void *context, const char *path), void *context);

/// An empty file for a copy of `source`, which its owner may read and write. Zero or an errno.
int strongroom_copy_create(const char *path, const char *source);
/// Gives a copy the mode of `source`, and its owner and group where that is permitted; where the group can't be had,
/// it may do no more than everybody else.
int strongroom_copy_take_mode(const char *path, const char *source);
/// Takes away what `source` doesn't allow.
int strongroom_copy_limit_mode(const char *path, const char *source);

#endif

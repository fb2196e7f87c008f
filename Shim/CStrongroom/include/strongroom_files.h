// Sidecars, names of databases, and files for copies in progress.

#ifndef STRONGROOM_FILES_H
#define STRONGROOM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

// Zero is success. Other results are an errno, or this, for a symbolic link, a folder, a FIFO, a device, or a socket.
enum { STRONGROOM_NOT_A_FILE = 10000 };

/// Reads a file. Returns the number of bytes, at most `capacity`, or a negated error. `settled` waits for a process
/// that writes the file, for five seconds before it returns EBUSY. Never for a database that this process may have
/// open.
int strongroom_file_read(const char *path, bool settled, void *bytes, size_t capacity);

/// Checks that this user may write the file, if there is one.
int strongroom_file_require_writable(const char *path);

/// Writes `bytes` after the first `kept` bytes of a file, which is created if necessary with the owner and the mode
/// of `database`. Returns EAGAIN if the file no longer contains `expected`. Data and directory entry are on the disk
/// when it returns. After a failure the file is as before, or incomplete.
int strongroom_file_extend(const char *path, const char *database, const void *expected, size_t expected_size,
                           size_t kept, const void *bytes, size_t size);

/// Removes a file. Returns EAGAIN if it no longer contains `expected`.
int strongroom_file_remove_if(const char *path, const void *expected, size_t expected_size);

/// Replaces a file by `other`, which was synced. Returns EAGAIN if the file no longer contains `expected`. The folder
/// is synced when it returns.
int strongroom_file_replace_if(const char *path, const void *expected, size_t expected_size, const char *other);

/// Opens and locks the scratch file that takes the next content of another file, for one writer at a time. It has the
/// owner and the mode of `model`. Returns a descriptor, or a negated error. Content that a killed process has left is
/// discarded.
int strongroom_scratch_open(const char *scratch, const char *model);

/// Writes, syncs and reads back the scratch file, with the owner and the mode of `model`, and renames it to `path`,
/// which it replaces. After a failure `path` is as before, unless the sync of the folder failed, which is the last
/// step.
int strongroom_scratch_publish(int fd, const char *scratch, const char *path, const char *model, const void *bytes,
                               size_t size);

/// Removes the scratch file, unless it was renamed, and unlocks it.
void strongroom_scratch_close(int fd, const char *scratch);

/// Removes the scratch file of a killed process. That of a change in progress stays.
void strongroom_scratch_sweep(const char *scratch);

/// Returns a descriptor that holds the lock of a file until it is closed, or a negated error: EBUSY if another
/// process holds it for longer than the timeout. The file is created if necessary, with the owner and the mode of
/// `database`, and is never removed.
int strongroom_file_hold(const char *path, const char *database, int milliseconds);

/// Creates a complete file that only this user may read. Returns EEXIST if the name is taken. It is written under
/// the name `partial`. Data and directory entry are on the disk when it returns.
int strongroom_file_create(const char *path, const char *partial, const void *bytes, size_t size);

/// Writes the name of a file to the disk. Returns zero or an errno.
int strongroom_file_sync_folder(const char *path);

/// Removes a file, and syncs its folder.
int strongroom_file_remove(const char *path);

/// Writes the name of a file to the disk. Returns zero or an errno.
int strongroom_file_sync_folder(const char *path);

/// Renames a file in one directory. Returns EEXIST if the name is taken. After a failure it has its former name.
int strongroom_file_move(const char *from, const char *to);

/// Returns true if there is anything with the name.
bool strongroom_file_exists(const char *path);

/// Returns true if a regular file with the name belongs to this user.
bool strongroom_file_is_own(const char *path);

/// Returns true if users other than the owner and the group of a file may read it.
bool strongroom_file_is_public(const char *path);

/// Returns the size of a file without opening it. -1 if there is none, -2 for a directory.
int64_t strongroom_size_of_file(const char *path);

/// Returns true if the name, with its symbolic links resolved, is that of a regular file: opening others could
/// block.
bool strongroom_is_regular_file(const char *path);

/// Returns the number of names of a file. 0 if there is none.
int64_t strongroom_link_count(const char *path);

/// Returns the free space beside `path` and the greatest file size of this process, in bytes. INT64_MAX if unknown.
int64_t strongroom_file_room(const char *path, int64_t *largest_file);

/// Returns the path beside which SQLite creates the sidecars of a database: absolute, with symbolic links resolved.
/// NULL if they can't be resolved, or without memory. To be freed with sqlite3_free.
char *strongroom_real_path(const char *path);

// MARK: Files on which SQLite has no locks: logs and journals. Never for a database that this process may have open.

/// Opens a regular file for reading. Returns a descriptor, or a negated error.
int strongroom_unlocked_open(const char *path, int64_t *size);
/// Returns the number of bytes, fewer at the end of the file, or a negated errno.
int64_t strongroom_unlocked_read(int fd, void *bytes, int64_t size, int64_t offset);
void strongroom_unlocked_close(int fd);

/// Sets size, time of modification in seconds and nanoseconds, and inode of a file, without opening it. -1 if there is
/// none.
void strongroom_file_state(const char *path, int64_t state[4]);

// MARK: Copies in progress

/// Creates a folder in `parent` that only its owner can open, and that is locked while `*descriptor` is open.
/// Returns zero or an errno.
int strongroom_staging_make(const char *parent, char *path, size_t capacity, int *descriptor);
/// Renames the folder to `destination`, in the same parent, and syncs that. Returns EEXIST if the name is taken.
int strongroom_staging_publish(const char *path, const char *destination);
/// Locks a folder of this user, and gives it a name of a folder in progress, so that it is removed now or by the next
/// sweep. Returns zero or an errno: EBUSY if another process has locked it.
int strongroom_staging_retire(const char *folder, const char *parent, char *path, size_t capacity, int *descriptor);
/// Removes the folder, the files in it, and the folders of copies in it that killed processes have left.
void strongroom_staging_remove(const char *path, int descriptor);
/// Removes the folders that killed processes have left, after a call of `will_remove` with each path. Those that a
/// replacement needs stay (`strongroom_replacing.h`).
void strongroom_staging_sweep(const char *parent, void (*will_remove)(void *context, const char *path), void *context);

/// Creates an empty file for a copy of `source`, which only its owner can read and write. Returns zero or an errno.
int strongroom_copy_create(const char *path, const char *source);
/// Sets the mode of a copy to that of `source`, and its owner and group if permitted. If the group can't be set,
/// the group gets the permissions of all other users.
int strongroom_copy_take_mode(const char *path, const char *source);
/// Removes the permissions that `source` doesn't have.
int strongroom_copy_limit_mode(const char *path, const char *source);

#endif

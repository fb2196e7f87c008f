// A database file with SQLite's own locks, by its VFS and without its pager, so that no key is needed. The VFS does the
// bookkeeping of POSIX locks: connections of the same process keep theirs.

#ifndef REPLICA_FILE_H
#define REPLICA_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

typedef struct replica_file replica_file;

// Zero is success, other results are SQLite's.

/// Opens an existing database file. Takes no lock.
int replica_file_open(const char *path, replica_file **file);
/// Releases all locks, and closes the file.
void replica_file_close(replica_file *file);

int replica_file_size(replica_file *file, int64_t *size);
/// Fails with SQLITE_IOERR_SHORT_READ past the end.
int replica_file_read(replica_file *file, void *bytes, int size, int64_t offset);

/// Takes or releases the SHARED lock. While it is held, no connection changes the file with a rollback journal, leaves
/// WAL mode, or removes the log when it closes.
int replica_file_share(replica_file *file);
void replica_file_unshare(replica_file *file);
/// Sets `reserved` to true if a connection is writing with a rollback journal.
int replica_file_is_reserved(replica_file *file, bool *reserved);

// MARK: Changes, as a connection with a rollback journal makes them

/// Takes the EXCLUSIVE lock; the SHARED lock must be held. SQLITE_BUSY if a connection has the file open or reads it;
/// SHARED is held then.
int replica_file_exclude(replica_file *file);
int replica_file_write(replica_file *file, const void *bytes, int size, int64_t offset);
int replica_file_resize(replica_file *file, int64_t size);
int replica_file_sync(replica_file *file);

// MARK: The index of the log, in shared memory. <https://www.sqlite.org/walformat.html#the_wal_index_file_format>

typedef struct {
    uint32_t last_frame;        ///< The last committed frame. 0 if the log is empty.
    uint32_t page_count;        ///< Of the database, after that commit.
    uint32_t page_size;         ///< 0 if it is unknown.
    uint32_t backfilled;        ///< The frames up to this one are in the database file.
    uint32_t checksum[2];       ///< Of the log, up to the last frame.
    uint8_t salts[8];           ///< Of the log.
} replica_index;

/// Maps the index, and creates it if necessary. The SHARED lock must be held.
int replica_index_map(replica_file *file);
void replica_index_unmap(replica_file *file);
/// Returns false while the header is being written, or if the log must be recovered first.
bool replica_index_read(replica_file *file, replica_index *index);

/// Takes a read mark. Until it is released, the log does not begin anew, so no frame is lost. It does not keep frames
/// from being moved, unless readers have all marks, and it is shared with one. SQLITE_BUSY if there is none, or if the
/// log has begun anew since `index`.
int replica_mark_take(replica_file *file, const replica_index *index, int *mark);
/// Takes the mark of readers that need no log. Until it is released, no frame is moved, but a log whose frames are all
/// moved can begin anew. SQLITE_BUSY if the log has changed since `index`, or is not moved completely.
int replica_mark_take_zero(replica_file *file, const replica_index *index);
void replica_mark_release(replica_file *file, int mark);
/// Cuts the file of the log, whose descriptor is given, to `size`. The caller has the mark of readers that need no log.
/// For that moment, all other marks are locked, as a writer does that begins the log anew: no frame is being written.
/// SQLITE_BUSY if a connection has a mark, or if the log has changed since `index`.
int replica_log_cut(replica_file *file, const replica_index *index, int descriptor, int64_t size);

// MARK: Work that SQLite does, on a connection without a key

typedef struct replica_keyless replica_keyless;

/// Opens a connection without a key, which recovers the log, or rolls a hot journal back. `page_size` may be 0 if there
/// will be no checkpoint.
int replica_keyless_open(const char *path, uint32_t page_size, replica_keyless **keyless);
/// Moves frames to the database file, as far as readers allow, without waiting. A read mark of the caller must prevent
/// that the log is begun anew meanwhile: libraries with the WAL-reset bug would lose its frames.
int replica_keyless_checkpoint(replica_keyless *keyless);
void replica_keyless_close(replica_keyless *keyless);

#endif

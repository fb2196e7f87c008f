// The files of connections. SQLite uses a VFS of this library over each of the system's. It passes calls on, and calls
// these hooks.

#ifndef vfs_h
#define vfs_h

#include "CStrongroom.h"

/// The locks on the log of one database, as the fence keeps them.
typedef struct {
    bool writes;        ///< SQLite believes that it has the lock of the writer.
    bool checkpoints;   ///< SQLite has the lock of a checkpoint.
    bool has_writer;    ///< The lock of the writer is taken: while SQLite wants it, and while a checkpoint lasts.
} strongroom_fence;

/// A database file, or its log or journal. The state of the system's VFS follows in memory.
typedef struct strongroom_file {
    sqlite3_file base;
    strongroom_connection *connection;  ///< NULL where the library doesn't know who opens the file.
    struct strongroom_file *database;   ///< Itself, or the database that a log or a journal belongs to.
    struct strongroom_file *next;       ///< Of the connection's databases.
    bool is_main, is_database, is_log;
    bool has_log;                       ///< A database whose log is open.
    bool has_journal;                   ///< A database whose rollback journal is open.
    bool restores;                      ///< A database whose rollback journal was read after it was last written.
    struct strongroom_file *log;        ///< Of a database; NULL where none is open.
    const volatile void *index;         ///< The beginning of the log's index; NULL until it is mapped.
    sqlite3_int64 unsynced;             ///< Bytes written since the latest sync.
    bool syncs;                         ///< A database whose syncs are not turned off.
    bool is_fenced;
    int level;                          ///< SQLITE_LOCK_NONE and up.
    uint32_t log_locks;                 ///< Those of the shared memory that one connection at a time can have.
    strongroom_fence fence;
} strongroom_file;

/// Returns the file for the system's VFS.
static inline sqlite3_file *strongroom_system_file(strongroom_file *file) { return (sqlite3_file *)(file + 1); }

/// Sets `ours` to the name of this library's VFS over the one with a name, or over the default for NULL. NULL if
/// there is none with the name. Returns SQLITE_NOMEM without memory.
int strongroom_vfs(const char *name, const char **ours);

// MARK: The fence against the WAL-reset bug

/// Locks or unlocks the shared memory of a log.
int strongroom_fence_lock(strongroom_file *file, int lock, int count, int flags);

// MARK: Stops. A file without a known connection is not stopped.

/// Called before a file is opened: notes whether the connection that is being opened creates its main database.
void strongroom_watch_creation(const char *path, int flags);
void strongroom_watch_open(strongroom_file *file, const char *path, int flags);
void strongroom_watch_close(strongroom_file *file);
/// Closes the databases and logs of a connection that SQLite does not use any more.
void strongroom_close_files(strongroom_connection *connection);
/// Called after a read: SQLITE_INTERRUPT stops the statement.
int strongroom_watch_read(strongroom_file *file, int size, int64_t offset);
/// Called before and after a write, and before a sync. A large amount of written data is synced in portions.
int strongroom_watch_write(strongroom_file *file, int size);
int strongroom_watch_written(strongroom_file *file, int size);
void strongroom_watch_sync(strongroom_file *file);
/// Called before a pragma, whose value is NULL if it has none.
void strongroom_watch_pragma(strongroom_file *file, const char *name, const char *value);
/// Called before a lock is taken.
int strongroom_watch_will_lock(strongroom_file *file, int level);
int strongroom_watch_will_shm_lock(strongroom_file *file, int lock, int count, int flags);
/// Called when the file has at least this lock, or at most.
void strongroom_watch_lock(strongroom_file *file, int level);
void strongroom_watch_unlock(strongroom_file *file, int level);
void strongroom_watch_shm_lock(strongroom_file *file, int lock, int count, int flags);
/// Called when all locks on the shared memory are released.
void strongroom_watch_shm_unmap(strongroom_file *file);

#endif

// SQLite 3.7.0 to 3.51.2 loses transactions when one connection checkpoints while another one commits and restarts the
// log: the first one counts frames of the old log as moved that are in the new one.
// <https://www.sqlite.org/wal.html#walresetbug>
//
// With such a library, a connection that takes the checkpoint lock takes the writer lock, too, before SQLite reads
// where the log ends, so that no other connection restarts the log meanwhile.

#include "vfs.h"

#include <pthread.h>
#include <stdlib.h>

// MARK: Affected libraries

bool strongroom_has_wal_reset_bug(int sqlite, const char *sqlcipher) {
    char *rest;
    long major = sqlcipher ? strtol(sqlcipher, &rest, 10) : 0;
    long minor = major && *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;
    if (major > 4 || (major == 4 && minor >= 14)) return false;
    bool is_fixed = sqlite >= 3051003 || (sqlite / 1000 == 3050 && sqlite >= 3050007)
        || (sqlite / 1000 == 3044 && sqlite >= 3044006);
    return sqlite >= 3007000 && !is_fixed;
}

static bool has_bug;

static void look_at_library(void) {
    int number = sqlite3_libversion_number();
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    has_bug = strongroom_has_wal_reset_bug(number, NULL);
    // A build of SQLCipher may have the fix and the number of a SQLite without it.
    if (!has_bug) return;
    bool is_open = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK;
    if (is_open && sqlite3_prepare_v2(db, "PRAGMA cipher_version", -1, &statement, NULL) == SQLITE_OK
        && sqlite3_step(statement) == SQLITE_ROW) {
        const void *version = sqlite3_column_text(statement, 0);
        has_bug = strongroom_has_wal_reset_bug(number, version);
    }
    sqlite3_finalize(statement);
    sqlite3_close_v2(db);
}

bool strongroom_library_has_wal_reset_bug(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_at_library);
    return has_bug;
}

// MARK: Locks

/// The locks in the shared memory of a log. <https://www.sqlite.org/walformat.html#wal_locks>
enum { write_lock = 0, checkpoint_lock = 1, first_read_lock = 3 };

static int set_lock(strongroom_file *file, int lock, int count, int flags) {
    sqlite3_file *system = strongroom_system_file(file);
    return system->pMethods->xShmLock(system, lock, count, flags);
}

static int take_write_lock(strongroom_file *file) {
    strongroom_fence *fence = &file->fence;
    if (fence->has_writer) return SQLITE_OK;
    int result = set_lock(file, write_lock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    fence->has_writer = result == SQLITE_OK;
    return result;
}

static int give_write_lock(strongroom_file *file) {
    strongroom_fence *fence = &file->fence;
    if (!fence->has_writer || fence->writes || fence->checkpoints) return SQLITE_OK;
    fence->has_writer = false;
    return set_lock(file, write_lock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
}

static int lock_writer(strongroom_file *file, bool locks) {
    int result = locks ? take_write_lock(file) : SQLITE_OK;
    file->fence.writes = locks && result == SQLITE_OK;
    return locks ? result : give_write_lock(file);
}

/// While there is a writer, the checkpoint only has its own lock. If it waits for writers, SQLite takes their lock
/// next. If it doesn't, it moves nothing: see `lock_readers`.
static int begin_checkpoint(strongroom_file *file, int count, int flags) {
    int result = set_lock(file, checkpoint_lock, count, flags);
    if (result != SQLITE_OK) return result;
    file->fence.checkpoints = true;
    (void)take_write_lock(file);
    return SQLITE_OK;
}

static int end_checkpoint(strongroom_file *file, int count, int flags) {
    file->fence.checkpoints = false;
    int unlocked = set_lock(file, checkpoint_lock, count, flags), given = give_write_lock(file);
    return unlocked != SQLITE_OK ? unlocked : given;
}

/// A checkpoint excludes readers before it changes anything. If this returns that there are readers, it leaves the
/// frames to the next checkpoint.
static int lock_readers(strongroom_file *file, int lock, int count, int flags) {
    bool is_beside_writer = file->fence.checkpoints && !file->fence.has_writer;
    return flags & SQLITE_SHM_LOCK && is_beside_writer ? SQLITE_BUSY : set_lock(file, lock, count, flags);
}

int strongroom_fence_lock(strongroom_file *file, int lock, int count, int flags) {
    bool locks = flags & SQLITE_SHM_LOCK;
    if (!(flags & SQLITE_SHM_EXCLUSIVE)) return set_lock(file, lock, count, flags);
    if (lock == write_lock) return lock_writer(file, locks);
    if (lock >= first_read_lock) return lock_readers(file, lock, count, flags);
    if (lock != checkpoint_lock) return set_lock(file, lock, count, flags);
    // Recovery takes it together with the next one, and has the writer lock.
    return locks ? begin_checkpoint(file, count, flags) : end_checkpoint(file, count, flags);
}

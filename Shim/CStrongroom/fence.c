// SQLite 3.7.0 to 3.51.2 loses transactions when one connection moves the log into the file while another one commits and begins the
// log anew: the first counts frames of the old log as moved that stand in the new one. <https://www.sqlite.org/wal.html#walresetbug>
//
// Connections of such a library get their main and attached files from a VFS of ours, over the system's. Whoever takes the lock of a
// checkpoint takes that of the writer, too, before SQLite reads where the log ends: nobody begins the log anew meanwhile.

#include "strongroom_fence.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/// The locks in the shared memory of a write-ahead log. <https://www.sqlite.org/walformat.html#wal_locks>
enum { write_lock = 0, checkpoint_lock = 1, first_read_lock = 3 };

// MARK: Which libraries

bool strongroom_has_wal_reset_bug(int sqlite, const char *sqlcipher) {
    char *rest;
    long major = sqlcipher ? strtol(sqlcipher, &rest, 10) : 0, minor = major && *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;
    if (major > 4 || (major == 4 && minor >= 14)) return false;
    bool is_fixed = sqlite >= 3051003 || (sqlite / 1000 == 3050 && sqlite >= 3050007) || (sqlite / 1000 == 3044 && sqlite >= 3044006);
    return sqlite >= 3007000 && !is_fixed;
}

static bool needs_fence;

static void look_at_library(void) {
    int number = sqlite3_libversion_number();
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    needs_fence = strongroom_has_wal_reset_bug(number, NULL);
    // A SQLCipher may have the fix and the number of a SQLite without it.
    if (!needs_fence) return;
    bool is_open = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK;
    if (is_open && sqlite3_prepare_v2(db, "PRAGMA cipher_version", -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const void *version = sqlite3_column_text(statement, 0);
        needs_fence = strongroom_has_wal_reset_bug(number, version);
    }
    sqlite3_finalize(statement);
    sqlite3_close_v2(db);
}

bool strongroom_library_has_wal_reset_bug(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_at_library);
    return needs_fence;
}

// MARK: Files

typedef struct {
    sqlite3_file base;
    bool writes;        // SQLite believes that it has the lock of the writer
    bool checkpoints;   // SQLite has the lock of a checkpoint
    bool fenced;        // the lock of the writer is really ours: as long as SQLite wants it, and as long as a checkpoint lasts
    // The real file follows.
} fenced_file;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((fenced_file *)file + 1); }

static int set_lock(sqlite3_file *file, int lock, int count, int flags) { return real(file)->pMethods->xShmLock(real(file), lock, count, flags); }

static int take_write_lock(fenced_file *self) {
    int result = self->fenced ? SQLITE_OK : set_lock(&self->base, write_lock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    self->fenced = result == SQLITE_OK;
    return result;
}

static int give_write_lock(fenced_file *self) {
    if (!self->fenced || self->writes || self->checkpoints) return SQLITE_OK;
    self->fenced = false;
    return set_lock(&self->base, write_lock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
}

/// Beside a writer the checkpoint has its lock alone. If it waits for writers, SQLite asks for theirs next. If it doesn't, it moves
/// nothing: see `lock_readers`.
static int begin_checkpoint(fenced_file *self, int lock, int count, int flags) {
    int result = set_lock(&self->base, lock, count, flags);
    if (result != SQLITE_OK) return result;
    self->checkpoints = true;
    (void)take_write_lock(self);
    return SQLITE_OK;
}

static int end_checkpoint(fenced_file *self, int lock, int count, int flags) {
    self->checkpoints = false;
    int unlocked = set_lock(&self->base, lock, count, flags), given = give_write_lock(self);
    return unlocked != SQLITE_OK ? unlocked : given;
}

/// A checkpoint locks readers out before it changes anything. Told that there are some, it leaves the frames to the next one.
static int lock_readers(fenced_file *self, int lock, int count, int flags) {
    if (flags & SQLITE_SHM_LOCK && self->checkpoints && !self->fenced) return SQLITE_BUSY;
    return set_lock(&self->base, lock, count, flags);
}

static int file_shm_lock(sqlite3_file *file, int lock, int count, int flags) {
    fenced_file *self = (fenced_file *)file;
    bool locks = flags & SQLITE_SHM_LOCK;
    if (flags & SQLITE_SHM_EXCLUSIVE) {
        if (lock == write_lock) {
            int result = locks ? take_write_lock(self) : SQLITE_OK;
            self->writes = locks && result == SQLITE_OK;
            return locks ? result : give_write_lock(self);
        }
        // Recovery takes it with the one that follows, and has that of the writer.
        if (lock == checkpoint_lock) return locks ? begin_checkpoint(self, lock, count, flags) : end_checkpoint(self, lock, count, flags);
        if (lock >= first_read_lock) return lock_readers(self, lock, count, flags);
    }
    return set_lock(file, lock, count, flags);
}

static int file_shm_unmap(sqlite3_file *file, int delete) {
    fenced_file *self = (fenced_file *)file;
    // Takes all locks away.
    self->writes = self->checkpoints = self->fenced = false;
    return real(file)->pMethods->xShmUnmap(real(file), delete);
}

static int file_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int file_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) { return real(file)->pMethods->xRead(real(file), bytes, size, offset); }

static int file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    return real(file)->pMethods->xWrite(real(file), bytes, size, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) { return real(file)->pMethods->xTruncate(real(file), size); }

static int file_sync(sqlite3_file *file, int flags) { return real(file)->pMethods->xSync(real(file), flags); }

static int file_size(sqlite3_file *file, sqlite3_int64 *size) { return real(file)->pMethods->xFileSize(real(file), size); }

static int file_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }

static int file_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }

static int file_reserved(sqlite3_file *file, int *result) { return real(file)->pMethods->xCheckReservedLock(real(file), result); }

static int file_control(sqlite3_file *file, int operation, void *argument) { return real(file)->pMethods->xFileControl(real(file), operation, argument); }

static int file_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int file_characteristics(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }

static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **address) {
    return real(file)->pMethods->xShmMap(real(file), page, size, extend, address);
}

static void file_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int size, void **page) {
    return real(file)->pMethods->xFetch(real(file), offset, size, page);
}

static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) { return real(file)->pMethods->xUnfetch(real(file), offset, page); }

#define METHODS(version) { version, \
    file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock, file_unlock, file_reserved, \
    file_control, file_sector_size, file_characteristics, \
    file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, file_fetch, file_unfetch }

/// As much as the real file can do: shared memory from 2 on, memory mapping from 3 on.
static const sqlite3_io_methods methods[] = { METHODS(1), METHODS(2), METHODS(3) };

static const sqlite3_io_methods *methods_over(const sqlite3_io_methods *real) {
    bool has_shared_memory = real->iVersion >= 2 && real->xShmMap, has_mapping = has_shared_memory && real->iVersion >= 3 && real->xFetch;
    return &methods[has_shared_memory + has_mapping];
}

// MARK: The VFS

typedef struct fence {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    struct fence *next;
} fence;

static sqlite3_vfs *behind(sqlite3_vfs *vfs) { return ((fence *)vfs)->real; }

/// Only databases have shared memory: journals and temporary files are the system's alone.
static int fence_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *opened) {
    sqlite3_vfs *system = behind(vfs);
    if (!(flags & SQLITE_OPEN_MAIN_DB)) return system->xOpen(system, path, file, flags, opened);
    memset(file, 0, sizeof(fenced_file));
    int result = system->xOpen(system, path, real(file), flags, opened);
    // Where there are methods, the file is closed even if it couldn't be opened.
    if (real(file)->pMethods) file->pMethods = methods_over(real(file)->pMethods);
    return result;
}

static int fence_delete(sqlite3_vfs *vfs, const char *path, int sync) { return behind(vfs)->xDelete(behind(vfs), path, sync); }
static int fence_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) { return behind(vfs)->xAccess(behind(vfs), path, flags, result); }
static int fence_full_path(sqlite3_vfs *vfs, const char *path, int size, char *full) { return behind(vfs)->xFullPathname(behind(vfs), path, size, full); }
static void *fence_dl_open(sqlite3_vfs *vfs, const char *path) { return behind(vfs)->xDlOpen(behind(vfs), path); }
static void fence_dl_error(sqlite3_vfs *vfs, int size, char *message) { behind(vfs)->xDlError(behind(vfs), size, message); }
static void (*fence_dl_sym(sqlite3_vfs *vfs, void *library, const char *name))(void) { return behind(vfs)->xDlSym(behind(vfs), library, name); }
static void fence_dl_close(sqlite3_vfs *vfs, void *library) { behind(vfs)->xDlClose(behind(vfs), library); }
static int fence_randomness(sqlite3_vfs *vfs, int size, char *bytes) { return behind(vfs)->xRandomness(behind(vfs), size, bytes); }
static int fence_sleep(sqlite3_vfs *vfs, int microseconds) { return behind(vfs)->xSleep(behind(vfs), microseconds); }
static int fence_time(sqlite3_vfs *vfs, double *time) { return behind(vfs)->xCurrentTime(behind(vfs), time); }
static int fence_last_error(sqlite3_vfs *vfs, int size, char *message) { return behind(vfs)->xGetLastError(behind(vfs), size, message); }
static int fence_time64(sqlite3_vfs *vfs, sqlite3_int64 *time) { return behind(vfs)->xCurrentTimeInt64(behind(vfs), time); }

static fence *make_fence(sqlite3_vfs *system) {
    fence *self = calloc(1, sizeof *self);
    char *name = sqlite3_mprintf("strongroom-%s", system->zName);
    if (!self || !name) {
        free(self);
        sqlite3_free(name);
        return NULL;
    }
    self->real = system;
    self->vfs = (sqlite3_vfs) {
        .iVersion = system->iVersion < 2 ? 1 : 2, .szOsFile = (int)sizeof(fenced_file) + system->szOsFile, .mxPathname = system->mxPathname, .zName = name,
        .xOpen = fence_open, .xDelete = fence_delete, .xAccess = fence_access, .xFullPathname = fence_full_path, .xDlOpen = fence_dl_open,
        .xDlError = fence_dl_error, .xDlSym = fence_dl_sym, .xDlClose = fence_dl_close, .xRandomness = fence_randomness, .xSleep = fence_sleep,
        .xCurrentTime = fence_time, .xGetLastError = fence_last_error, .xCurrentTimeInt64 = fence_time64,
    };
    return self;
}

int strongroom_fence(const char *vfs, const char **fenced) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static fence *fences;
    *fenced = vfs;
    if (!strongroom_library_has_wal_reset_bug()) return SQLITE_OK;
    sqlite3_vfs *system = sqlite3_vfs_find(vfs);
    // What there is not, opening says.
    if (!system) return SQLITE_OK;
    pthread_mutex_lock(&lock);
    fence *self = fences;
    while (self && self->real != system) self = self->next;
    int result = SQLITE_OK;
    if (!self) {
        self = make_fence(system);
        result = self ? sqlite3_vfs_register(&self->vfs, 0) : SQLITE_NOMEM;
        if (result == SQLITE_OK) {
            self->next = fences;
            fences = self;
        }
    }
    pthread_mutex_unlock(&lock);
    if (result == SQLITE_OK) *fenced = self->vfs.zName;
    return result;
}

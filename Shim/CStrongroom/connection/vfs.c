// A VFS over each of the system's, which passes calls on. fence.c and watch.c contain its additions.

#include "vfs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static strongroom_file *ours(sqlite3_file *file) { return (strongroom_file *)file; }
static sqlite3_file *real(sqlite3_file *file) { return strongroom_system_file(ours(file)); }
static const sqlite3_io_methods *calls(sqlite3_file *file) { return real(file)->pMethods; }

// MARK: Files

static int file_close(sqlite3_file *file) {
    int result = calls(file)->xClose(real(file));
    strongroom_watch_close(ours(file));
    return result;
}

static int file_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
    int result = calls(file)->xRead(real(file), bytes, size, offset);
    return result == SQLITE_OK ? strongroom_watch_read(ours(file), size, offset) : result;
}

static int file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    int result = strongroom_watch_write(ours(file), size);
    if (result == SQLITE_OK) result = calls(file)->xWrite(real(file), bytes, size, offset);
    return result == SQLITE_OK ? strongroom_watch_written(ours(file), size) : result;
}

static int file_sync(sqlite3_file *file, int flags) {
    strongroom_watch_sync(ours(file));
    return calls(file)->xSync(real(file), flags);
}

static int file_lock(sqlite3_file *file, int level) {
    int result = strongroom_watch_will_lock(ours(file), level);
    if (result == SQLITE_OK) result = calls(file)->xLock(real(file), level);
    if (result == SQLITE_OK) strongroom_watch_lock(ours(file), level);
    return result;
}

static int file_unlock(sqlite3_file *file, int level) {
    int result = calls(file)->xUnlock(real(file), level);
    strongroom_watch_unlock(ours(file), level);
    return result;
}

static int file_shm_lock(sqlite3_file *file, int lock, int count, int flags) {
    int result = strongroom_watch_will_shm_lock(ours(file), lock, count, flags);
    if (result != SQLITE_OK) return result;
    result = ours(file)->is_fenced ? strongroom_fence_lock(ours(file), lock, count, flags)
                                   : calls(file)->xShmLock(real(file), lock, count, flags);
    if (result == SQLITE_OK) strongroom_watch_shm_lock(ours(file), lock, count, flags);
    return result;
}

static int file_shm_unmap(sqlite3_file *file, int delete) {
    // Releases all locks.
    ours(file)->fence = (strongroom_fence){ 0 };
    ours(file)->index = NULL;
    strongroom_watch_shm_unmap(ours(file));
    return calls(file)->xShmUnmap(real(file), delete);
}

// The other methods are the system's.

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) { return calls(file)->xTruncate(real(file), size); }
static int file_size(sqlite3_file *file, sqlite3_int64 *size) { return calls(file)->xFileSize(real(file), size); }
static int file_sector_size(sqlite3_file *file) { return calls(file)->xSectorSize(real(file)); }
static int file_characteristics(sqlite3_file *file) { return calls(file)->xDeviceCharacteristics(real(file)); }
static void file_shm_barrier(sqlite3_file *file) { calls(file)->xShmBarrier(real(file)); }

static int file_reserved(sqlite3_file *file, int *result) {
    return calls(file)->xCheckReservedLock(real(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    char **pragma = argument;
    if (operation == SQLITE_FCNTL_PRAGMA) strongroom_watch_pragma(ours(file), pragma[1], pragma[2]);
    return calls(file)->xFileControl(real(file), operation, argument);
}

static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **address) {
    int result = calls(file)->xShmMap(real(file), page, size, extend, address);
    if (page == 0) ours(file)->index = result == SQLITE_OK ? *address : NULL;
    return result;
}

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int size, void **page) {
    return calls(file)->xFetch(real(file), offset, size, page);
}

static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
    return calls(file)->xUnfetch(real(file), offset, page);
}

#define METHODS(version) { version, \
    file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock, file_unlock, file_reserved, \
    file_control, file_sector_size, file_characteristics, \
    file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, file_fetch, file_unfetch }

/// The version of the methods, which is that of the system's file: shared memory from 2 on, memory mapping from 3
/// on.
static const sqlite3_io_methods *methods_over(const sqlite3_io_methods *system) {
    static const sqlite3_io_methods methods[] = { METHODS(1), METHODS(2), METHODS(3) };
    bool shares = system->iVersion >= 2 && system->xShmMap, maps = shares && system->iVersion >= 3 && system->xFetch;
    return &methods[shares + maps];
}

// MARK: The VFS

typedef struct layer {
    sqlite3_vfs vfs;
    sqlite3_vfs *system;
    struct layer *next;
    bool is_fenced;
    int number;
    char name[32];
} layer;

static sqlite3_vfs *behind(sqlite3_vfs *vfs) { return ((layer *)vfs)->system; }

/// Temporary files, and journals of several databases, are the system's alone.
static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file, int flags, int *opened) {
    sqlite3_vfs *system = behind(vfs);
    if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) || !path)
        return system->xOpen(system, path, file, flags, opened);
    *ours(file) = (strongroom_file){ .is_fenced = ((layer *)vfs)->is_fenced };
    real(file)->pMethods = NULL;
    strongroom_watch_creation(path, flags);
    int result = system->xOpen(system, path, real(file), flags, opened);
    // If there are methods, SQLite closes the file even if it couldn't be opened.
    if (calls(file)) file->pMethods = methods_over(calls(file));
    if (result == SQLITE_OK) strongroom_watch_open(ours(file), path, flags);
    return result;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync) {
    return behind(vfs)->xDelete(behind(vfs), path, sync);
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    return behind(vfs)->xAccess(behind(vfs), path, flags, result);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int size, char *full) {
    return behind(vfs)->xFullPathname(behind(vfs), path, size, full);
}

static void *vfs_dl_open(sqlite3_vfs *vfs, const char *path) { return behind(vfs)->xDlOpen(behind(vfs), path); }

static void vfs_dl_error(sqlite3_vfs *vfs, int size, char *message) {
    behind(vfs)->xDlError(behind(vfs), size, message);
}

static void (*vfs_dl_sym(sqlite3_vfs *vfs, void *library, const char *name))(void) {
    return behind(vfs)->xDlSym(behind(vfs), library, name);
}

static void vfs_dl_close(sqlite3_vfs *vfs, void *library) { behind(vfs)->xDlClose(behind(vfs), library); }

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *bytes) {
    return behind(vfs)->xRandomness(behind(vfs), size, bytes);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) { return behind(vfs)->xSleep(behind(vfs), microseconds); }
static int vfs_time(sqlite3_vfs *vfs, double *time) { return behind(vfs)->xCurrentTime(behind(vfs), time); }

static int vfs_time64(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    return behind(vfs)->xCurrentTimeInt64(behind(vfs), time);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *message) {
    return behind(vfs)->xGetLastError(behind(vfs), size, message);
}

// MARK: Registration

/// Returns true if files of that VFS need no layer: there is one already, or the VFS has no files, locks or logs.
static bool is_complete(const sqlite3_vfs *vfs) { return vfs->xOpen == vfs_open || strcmp(vfs->zName, "memdb") == 0; }

bool strongroom_is_ours(sqlite3 *db, const char *schema) {
    sqlite3_vfs *vfs = NULL;
    int result = sqlite3_file_control(db, schema, SQLITE_FCNTL_VFS_POINTER, &vfs);
    return result == SQLITE_OK && vfs && is_complete(vfs);
}

static layer *make_layer(sqlite3_vfs *system, int number) {
    layer *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    // A name that needs no escapes in a URI.
    snprintf(self->name, sizeof self->name, "strongroom-%d", number);
    self->system = system;
    self->number = number;
    self->is_fenced = strongroom_library_has_wal_reset_bug();
    self->vfs = (sqlite3_vfs){
        .iVersion = system->iVersion < 2 ? 1 : 2,
        .szOsFile = (int)sizeof(strongroom_file) + system->szOsFile, .mxPathname = system->mxPathname,
        .zName = self->name,
        .xOpen = vfs_open, .xDelete = vfs_delete, .xAccess = vfs_access, .xFullPathname = vfs_full_path,
        .xDlOpen = vfs_dl_open, .xDlError = vfs_dl_error, .xDlSym = vfs_dl_sym, .xDlClose = vfs_dl_close,
        .xRandomness = vfs_randomness, .xSleep = vfs_sleep, .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error, .xCurrentTimeInt64 = vfs_time64,
    };
    if (sqlite3_vfs_register(&self->vfs, 0) == SQLITE_OK) return self;
    free(self);
    return NULL;
}

int strongroom_vfs(const char *name, const char **ours) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static layer *layers;
    sqlite3_vfs *system = sqlite3_vfs_find(name);
    *ours = system ? system->zName : NULL;
    if (!system || is_complete(system)) return SQLITE_OK;
    pthread_mutex_lock(&lock);
    layer *self = layers;
    while (self && self->system != system) self = self->next;
    if (!self && (self = make_layer(system, layers ? layers->number + 1 : 0)) != NULL) {
        self->next = layers;
        layers = self;
    }
    pthread_mutex_unlock(&lock);
    *ours = self ? self->name : NULL;
    return self ? SQLITE_OK : SQLITE_NOMEM;
}

// The files of a connection, watched: what holds a lock is known, and reading or writing stops where SQLite asks nobody.

#include "CStrongroom.h"

#include <stdio.h>

typedef struct strongroom_file {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    strongroom_connection *connection;
    struct strongroom_file *database;   // itself, or the database that a log or journal belongs to
    struct strongroom_file *next;
    bool is_main, is_database, is_log, has_log, has_journal;
    int level;                          // SQLITE_LOCK_NONE and up
    uint32_t log_locks;                 // those of the shared memory that nobody else can have at a time
    struct strongroom_file *log;        // of a database
    sqlite3_int64 unsynced;             // bytes written since the latest sync
    bool is_synced;                     // whether the latest checkpoint has begun with a sync of the log, as it does by default
} strongroom_file;

// The system's own file comes first, so that whoever replaces its methods finds it where it belongs; then this.
enum { most_file = 1024 };

static strongroom_file *watched(sqlite3_file *file) { return (strongroom_file *)((char *)file + most_file); }

static void count_locks(strongroom_connection *connection) {
    uint32_t locks = 0;
    for (strongroom_file *file = connection->databases; file != NULL; file = file->next) {
        // Readers of a log leave a mark that keeps nobody out.
        if (file->level > (file->has_log ? SQLITE_LOCK_SHARED : SQLITE_LOCK_NONE)) locks++;
        if (file->log_locks != 0) locks++;
    }
    __atomic_store_n(&connection->locks, locks, __ATOMIC_RELEASE);
}

// MARK: - Methods

// What SQLite does with a file to undo must not fail: it would go on with pages that are no longer true. To undo, it writes no log, adds
// no page to a journal, and reads no page but those in use, which is the first one: the others were given back before.

/// Which page of the database is read; 0 when it isn't known.
static uint32_t page_read(strongroom_file *self, sqlite3_file *file, int size, sqlite3_int64 offset) {
    if (size < 512 || (size & (size - 1)) != 0) return 0;
    if (self->is_database) return (uint32_t)(offset / size) + 1;
    unsigned char header[4];
    if (!self->is_log || offset < 24 || self->original->xRead(file, header, sizeof header, offset - 24) != SQLITE_OK) return 0;
    return (uint32_t)header[0] << 24 | (uint32_t)header[1] << 16 | (uint32_t)header[2] << 8 | header[3];
}

static int watched_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
    strongroom_file *self = watched(file);
    int result = self->original->xRead(file, bytes, size, offset);
    if (result != SQLITE_OK || strongroom_stops(self->connection) == 0) return result;
    // SQLCipher decrypts what was read, whatever the answer, and would take other bytes for damage.
    return page_read(self, file, size, offset) > 1 ? strongroom_stops_file(self->connection, false) : SQLITE_OK;
}

/// Whether the write is that of a checkpoint, the header of a frame in the log, or the number of a page in the journal.
static bool may_fail(strongroom_file *self, int size) {
    enum { frame_header = 24, page_number = 4 };
    if (self->is_database) return self->has_log;
    return size == (self->is_log ? frame_header : page_number);
}

// Nobody can stop the system while it brings a file to the disk. So a checkpoint never has much to sync while it holds its lock: what a
// large transaction has left in the log is synced before, and pages are synced in portions. Not where nothing is synced at all.

/// 100 ms of a disk that writes 80 MB in a second. More than the log has when a commit checkpoints it, by default.
enum { most_unsynced = 8 << 20 };

static sqlite3_file *behind_file(strongroom_file *self) { return (sqlite3_file *)((char *)self - most_file); }

static int sync_portion(strongroom_file *self) {
    if (self->unsynced < most_unsynced) return SQLITE_OK;
    self->unsynced = 0;
    return self->original->xSync(behind_file(self), SQLITE_SYNC_NORMAL);
}

/// A checkpoint is about to lock.
static int prepare_checkpoint(strongroom_file *self) {
    bool syncs = self->is_synced;
    self->is_synced = false;
    if (!syncs || self->log == NULL) return SQLITE_OK;
    int result = sync_portion(self->log);
    return result != SQLITE_OK ? result : strongroom_stops_file(self->connection, true);
}

static int watched_sync(sqlite3_file *file, int flags) {
    strongroom_file *self = watched(file);
    if (self->is_log) self->database->is_synced = true;
    self->unsynced = 0;
    return self->original->xSync(file, flags);
}

static int watched_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    strongroom_file *self = watched(file);
    // SQLite lets go of the lock, and leaves the journal to the next one who reads the file, as if the program had ended here.
    if (self->has_journal && strongroom_leaves_journal(self->connection)) return SQLITE_IOERR_WRITE;
    int result = may_fail(self, size) ? strongroom_stops_file(self->connection, self->is_database) : SQLITE_OK;
    if (result == SQLITE_OK) result = self->original->xWrite(file, bytes, size, offset);
    if (result != SQLITE_OK || !self->database->has_log) return result;
    self->unsynced += size;
    return self->is_database && self->is_synced ? sync_portion(self) : SQLITE_OK;
}

static int watched_lock(sqlite3_file *file, int level) {
    strongroom_file *self = watched(file);
    // Closing checkpoints under this lock alone.
    int result = level == SQLITE_LOCK_EXCLUSIVE && self->has_log ? prepare_checkpoint(self) : SQLITE_OK;
    if (result == SQLITE_OK) result = self->original->xLock(file, level);
    if (result != SQLITE_OK) return result;
    if (level > self->level) self->level = level;
    count_locks(self->connection);
    return SQLITE_OK;
}

static int watched_unlock(sqlite3_file *file, int level) {
    strongroom_file *self = watched(file);
    int result = self->original->xUnlock(file, level);
    if (level < self->level) self->level = level;
    count_locks(self->connection);
    return result;
}

static int watched_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    enum { checkpoint_lock = 1 };
    strongroom_file *self = watched(file);
    bool checkpoints = offset == checkpoint_lock && count == 1 && flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    int result = checkpoints ? prepare_checkpoint(self) : SQLITE_OK;
    if (result == SQLITE_OK) result = self->original->xShmLock(file, offset, count, flags);
    if (result != SQLITE_OK || (flags & SQLITE_SHM_EXCLUSIVE) == 0) return result;
    uint32_t locks = ((1u << count) - 1) << offset;
    if (flags & SQLITE_SHM_LOCK) self->log_locks |= locks;
    else self->log_locks &= ~locks;
    count_locks(self->connection);
    return SQLITE_OK;
}

static void forget(strongroom_file *self) {
    for (strongroom_file **link = &self->connection->databases; *link != NULL; link = &(*link)->next) {
        if (*link != self) continue;
        *link = self->next;
        break;
    }
}

static int watched_close(sqlite3_file *file) {
    strongroom_file *self = watched(file);
    int result = self->original->xClose(file);
    if (self->is_database) forget(self);
    else if (self->is_log) self->database->has_log = false, self->database->log = NULL;
    else self->database->has_journal = false;
    count_locks(self->connection);
    return result;
}

// MARK: - Opening

static _Thread_local strongroom_connection *opening;

void strongroom_set_opening(strongroom_connection *connection) { opening = connection; }

static void watch(sqlite3_file *file, strongroom_connection *connection) {
    strongroom_file *self = watched(file);
    self->original = file->pMethods;
    self->methods = *file->pMethods;
    self->methods.xRead = watched_read;
    self->methods.xWrite = watched_write;
    self->methods.xSync = watched_sync;
    self->connection = connection;
    file->pMethods = &self->methods;
}

static void watch_database(sqlite3_file *file) {
    strongroom_file *self = watched(file);
    watch(file, opening);
    self->database = self;
    self->is_database = self->is_synced = true;
    self->is_main = opening->databases == NULL;
    self->methods.xClose = watched_close;
    self->methods.xLock = watched_lock;
    self->methods.xUnlock = watched_unlock;
    if (self->methods.iVersion >= 2) self->methods.xShmLock = watched_shm_lock;
    self->next = opening->databases;
    opening->databases = self;
}

static void watch_companion(sqlite3_file *file, const char *path, bool is_log) {
    strongroom_file *database = watched(sqlite3_database_file_object(path));
    if (database->connection == NULL) return;
    watch(file, database->connection);
    watched(file)->database = database;
    watched(file)->is_log = is_log;
    watched(file)->methods.xClose = watched_close;
    if (!is_log) database->has_journal = true;
    if (!is_log) return;
    database->has_log = true;
    database->log = watched(file);
    count_locks(database->connection);
}

typedef struct { sqlite3_vfs vfs; sqlite3_vfs *base; char name[32]; } watching_vfs;

static sqlite3_vfs *behind(sqlite3_vfs *vfs) { return ((watching_vfs *)vfs)->base; }

static int open_file(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file, int flags, int *flags_out) {
    *watched(file) = (strongroom_file){ 0 };
    int result = behind(vfs)->xOpen(behind(vfs), path, file, flags, flags_out);
    if (result != SQLITE_OK || path == NULL) return result;
    if ((flags & SQLITE_OPEN_MAIN_DB) != 0 && opening != NULL) watch_database(file);
    if ((flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0) watch_companion(file, path, (flags & SQLITE_OPEN_WAL) != 0);
    return SQLITE_OK;
}

// Everything else is the base's.
static int delete(sqlite3_vfs *vfs, const char *path, int sync) { return behind(vfs)->xDelete(behind(vfs), path, sync); }
static int access_file(sqlite3_vfs *vfs, const char *path, int flags, int *result) { return behind(vfs)->xAccess(behind(vfs), path, flags, result); }
static int full_path(sqlite3_vfs *vfs, const char *path, int size, char *full) { return behind(vfs)->xFullPathname(behind(vfs), path, size, full); }
static void *dl_open(sqlite3_vfs *vfs, const char *path) { return behind(vfs)->xDlOpen(behind(vfs), path); }
static void dl_error(sqlite3_vfs *vfs, int size, char *message) { behind(vfs)->xDlError(behind(vfs), size, message); }
static void (*dl_sym(sqlite3_vfs *vfs, void *library, const char *name))(void) { return behind(vfs)->xDlSym(behind(vfs), library, name); }
static void dl_close(sqlite3_vfs *vfs, void *library) { behind(vfs)->xDlClose(behind(vfs), library); }
static int randomness(sqlite3_vfs *vfs, int size, char *bytes) { return behind(vfs)->xRandomness(behind(vfs), size, bytes); }
static int sleep_for(sqlite3_vfs *vfs, int microseconds) { return behind(vfs)->xSleep(behind(vfs), microseconds); }
static int current_time(sqlite3_vfs *vfs, double *time) { return behind(vfs)->xCurrentTime(behind(vfs), time); }
static int current_time64(sqlite3_vfs *vfs, sqlite3_int64 *time) { return behind(vfs)->xCurrentTimeInt64(behind(vfs), time); }
static int last_error(sqlite3_vfs *vfs, int size, char *message) { return behind(vfs)->xGetLastError(behind(vfs), size, message); }

static void watch_vfs(watching_vfs *self, sqlite3_vfs *base, int number) {
    snprintf(self->name, sizeof self->name, "strongroom.%d", number);
    self->base = base;
    self->vfs = (sqlite3_vfs) {
        .iVersion = base->iVersion < 2 ? 1 : 2, .szOsFile = most_file + (int)sizeof(strongroom_file), .mxPathname = base->mxPathname,
        .zName = self->name, .xOpen = open_file, .xDelete = delete, .xAccess = access_file, .xFullPathname = full_path, .xDlOpen = dl_open,
        .xDlError = dl_error, .xDlSym = dl_sym, .xDlClose = dl_close, .xRandomness = randomness, .xSleep = sleep_for,
        .xCurrentTime = current_time, .xGetLastError = last_error, .xCurrentTimeInt64 = current_time64,
    };
    // What isn't known by its name is not there: connections go without.
    if (sqlite3_vfs_register(&self->vfs, 0) != SQLITE_OK) self->base = NULL;
}

const char *strongroom_watched_vfs(const char *name) {
    enum { most = 8 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static watching_vfs known[most];
    sqlite3_vfs *base = sqlite3_vfs_find(name);
    if (base == NULL || base->szOsFile > most_file) return name;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < most && known[i].base != NULL && known[i].base != base) i++;
    if (i < most && known[i].base == NULL) watch_vfs(&known[i], base, i);
    bool is_known = i < most && known[i].base == base;
    pthread_mutex_unlock(&lock);
    return is_known ? known[i].name : name;
}

// MARK: - Journals

static bool reads_take_locks(strongroom_connection *connection, bool attached) {
    for (strongroom_file *file = connection->databases; file != NULL; file = file->next)
        if (!file->has_log && (file->is_main || attached)) return true;
    return false;
}

static int read_schema(sqlite3 *db, const unsigned char *schema) {
    char *sql = sqlite3_mprintf("SELECT 1 FROM \"%w\".sqlite_master LIMIT 1", schema);
    int result = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return result;
}

/// Another process may have given a file a log since it was read.
static int look_again(sqlite3 *db) {
    sqlite3_stmt *schemas = NULL;
    int result = sqlite3_prepare_v2(db, "PRAGMA database_list", -1, &schemas, NULL);
    while (result == SQLITE_OK && sqlite3_step(schemas) == SQLITE_ROW)
        result = read_schema(db, sqlite3_column_text(schemas, 1));
    sqlite3_finalize(schemas);
    return result;
}

bool strongroom_reads_take_locks(strongroom_connection *connection, bool attached) {
    if (!reads_take_locks(connection, attached)) return false;
    if (!sqlite3_get_autocommit(connection->db)) return true;
    uint32_t former = strongroom_narrow(connection, STRONGROOM_REACH_WAITS);
    int result = look_again(connection->db);
    strongroom_restore_reach(connection, former);
    return result != SQLITE_OK || reads_take_locks(connection, attached);
}

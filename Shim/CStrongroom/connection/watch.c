// The monitored files of a connection: their locks are recorded, and reads and writes are stopped where SQLite does not
// check for stops.

#include "../files/log_format.h"
#include "strongroom_files.h"
#include "vfs.h"

#include <stdlib.h>

static void count_locks(strongroom_connection *connection) {
    uint32_t locks = 0;
    for (strongroom_file *file = connection->databases; file != NULL; file = file->next) {
        // Readers of a log hold a lock that doesn't exclude others.
        if (file->level > (file->has_log ? SQLITE_LOCK_SHARED : SQLITE_LOCK_NONE)) locks++;
        if (file->log_locks != 0) locks++;
    }
    __atomic_store_n(&connection->locks, locks, __ATOMIC_RELEASE);
}

// MARK: - Opening and closing

static _Thread_local strongroom_connection *opening;

void strongroom_set_opening(strongroom_connection *connection) { opening = connection; }

void strongroom_watch_creation(const char *path, int flags) {
    if (opening == NULL || opening->databases != NULL || (flags & SQLITE_OPEN_MAIN_DB) == 0) return;
    opening->has_created = (flags & SQLITE_OPEN_CREATE) != 0 && !strongroom_file_exists(path);
}

static void open_database(strongroom_file *file) {
    file->connection = opening;
    file->database = file;
    file->is_database = file->syncs = true;
    file->is_main = opening->databases == NULL;
    file->next = opening->databases;
    opening->databases = file;
}

static void open_companion(strongroom_file *file, const char *path, bool is_log) {
    sqlite3_file *database = sqlite3_database_file_object(path);
    file->database = (strongroom_file *)database;
    file->connection = file->database->connection;
    file->is_log = is_log;
    if (file->connection == NULL) return;
    if (!is_log) file->database->has_journal = true;
    if (!is_log) return;
    file->database->has_log = true;
    file->database->log = file;
    count_locks(file->connection);
}

void strongroom_watch_open(strongroom_file *file, const char *path, int flags) {
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0) open_companion(file, path, (flags & SQLITE_OPEN_WAL) != 0);
    else if (opening != NULL) open_database(file);
}

static void forget(strongroom_file *file) {
    strongroom_file **link = &file->connection->databases;
    while (*link != NULL && *link != file) link = &(*link)->next;
    if (*link != NULL) *link = file->next;
}

void strongroom_watch_close(strongroom_file *file) {
    if (file->connection == NULL) return;
    if (file->is_database) forget(file);
    else if (file->is_log) file->database->has_log = false, file->database->log = NULL;
    else file->database->has_journal = false;
    count_locks(file->connection);
}

void strongroom_close_files(strongroom_connection *connection) {
    // Each one that is closed leaves the list.
    while (connection->databases != NULL) {
        strongroom_file *file = connection->databases;
        if (file->log != NULL) file->log->base.pMethods->xClose(&file->log->base);
        if (file->base.pMethods->iVersion >= 2) file->base.pMethods->xShmUnmap(&file->base, false);
        file->base.pMethods->xClose(&file->base);
    }
}

static bool is_journal(const strongroom_file *file) { return !file->is_database && !file->is_log; }

// MARK: - Reading and writing

// File operations with which SQLite undoes changes must not fail: it would go on with pages that are not restored. To
// undo, it does not write a log, does not add pages to a journal, and reads only pages in use: the first one, because
// the others were released before.

/// Returns the number of the page that is read in the database. 0 if it is unknown.
static uint32_t page_read(strongroom_file *file, int size, int64_t offset) {
    if (size < 512 || (size & (size - 1)) != 0) return 0;
    if (file->is_database) return (uint32_t)(offset / size) + 1;
    uint8_t number[4];
    sqlite3_file *system = strongroom_system_file(file);
    if (!file->is_log || offset < frame_header) return 0;
    int result = system->pMethods->xRead(system, number, sizeof number, offset - frame_header);
    return result == SQLITE_OK ? frame_page(number) : 0;
}

int strongroom_watch_read(strongroom_file *file, int size, int64_t offset) {
    if (file->connection == NULL || strongroom_stops(file->connection) == 0) return SQLITE_OK;
    if (is_journal(file)) file->database->restores = true;
    // SQLCipher decrypts the bytes regardless of the result, and would report other bytes as damage.
    return page_read(file, size, offset) > 1 ? strongroom_stops_file(file->connection, false) : SQLITE_OK;
}

/// Returns true if the write is that of a checkpoint, of a frame's header in the log, or of a page number in the
/// journal.
static bool may_fail(strongroom_file *file, int size) {
    enum { page_number = 4 };
    if (file->is_database) return file->has_log;
    return size == (file->is_log ? frame_header : page_number);
}

void strongroom_watch_sync(strongroom_file *file) { file->unsynced = 0; }

int strongroom_watch_write(strongroom_file *file, int size) {
    if (file->connection == NULL) return SQLITE_OK;
    // SQLite releases the lock, and leaves the journal to the next reader of the file, as if the program had ended
    // here.
    if (is_journal(file)) file->database->restores = false;
    if (file->has_journal && strongroom_leaves_journal(file->connection, file->restores)) return SQLITE_IOERR_WRITE;
    return may_fail(file, size) ? strongroom_stops_file(file->connection, file->is_database) : SQLITE_OK;
}

/// Returns true if SQLite turns syncs off for this value: it keeps eight bits of a number, and three of the next one.
/// <https://www.sqlite.org/pragma.html#pragma_synchronous>
static bool is_off(const char *value) {
    bool is_hex = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
    if (value[0] >= '0' && value[0] <= '9')
        return (((uint8_t)strtoull(value, NULL, is_hex ? 16 : 10) + 1) & 7) <= 1;
    return sqlite3_stricmp(value, "off") == 0 || sqlite3_stricmp(value, "no") == 0
        || sqlite3_stricmp(value, "false") == 0;
}

void strongroom_watch_pragma(strongroom_file *file, const char *name, const char *value) {
    if (file->connection == NULL || value == NULL) return;
    if (sqlite3_stricmp(name, "locking_mode") == 0 && sqlite3_stricmp(value, "exclusive") == 0)
        file->connection->is_exclusive = true;
    // SQLite refuses it in transactions.
    bool is_possible = file->connection->db != NULL && sqlite3_get_autocommit(file->connection->db);
    if (is_possible && sqlite3_stricmp(name, "synchronous") == 0) file->syncs = !is_off(value);
}

/// A sync can't be stopped, so there is never much to sync while a lock is held: 100 ms of a disk that writes 80 MB per
/// second. More than the default size of a log at which a commit checkpoints it.
enum { most_unsynced = 8 << 20 };

int strongroom_watch_written(strongroom_file *file, int size) {
    if (file->connection == NULL) return SQLITE_OK;
    file->unsynced += size;
    if (file->unsynced < most_unsynced || !file->database->syncs) return SQLITE_OK;
    file->unsynced = 0;
    sqlite3_file *system = strongroom_system_file(file);
    return system->pMethods->xSync(system, SQLITE_SYNC_NORMAL);
}

// MARK: - Locks

// A checkpoint that must stop does not lock.

int strongroom_watch_will_lock(strongroom_file *file, int level) {
    // Closing checkpoints under this lock only.
    bool checkpoints = level == SQLITE_LOCK_EXCLUSIVE && file->has_log && file->connection != NULL;
    return checkpoints ? strongroom_stops_file(file->connection, true) : SQLITE_OK;
}

int strongroom_watch_will_shm_lock(strongroom_file *file, int lock, int count, int flags) {
    enum { checkpoint_lock = 1 };
    bool locks = flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    bool checkpoints = lock == checkpoint_lock && count == 1 && locks && file->connection != NULL;
    return checkpoints ? strongroom_stops_file(file->connection, true) : SQLITE_OK;
}

void strongroom_watch_lock(strongroom_file *file, int level) {
    if (level > file->level) file->level = level;
    if (file->connection != NULL) count_locks(file->connection);
}

void strongroom_watch_unlock(strongroom_file *file, int level) {
    if (level < file->level) file->level = level;
    if (file->connection != NULL) count_locks(file->connection);
}

void strongroom_watch_shm_lock(strongroom_file *file, int lock, int count, int flags) {
    if (file->connection == NULL || (flags & SQLITE_SHM_EXCLUSIVE) == 0) return;
    uint32_t locks = ((1u << count) - 1) << lock;
    // Recovery takes the checkpoint's lock together with others.
    if (flags & SQLITE_SHM_LOCK && lock == 1 && count == 1) strongroom_count(file->connection, STRONGROOM_CHECKPOINTS);
    if (flags & SQLITE_SHM_LOCK) file->log_locks |= locks;
    else file->log_locks &= ~locks;
    count_locks(file->connection);
}

void strongroom_watch_shm_unmap(strongroom_file *file) {
    file->log_locks = 0;
    if (file->connection != NULL) count_locks(file->connection);
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

/// Another process may have given the file a log since it was read.
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

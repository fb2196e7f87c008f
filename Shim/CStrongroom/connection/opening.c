// Opens and closes connections.

#include "../process/ending.h"
#include "vfs.h"

#include <stdlib.h>
#include <string.h>

/// Returns the URI with this library's VFS: if a URI names two, SQLite uses the last.
static char *with_vfs(const char *uri, const char *vfs) {
    int length = (int)strcspn(uri, "#");
    return sqlite3_mprintf("%.*s&vfs=%s%s", length, uri, vfs, uri + length);
}

static int open_database(
    strongroom_connection *connection, sqlite3 **db, const char *path, int flags, const char *vfs)
{
    const char *ours = NULL;
    int code = strongroom_vfs(vfs, &ours);
    if (code != SQLITE_OK) return code;
    // SQLite reports a VFS that doesn't exist.
    char *name = vfs && ours ? with_vfs(path, ours) : sqlite3_mprintf("%s", path);
    if (!name) return SQLITE_NOMEM;
    strongroom_set_opening(connection);
    code = sqlite3_open_v2(name, db, flags, ours);
    strongroom_set_opening(NULL);
    sqlite3_free(name);
    return code;
}

/// Opens the database, with the progress handler of the connection. `*db` is only set on SQLITE_OK.
static int open_ready(
    strongroom_connection *connection, sqlite3 **db, const char *path, int flags, const char *vfs, char **message)
{
    sqlite3 *opened = NULL;
    int code = open_database(connection, &opened, path, flags, vfs);
    if (code != SQLITE_OK) {
        // A failed open returns a connection, too, which has the error.
        if (opened != NULL) {
            *message = sqlite3_mprintf("%s", sqlite3_errmsg(opened));
            code = sqlite3_extended_errcode(opened);
        }
        sqlite3_close_v2(opened);
        return code;
    }
    sqlite3_extended_result_codes(opened, 1);
    sqlite3_progress_handler(opened, 1000, strongroom_progress_stops, connection);
    *db = opened;
    return SQLITE_OK;
}

int strongroom_connection_open(
    const char *path, int flags, const char *vfs, strongroom_connection **out, char **message)
{
    *out = NULL;
    *message = NULL;
    strongroom_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) return SQLITE_NOMEM;
    sqlite3 *db = NULL;
    int code = open_ready(connection, &db, path, flags, vfs, message);
    if (code != SQLITE_OK) {
        free(connection);
        return code;
    }
    pthread_mutex_init(&connection->lock, NULL);
    pthread_mutex_init(&connection->last, NULL);
    connection->reach = STRONGROOM_REACH_ALL;
    connection->db = db;
    *out = connection;
    return SQLITE_OK;
}

static sqlite3 *exchange_db(strongroom_connection *connection, sqlite3 *db, bool zombie) {
    pthread_mutex_lock(&connection->lock);
    sqlite3 *former = connection->db;
    connection->db = db;
    connection->zombie = zombie;
    pthread_mutex_unlock(&connection->lock);
    return former;
}

int strongroom_connection_reopen(
    strongroom_connection *connection, const char *path, int flags, const char *vfs, char **message)
{
    *message = NULL;
    connection->is_set_up = connection->is_exclusive = connection->unfreeable = false;
    sqlite3 *db = NULL;
    int code = open_ready(connection, &db, path, flags, vfs, message);
    if (code == SQLITE_OK) exchange_db(connection, db, false);
    return code;
}

/// Closes the files of a connection that can't be freed. Returns SQLITE_BUSY, and does nothing, if a statement or a
/// transaction may use them.
static int close_unfreeable(strongroom_connection *connection, sqlite3 *db) {
    if (sqlite3_next_stmt(db, NULL) != NULL) return SQLITE_BUSY;
    bool is_open = !sqlite3_get_autocommit(db);
    if (is_open && sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK) return SQLITE_BUSY;
    strongroom_close_files(connection);
    return SQLITE_OK;
}

static int close_now(strongroom_connection *connection, sqlite3 *db) {
    int code;
    do {
        strongroom_connection_collect(connection);
        code = connection->unfreeable ? close_unfreeable(connection, db) : sqlite3_close(db);
    } while (code == SQLITE_BUSY && strongroom_has_orphans(connection));
    if (code != SQLITE_OK) exchange_db(connection, db, false);
    return code;
}

int strongroom_connection_close(strongroom_connection *connection) {
    if (connection->db == NULL) return SQLITE_OK;
    sqlite3 *db = exchange_db(connection, NULL, false);
    if (!strongroom_begin_closing()) return SQLITE_OK;
    int code = close_now(connection, db);
    strongroom_end_closing();
    return code;
}

bool strongroom_connection_is_closed(strongroom_connection *connection) {
    pthread_mutex_lock(&connection->lock);
    bool is_closed = connection->db == NULL;
    pthread_mutex_unlock(&connection->lock);
    return is_closed;
}

void strongroom_connection_abandon(strongroom_connection *connection) {
    if (connection->db == NULL) return;
    pthread_mutex_lock(&connection->last);
    sqlite3 *db = exchange_db(connection, NULL, true);
    if (strongroom_begin_closing()) {
        strongroom_connection_collect(connection);
        if (connection->unfreeable) close_unfreeable(connection, db);
        else sqlite3_close_v2(db);
        strongroom_end_closing();
    }
    pthread_mutex_unlock(&connection->last);
}

/// SQLCipher has no result code for it.
static int note_failed_derivation(void *failed, int count, char **values, char **names) {
    (void)names;
    if (count > 0 && values[0] && strcmp(values[0], "unable to derive keys") == 0) *(bool *)failed = true;
    return 0;
}

static int take_key(strongroom_connection *connection, const char *sql) {
    if (!strongroom_can_take_key()) return SQLITE_NOMEM;
    bool failed = false;
    int result = sqlite3_exec(connection->db, sql, note_failed_derivation, &failed, NULL);
    if (failed) result = SQLITE_NOMEM;
    // A derived key that could not be copied has the same specification on both sides.
    if (result == SQLITE_NOMEM) connection->unfreeable = true;
    return result;
}

int strongroom_connection_first_read(strongroom_connection *connection) {
    return take_key(connection, "SELECT count(*) FROM sqlite_master");
}

int strongroom_connection_derive(strongroom_connection *connection, const char *schema) {
    char *pragma = sqlite3_mprintf("PRAGMA \"%w\".cipher_integrity_check", schema);
    int result = pragma ? take_key(connection, pragma) : SQLITE_NOMEM;
    sqlite3_free(pragma);
    return result;
}

void strongroom_connection_free(strongroom_connection *connection) {
    pthread_mutex_destroy(&connection->lock);
    pthread_mutex_destroy(&connection->last);
    free(connection->orphans);
    free(connection);
}

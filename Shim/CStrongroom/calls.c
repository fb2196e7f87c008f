// Calls of SQLite and SQLCipher that take several steps in C, or more care than Swift could give them.

#include "strongroom_crypto.h"

#include <sys/stat.h>

bool strongroom_can_take_key(void) {
    enum { enough = 96 << 10 };     // for keys, a page, and a statement
    void *reserve = sqlite3_malloc(enough);
    sqlite3_free(reserve);
    return reserve != NULL;
}

int strongroom_key(sqlite3 *db, const char *schema, const void *spec, int size) {
    return !strongroom_can_take_key() ? SQLITE_NOMEM : sqlite3_key_v2(db, schema, spec, size);
}

int strongroom_execute(sqlite3 *db, const char *sql) { return sqlite3_exec(db, sql, NULL, NULL, NULL); }

int strongroom_ask(sqlite3 *db, const char *sql, char **answer) {
    sqlite3_stmt *statement = NULL;
    bool answered = false;
    *answer = NULL;
    int result = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (result != SQLITE_OK) return result;
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL) {
        const unsigned char *text = sqlite3_column_text(statement, 0);
        if (text) *answer = sqlite3_mprintf("%s", text);
        answered = true;
    }
    result = sqlite3_finalize(statement);
    return result == SQLITE_OK && answered && !*answer ? SQLITE_NOMEM : result;
}

int strongroom_interrupt_write(sqlite3 *db) {
    // A handle on a row is a statement that writes, and nothing has to be compiled for it.
    sqlite3_blob *row = NULL;
    int result = sqlite3_blob_open(db, "main", "sqlite_master", "sql", 1, 1, &row);
    int closed = sqlite3_blob_close(row);
    return result != SQLITE_OK ? result : closed;
}

int strongroom_empty_log(sqlite3 *db) { return sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL); }

int strongroom_attach(sqlite3 *db, const char *path, const char *schema, const void *spec, int size) {
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db, "ATTACH DATABASE ?1 AS ?2 KEY ?3", -1, &statement, NULL);
    if (result != SQLITE_OK) return result;
    result = sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
    if (result == SQLITE_OK) result = sqlite3_bind_text(statement, 2, schema, -1, SQLITE_STATIC);
    if (result == SQLITE_OK) result = sqlite3_bind_text(statement, 3, spec, size, SQLITE_STATIC);
    // Without its key, the database would be attached with that of the main one.
    if (result == SQLITE_OK) sqlite3_step(statement);
    int finalized = sqlite3_finalize(statement);
    return result != SQLITE_OK ? result : finalized;
}

int strongroom_copy_rows(sqlite3_stmt *query, sqlite3_stmt *insertion, int count, bool *inserting) {
    int result = SQLITE_ROW, columns = sqlite3_column_count(query);
    int64_t room = 4 << 20;   // large rows are fewer rows: whoever wants to stop is heard
    while (count-- > 0 && room > 0) {
        *inserting = false;
        result = sqlite3_step(query);
        if (result != SQLITE_ROW) return result;
        *inserting = true;
        for (int i = 0; i < columns; i++) {
            sqlite3_value *value = sqlite3_column_value(query, i);
            result = sqlite3_bind_value(insertion, i + 1, value);
            if (result != SQLITE_OK) return result;
            // Asking for the bytes of a number would make a text of it.
            int type = sqlite3_value_type(value);
            if (type == SQLITE_TEXT || type == SQLITE_BLOB) room -= sqlite3_value_bytes(value);
        }
        result = sqlite3_step(insertion);
        if (result != SQLITE_DONE) return result;
        result = sqlite3_reset(insertion);
        if (result != SQLITE_OK) return result;
    }
    return SQLITE_ROW;
}

void strongroom_free(void *text) { sqlite3_free(text); }

int64_t strongroom_link_count(const char *path) {
    struct stat file;
    return stat(path, &file) == 0 ? (int64_t)file.st_nlink : 0;
}

const char *strongroom_database_path(sqlite3 *db) {
    const char *path = sqlite3_db_filename(db, "main");
    return path ? path : "";
}

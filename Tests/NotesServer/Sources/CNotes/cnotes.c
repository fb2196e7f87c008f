#include "cnotes.h"

#include <stdlib.h>
#include <string.h>
#include <sqlcipher/sqlite3.h>

int sqlite3_key(sqlite3 *db, const void *key, int size);

struct cnotes {
    sqlite3 *db;
    sqlite3_stmt *insert, *select;
};

cnotes *cnotes_open(const char *path, const char *key) {
    cnotes *notes = calloc(1, sizeof *notes);
    const char *setup = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
        "CREATE TABLE IF NOT EXISTS note (id TEXT PRIMARY KEY NOT NULL, author TEXT NOT NULL, text TEXT NOT NULL)";
    if (notes == NULL || sqlite3_open(path, &notes->db) != SQLITE_OK
        || sqlite3_key(notes->db, key, (int)strlen(key)) != SQLITE_OK
        || sqlite3_busy_timeout(notes->db, 5000) != SQLITE_OK
        || sqlite3_exec(notes->db, setup, NULL, NULL, NULL) != SQLITE_OK
        || sqlite3_prepare_v2(notes->db, "INSERT INTO note VALUES (?, 'client', ?) ON CONFLICT DO NOTHING", -1,
               &notes->insert, NULL) != SQLITE_OK
        || sqlite3_prepare_v2(notes->db, "SELECT text FROM note WHERE id = ?", -1, &notes->select, NULL) != SQLITE_OK) {
        cnotes_close(notes);
        return NULL;
    }
    return notes;
}

void cnotes_close(cnotes *notes) {
    if (notes == NULL) return;
    sqlite3_finalize(notes->insert);
    sqlite3_finalize(notes->select);
    sqlite3_close(notes->db);
    free(notes);
}

int cnotes_add(cnotes *notes, const char *id, const char *text) {
    sqlite3_bind_text(notes->insert, 1, id, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(notes->insert, 2, text, -1, SQLITE_TRANSIENT);
    int code = sqlite3_step(notes->insert);
    sqlite3_reset(notes->insert);
    return code == SQLITE_DONE ? 0 : code;
}

char *cnotes_find(cnotes *notes, const char *id) {
    char *text = NULL;
    sqlite3_bind_text(notes->select, 1, id, -1, SQLITE_TRANSIENT);
    if (sqlite3_step(notes->select) == SQLITE_ROW) text = strdup((const char *)sqlite3_column_text(notes->select, 0));
    sqlite3_reset(notes->select);
    return text;
}

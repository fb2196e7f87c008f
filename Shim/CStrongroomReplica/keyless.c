// A connection without a key. SQLite recovers logs, rolls journals back and moves frames without looking into pages.

#include "replica_file.h"

#include <stdio.h>
#include <stdlib.h>

struct replica_keyless { sqlite3 *db; };

/// Reads page 1, which opens the log. Without the key the page is not one of a database.
static int touch(sqlite3 *db) {
    int result = sqlite3_exec(db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    bool is_expected = result == SQLITE_NOTADB || result == SQLITE_ERROR || result == SQLITE_CORRUPT;
    return is_expected ? SQLITE_OK : result;
}

int replica_keyless_open(const char *path, uint32_t page_size, replica_keyless **keyless) {
    char pragma[64];
    *keyless = calloc(1, sizeof **keyless);
    if (!*keyless) return SQLITE_NOMEM;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    int result = sqlite3_open_v2(path, &(*keyless)->db, flags, NULL);
    if (result == SQLITE_OK) {
        sqlite3_extended_result_codes((*keyless)->db, 0);
        // Never the checkpoint of the last connection, which would remove the log.
        (void)sqlite3_db_config((*keyless)->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        // A checkpoint fails if the page size is another than that of the log.
        snprintf(pragma, sizeof pragma, "PRAGMA page_size = %u", page_size);
        if (page_size != 0) result = sqlite3_exec((*keyless)->db, pragma, NULL, NULL, NULL);
    }
    if (result == SQLITE_OK) result = touch((*keyless)->db);
    if (result != SQLITE_OK) { replica_keyless_close(*keyless); *keyless = NULL; }
    return result;
}

int replica_keyless_checkpoint(replica_keyless *self) {
    int result = sqlite3_wal_checkpoint_v2(self->db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return result == SQLITE_BUSY ? SQLITE_OK : result;
}

void replica_keyless_close(replica_keyless *self) {
    (void)sqlite3_close(self->db);
    free(self);
}

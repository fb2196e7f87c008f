// The gate. A wrong key must not change a file, but SQLite would recover a log and roll back a journal under any key.
// So SQLite can't use the file before the key has been proved on a page, in the file or where recovery would take it
// from (first_page.c).

#include "strongroom_pages.h"

#include <stdlib.h>

struct strongroom_gate {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    sqlite3_file *file;
};

static int refuse_lock(sqlite3_file *file, int level) {
    (void)file, (void)level;
    return SQLITE_NOTADB;
}

strongroom_gate *strongroom_gate_close(sqlite3 *db) {
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (result != SQLITE_OK || !file || !file->pMethods) return NULL;
    strongroom_gate *gate = malloc(sizeof *gate);
    if (!gate) return NULL;
    *gate = (strongroom_gate){ .methods = *file->pMethods, .original = file->pMethods, .file = file };
    gate->methods.xLock = refuse_lock;
    file->pMethods = &gate->methods;
    return gate;
}

void strongroom_gate_open(strongroom_gate *gate) {
    if (gate && gate->file->pMethods == &gate->methods) gate->file->pMethods = gate->original;
    free(gate);
}

bool strongroom_has_used_pages(sqlite3 *db, bool in_memory) {
    const int counters[] = { SQLITE_DBSTATUS_CACHE_MISS, SQLITE_DBSTATUS_CACHE_WRITE, SQLITE_DBSTATUS_CACHE_HIT };
    for (int i = 0; i < (in_memory ? 3 : 2); i++) {
        int now = 0, highest = 0;
        if (sqlite3_db_status(db, counters[i], &now, &highest, 0) != SQLITE_OK || now > 0) return true;
    }
    return sqlite3_txn_state(db, "main") != SQLITE_TXN_NONE;
}

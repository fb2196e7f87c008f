#include "strongroom_fulltext.h"

#include <stddef.h>

int strongroom_fts5_api(sqlite3 *db, fts5_api **api) {
    sqlite3_stmt *statement = NULL;
    *api = NULL;
    int result = sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, NULL);
    if (result != SQLITE_OK) return result;
    result = sqlite3_bind_pointer(statement, 1, api, "fts5_api_ptr", NULL);
    if (result == SQLITE_OK) sqlite3_step(statement);
    int finished = sqlite3_finalize(statement);
    if (result == SQLITE_OK) result = finished;
    return result == SQLITE_OK && *api == NULL ? SQLITE_ERROR : result;
}

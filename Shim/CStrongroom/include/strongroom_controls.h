// Variadic and pointer-typed calls that Swift cannot express, and file controls.

#ifndef STRONGROOM_CONTROLS_H
#define STRONGROOM_CONTROLS_H

#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

/// sqlite3_db_config for its on/off options: it is variadic. `on` below 0 only asks. `state` receives the result.
int strongroom_db_config(sqlite3 *db, int option, int on, int *state);

/// SQLITE_FCNTL_PERSIST_WAL: 1 keeps -wal and -shm at closing, 0 lets them go, below 0 only asks. `state` receives the result.
int strongroom_persist_wal(sqlite3 *db, const char *schema, int on, int *state);

/// SQLITE_FCNTL_DATA_VERSION: a number that changes when another connection commits.
int strongroom_data_version(sqlite3 *db, const char *schema, uint32_t *version);

/// sqlite3_bind_text and sqlite3_bind_blob with SQLITE_TRANSIENT and SQLITE_STATIC, which are casts that Swift does not import.
int strongroom_bind_text(sqlite3_stmt *statement, int index, const char *text, int64_t length);
int strongroom_bind_text_static(sqlite3_stmt *statement, int index, const char *text, int64_t length);
int strongroom_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int64_t length);
int strongroom_bind_blob_static(sqlite3_stmt *statement, int index, const void *bytes, int64_t length);
void strongroom_result_text(sqlite3_context *context, const char *text, int64_t length);
void strongroom_result_blob(sqlite3_context *context, const void *bytes, int64_t length);

/// sqlite3_config for SQLITE_CONFIG_LOG: it is variadic. SQLITE_MISUSE once SQLite is in use.
int strongroom_config_log(void (*log)(void *context, int code, const char *message));

#endif

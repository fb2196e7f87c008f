// Calls of SQLite that Swift can't make: variadic functions, casts in place of functions, and functions that some
// versions lack.

#ifndef STRONGROOM_CALLS_H
#define STRONGROOM_CALLS_H

#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

/// Calls sqlite3_db_config for one of its Boolean options. A negative `on` only reads it. `state` receives the
/// result, and may be NULL.
int strongroom_db_config(sqlite3 *db, int option, int on, int *state);

// With SQLITE_TRANSIENT: the bytes are copied. An empty blob may be NULL.

int strongroom_bind_text(sqlite3_stmt *statement, int index, const char *text, int64_t length);
/// Binds a text in the encoding with SQLite's number: 1 for UTF-8, 2 and 3 for UTF-16 of either byte order.
int strongroom_bind_encoded_text(
    sqlite3_stmt *statement, int index, const void *text, int64_t length, int encoding);
int strongroom_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int64_t length);
void strongroom_result_text(sqlite3_context *context, const char *text, int64_t length);
void strongroom_result_blob(sqlite3_context *context, const void *bytes, int64_t length);

/// The number of rows that the most recent statement changed, and all statements since the connection was opened.
/// SQLCipher 4.5.0, whose SQLite is 3.36, counts in 32 bits.
#if SQLITE_VERSION_NUMBER >= 3037000
static inline int64_t strongroom_changes(sqlite3 *db) { return sqlite3_changes64(db); }
static inline int64_t strongroom_total_changes(sqlite3 *db) { return sqlite3_total_changes64(db); }
#else
static inline int64_t strongroom_changes(sqlite3 *db) { return sqlite3_changes(db); }
static inline int64_t strongroom_total_changes(sqlite3 *db) { return sqlite3_total_changes(db); }
#endif

#endif

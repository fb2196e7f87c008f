#include "strongroom_calls.h"

#include <stddef.h>

int strongroom_db_config(sqlite3 *db, int option, int on, int *state) {
    return sqlite3_db_config(db, option, on, state);
}

int strongroom_bind_text(sqlite3_stmt *statement, int index, const char *text, int64_t length) {
    return sqlite3_bind_text64(statement, index, text, (sqlite3_uint64)length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

int strongroom_bind_encoded_text(
    sqlite3_stmt *statement, int index, const void *text, int64_t length, int encoding)
{
    const void *bytes = length == 0 ? "" : text;
    return sqlite3_bind_text64(
        statement, index, bytes, (sqlite3_uint64)length, SQLITE_TRANSIENT, (unsigned char)encoding);
}

int strongroom_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int64_t length) {
    // A NULL pointer would bind NULL: an empty blob needs an address.
    return sqlite3_bind_blob64(statement, index, length == 0 ? "" : bytes, (sqlite3_uint64)length, SQLITE_TRANSIENT);
}

void strongroom_result_text(sqlite3_context *context, const char *text, int64_t length) {
    sqlite3_result_text64(context, text, (sqlite3_uint64)length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

void strongroom_result_blob(sqlite3_context *context, const void *bytes, int64_t length) {
    if (length == 0) sqlite3_result_zeroblob(context, 0);
    else sqlite3_result_blob64(context, bytes, (sqlite3_uint64)length, SQLITE_TRANSIENT);
}

#define SQLITE_HAS_CODEC 1
#include <sqlcipher/sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include "cwork.h"
#include "cwork_check.h"

/// A copy of the value in memory of its own, let go immediately: the bytes are counted through it.
static int64_t copied(sqlite3_stmt *statement, int column) {
    const void *bytes = sqlite3_column_type(statement, column) == SQLITE_BLOB ? sqlite3_column_blob(statement, column)
                                                                             : sqlite3_column_text(statement, column);
    int size = sqlite3_column_bytes(statement, column);
    char *volatile copy = malloc((size_t)size + 1);
    memcpy(copy, bytes, (size_t)size);
    free(copy);
    return size;
}

static sqlite3_stmt *prepare_for(sqlite3 *db, const char *select, int64_t argument) {
    sqlite3_stmt *statement = cwork_prepare(db, select);
    cwork_bind(db, statement, 1, argument);
    return statement;
}

static void finish(sqlite3 *db, sqlite3_stmt *statement, int code) {
    cwork_check(db, code, SQLITE_DONE);
    sqlite3_finalize(statement);
}

int64_t cwork_texts(sqlite3 *db, const char *select, int64_t count) {
    sqlite3_stmt *statement = prepare_for(db, select, count);
    int64_t bytes = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) bytes += copied(statement, 0) + copied(statement, 1);
    finish(db, statement, code);
    return bytes;
}

int64_t cwork_blobs(sqlite3 *db, const char *select, int64_t count) {
    sqlite3_stmt *statement = prepare_for(db, select, count);
    int64_t bytes = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) bytes += copied(statement, 0);
    finish(db, statement, code);
    return bytes;
}

void cwork_insert_texts(sqlite3 *db, const char *insert, const char *title, const char *body, int64_t count) {
    cwork_execute(db, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = cwork_prepare(db, insert);
    int title_size = (int)strlen(title), body_size = (int)strlen(body);
    for (int64_t n = 0; n < count; n++) {
        cwork_check(db, sqlite3_bind_text(statement, 1, title, title_size, SQLITE_STATIC), SQLITE_OK);
        cwork_check(db, sqlite3_bind_text(statement, 2, body, body_size, SQLITE_STATIC), SQLITE_OK);
        cwork_run(db, statement);
    }
    sqlite3_finalize(statement);
    cwork_execute(db, "COMMIT");
}

void cwork_insert_blobs(sqlite3 *db, const char *insert, int size, int64_t count) {
    cwork_execute(db, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = cwork_prepare(db, insert);
    char *bytes = calloc(1, (size_t)size);
    for (int64_t n = 0; n < count; n++) {
        cwork_check(db, sqlite3_bind_blob(statement, 1, bytes, size, SQLITE_STATIC), SQLITE_OK);
        cwork_run(db, statement);
    }
    sqlite3_finalize(statement);
    free(bytes);
    cwork_execute(db, "COMMIT");
}

int64_t cwork_tracks(sqlite3 *db, const char *select, int64_t last) {
    sqlite3_stmt *statement = prepare_for(db, select, last);
    int64_t sum = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        sum += sqlite3_column_int64(statement, 0) + sqlite3_column_int64(statement, 5);
        for (int column = 1; column < 5; column++) sum += copied(statement, column);
    }
    finish(db, statement, code);
    return sum;
}

int64_t cwork_invoice_lines(sqlite3 *db, const char *select, int64_t customers, int64_t count) {
    sqlite3_stmt *begin = cwork_prepare(db, "BEGIN"), *commit = cwork_prepare(db, "COMMIT");
    sqlite3_stmt *statement = cwork_prepare(db, select);
    int64_t sum = 0;
    for (int64_t n = 0; n < count; n++) {
        cwork_run(db, begin);
        cwork_bind(db, statement, 1, 1 + n % customers);
        int code;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            sum += sqlite3_column_int64(statement, 0) + sqlite3_column_int64(statement, 2);
            sum += (int64_t)(sqlite3_column_double(statement, 3) * 100 + 0.5);
            sum += copied(statement, 1) + copied(statement, 4);
        }
        cwork_check(db, code, SQLITE_DONE);
        cwork_check(db, sqlite3_reset(statement), SQLITE_OK);
        cwork_run(db, commit);
    }
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(statement);
    return sum;
}

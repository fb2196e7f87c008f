#define SQLITE_HAS_CODEC 1
#include <sqlcipher/sqlite3.h>
#include <string.h>
#include "cwork.h"
#include "cwork_check.h"

sqlite3 *cwork_open(const char *path, const char *key) {
    sqlite3 *db;
    cwork_check(NULL, sqlite3_open_v2(path, &db,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL), SQLITE_OK);
    cwork_check(db, sqlite3_key(db, key, (int)strlen(key)), SQLITE_OK);
    // A reader that meets the log's index while it changes takes the write lock for an instant.
    cwork_check(db, sqlite3_busy_timeout(db, 5000), SQLITE_OK);
    cwork_execute(db, "PRAGMA journal_mode = WAL");
    cwork_execute(db, "PRAGMA synchronous = NORMAL");
    return db;
}

void cwork_close(sqlite3 *db) {
    cwork_check(db, sqlite3_close(db), SQLITE_OK);
}

void cwork_execute(sqlite3 *db, const char *sql) {
    cwork_check(db, sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

int64_t cwork_one(sqlite3 *db, const char *select) {
    sqlite3_stmt *statement = cwork_prepare(db, select);
    cwork_check(db, sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

void cwork_fill(sqlite3 *db, const char *insert, int width, int64_t count) {
    cwork_execute(db, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = cwork_prepare(db, insert);
    for (int64_t n = 0; n < count; n++) {
        for (int column = 0; column < width; column++)
            cwork_bind(db, statement, column + 1, width == 2 ? (column == 0 ? n : 7 * n) : n + column);
        cwork_run(db, statement);
    }
    sqlite3_finalize(statement);
    cwork_execute(db, "COMMIT");
}

int64_t cwork_rows(sqlite3 *db, const char *select, int width, int64_t count) {
    sqlite3_stmt *statement = cwork_prepare(db, select);
    cwork_bind(db, statement, 1, count);
    int64_t sum = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        for (int column = 0; column < width; column++) sum += sqlite3_column_int64(statement, column);
    cwork_check(db, code, SQLITE_DONE);
    sqlite3_finalize(statement);
    return sum;
}

int64_t cwork_points(sqlite3 *db, const char *select, int64_t count, int64_t modulus, int transactions) {
    sqlite3_stmt *begin = cwork_prepare(db, "BEGIN"), *commit = cwork_prepare(db, "COMMIT");
    sqlite3_stmt *statement = cwork_prepare(db, select);
    int64_t sum = 0;
    if (!transactions) cwork_run(db, begin);
    for (int64_t n = 0; n < count; n++) {
        if (transactions) cwork_run(db, begin);
        cwork_bind(db, statement, 1, (n * 7919) % modulus);
        cwork_check(db, sqlite3_step(statement), SQLITE_ROW);
        sum += sqlite3_column_int64(statement, 0);
        cwork_check(db, sqlite3_reset(statement), SQLITE_OK);
        if (transactions) cwork_run(db, commit);
    }
    if (!transactions) cwork_run(db, commit);
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(statement);
    return sum;
}

static void insert_row(sqlite3 *db, sqlite3_stmt *statement, int width, int64_t n) {
    for (int column = 0; column < width; column++) cwork_bind(db, statement, column + 1, n % 100 + column);
    cwork_run(db, statement);
}

int64_t cwork_inserts(sqlite3 *db, const char *insert, const char *count_sql, int width, int64_t count) {
    cwork_execute(db, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = cwork_prepare(db, insert);
    for (int64_t n = 0; n < count; n++) insert_row(db, statement, width, n);
    sqlite3_finalize(statement);
    cwork_execute(db, "COMMIT");
    return cwork_one(db, count_sql);
}

int64_t cwork_small_transactions(sqlite3 *db, const char *insert, const char *count_sql, int width, int64_t count) {
    sqlite3_stmt *begin = cwork_prepare(db, "BEGIN IMMEDIATE"), *commit = cwork_prepare(db, "COMMIT");
    sqlite3_stmt *statement = cwork_prepare(db, insert);
    for (int64_t n = 0; n < count; n++) {
        cwork_run(db, begin);
        insert_row(db, statement, width, n);
        cwork_run(db, commit);
    }
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(statement);
    return cwork_one(db, count_sql);
}

#define SQLITE_HAS_CODEC 1
#include <sqlcipher/sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cwork.h"

static void check(sqlite3 *db, int code, int expected) {
    if (code == expected) return;
    fprintf(stderr, "sqlite error %d: %s\n", code, sqlite3_errmsg(db));
    exit(1);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    check(db, sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    return statement;
}

static void run(sqlite3 *db, sqlite3_stmt *statement) {
    check(db, sqlite3_step(statement), SQLITE_DONE);
    sqlite3_reset(statement);
}

sqlite3 *cwork_open(const char *path, const char *key) {
    sqlite3 *db;
    check(NULL, sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL), SQLITE_OK);
    check(db, sqlite3_key(db, key, (int)strlen(key)), SQLITE_OK);
    cwork_execute(db, "PRAGMA journal_mode = WAL");
    cwork_execute(db, "PRAGMA synchronous = NORMAL");
    return db;
}

void cwork_close(sqlite3 *db) {
    check(db, sqlite3_close(db), SQLITE_OK);
}

void cwork_execute(sqlite3 *db, const char *sql) {
    check(db, sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

int64_t cwork_one(sqlite3 *db, const char *select) {
    sqlite3_stmt *statement = prepare(db, select);
    check(db, sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

void cwork_fill(sqlite3 *db, const char *insert, int width, int64_t count) {
    cwork_execute(db, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = prepare(db, insert);
    for (int64_t n = 0; n < count; n++) {
        for (int column = 0; column < width; column++)
            sqlite3_bind_int64(statement, column + 1, width == 2 ? (column == 0 ? n : 7 * n) : n + column);
        run(db, statement);
    }
    sqlite3_finalize(statement);
    cwork_execute(db, "COMMIT");
}

int64_t cwork_rows(sqlite3 *db, const char *select, int width, int64_t count) {
    sqlite3_stmt *statement = prepare(db, select);
    sqlite3_bind_int64(statement, 1, count);
    int64_t sum = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        for (int column = 0; column < width; column++) sum += sqlite3_column_int64(statement, column);
    check(db, code, SQLITE_DONE);
    sqlite3_finalize(statement);
    return sum;
}

int64_t cwork_points(sqlite3 *db, const char *select, int64_t count, int64_t modulus, int transactions) {
    sqlite3_stmt *begin = prepare(db, "BEGIN"), *commit = prepare(db, "COMMIT"), *statement = prepare(db, select);
    int64_t sum = 0;
    if (!transactions) run(db, begin);
    for (int64_t n = 0; n < count; n++) {
        if (transactions) run(db, begin);
        sqlite3_bind_int64(statement, 1, (n * 7919) % modulus);
        check(db, sqlite3_step(statement), SQLITE_ROW);
        sum += sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
        if (transactions) run(db, commit);
    }
    if (!transactions) run(db, commit);
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(statement);
    return sum;
}

static void insert_row(sqlite3 *db, sqlite3_stmt *statement, int width, int64_t n) {
    for (int column = 0; column < width; column++) sqlite3_bind_int64(statement, column + 1, n + column);
    run(db, statement);
}

int64_t cwork_inserts(sqlite3 *db, const char *insert, const char *count_sql, int width, int64_t count) {
    cwork_execute(db, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = prepare(db, insert);
    for (int64_t n = 0; n < count; n++) insert_row(db, statement, width, n);
    sqlite3_finalize(statement);
    cwork_execute(db, "COMMIT");
    return cwork_one(db, count_sql);
}

int64_t cwork_small_transactions(sqlite3 *db, const char *insert, const char *count_sql, int width, int64_t count) {
    sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT"), *statement = prepare(db, insert);
    for (int64_t n = 0; n < count; n++) {
        run(db, begin);
        insert_row(db, statement, width, n);
        run(db, commit);
    }
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(statement);
    return cwork_one(db, count_sql);
}

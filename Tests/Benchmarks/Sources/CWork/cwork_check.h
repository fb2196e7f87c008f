// The base of all the C work: every result code is checked.

#ifndef CWORK_CHECK_H
#define CWORK_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline void cwork_check(sqlite3 *db, int code, int expected) {
    if (code == expected) return;
    fprintf(stderr, "sqlite error %d: %s\n", code, sqlite3_errmsg(db));
    exit(1);
}

static inline sqlite3_stmt *cwork_prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    cwork_check(db, sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    return statement;
}

static inline void cwork_run(sqlite3 *db, sqlite3_stmt *statement) {
    cwork_check(db, sqlite3_step(statement), SQLITE_DONE);
    cwork_check(db, sqlite3_reset(statement), SQLITE_OK);
}

static inline void cwork_bind(sqlite3 *db, sqlite3_stmt *statement, int column, int64_t value) {
    cwork_check(db, sqlite3_bind_int64(statement, column, value), SQLITE_OK);
}

#endif

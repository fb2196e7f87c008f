// The work in plain C on SQLCipher, with prepared statements: what the others are measured against.

#ifndef CWORK_H
#define CWORK_H

#include <stdint.h>

typedef struct sqlite3 sqlite3;

/// Opens a database with a key; stops the program on failure, as all of these do.
sqlite3 *cwork_open(const char *path, const char *key);
void cwork_close(sqlite3 *db);
void cwork_execute(sqlite3 *db, const char *sql);

/// Fills a table of `width` integer columns with rows of n, n + 1, …, or (n, 7 n) when the width is 2.
void cwork_fill(sqlite3 *db, const char *insert, int width, int64_t count);

int64_t cwork_rows(sqlite3 *db, const char *select, int width, int64_t count);
int64_t cwork_points(sqlite3 *db, const char *select, int64_t count, int64_t modulus, int transactions);
int64_t cwork_inserts(sqlite3 *db, const char *insert, const char *count_sql, int width, int64_t count);
int64_t cwork_small_transactions(sqlite3 *db, const char *insert, const char *count_sql, int width, int64_t count);
int64_t cwork_one(sqlite3 *db, const char *select);

#endif

// The work in plain C on SQLCipher, with prepared statements: what the others are measured against.

#ifndef CWORK_H
#define CWORK_H

#include <stdint.h>

typedef struct sqlite3 sqlite3;

/// Opens a database with a key; stops the program on failure, as all of these do.
sqlite3 *cwork_open(const char *path, const char *key);
void cwork_close(sqlite3 *db);
void cwork_execute(sqlite3 *db, const char *sql);
int64_t cwork_one(sqlite3 *db, const char *select);

/// Fills a table of `width` integer columns with rows of n, n + 1, …, or (n, 7 n) when the width is 2.
void cwork_fill(sqlite3 *db, const char *insert, int width, int64_t count);

int64_t cwork_rows(sqlite3 *db, const char *select, int width, int64_t count);
/// Those, and the mixed rows, kept in an array that grows; they give the sum when all are there.
int64_t cwork_rows_in_array(sqlite3 *db, const char *select, int64_t count);
int64_t cwork_mixed_in_array(sqlite3 *db, const char *select, int64_t count);
int64_t cwork_points(sqlite3 *db, const char *select, int64_t count, int64_t modulus, int transactions);
int64_t cwork_inserts(sqlite3 *db, const char *insert, const char *count_sql, int width, int64_t count);
/// Each read on another thread, which gets the request and hands back the result by a condition variable.
int64_t cwork_points_handed_over(sqlite3 *db, const char *select, int64_t count, int64_t modulus);
int64_t cwork_small_transactions(sqlite3 *db, const char *insert, const char *count_sql, int width, int64_t count);

/// Texts and blobs are copied out of the statement, as every program has to that keeps them. They give bytes.
int64_t cwork_texts(sqlite3 *db, const char *select, int64_t count);
int64_t cwork_blobs(sqlite3 *db, const char *select, int64_t count);
void cwork_insert_texts(sqlite3 *db, const char *insert, const char *title, const char *body, int64_t count);
void cwork_insert_blobs(sqlite3 *db, const char *insert, int size, int64_t count);

int64_t cwork_tracks(sqlite3 *db, const char *select, int64_t last);
int64_t cwork_invoice_lines(sqlite3 *db, const char *select, int64_t customers, int64_t count);

/// Statements for accesses one by one: reads of a range of points, and inserts.
typedef struct cwork_session {
    sqlite3 *db;
    struct sqlite3_stmt *begin, *begin_immediate, *commit, *range, *insert;
} cwork_session;

cwork_session cwork_session_begin(sqlite3 *db, const char *range, const char *insert);
void cwork_session_end(cwork_session *session);
int64_t cwork_session_read(cwork_session *session, int64_t first, int64_t length);
void cwork_session_insert(cwork_session *session, int width, int64_t n);
void cwork_session_transaction(cwork_session *session, int width, int64_t n);

#endif

#define SQLITE_HAS_CODEC 1
#include <sqlcipher/sqlite3.h>
#include "cwork.h"
#include "cwork_check.h"

cwork_session cwork_session_begin(sqlite3 *db, const char *range, const char *insert) {
    return (cwork_session){
        .db = db,
        .begin = cwork_prepare(db, "BEGIN"),
        .begin_immediate = cwork_prepare(db, "BEGIN IMMEDIATE"),
        .commit = cwork_prepare(db, "COMMIT"),
        .range = cwork_prepare(db, range),
        .insert = cwork_prepare(db, insert),
    };
}

void cwork_session_end(cwork_session *session) {
    sqlite3_finalize(session->begin);
    sqlite3_finalize(session->begin_immediate);
    sqlite3_finalize(session->commit);
    sqlite3_finalize(session->range);
    sqlite3_finalize(session->insert);
}

int64_t cwork_session_read(cwork_session *session, int64_t first, int64_t length) {
    cwork_run(session->db, session->begin);
    cwork_bind(session->db, session->range, 1, first);
    cwork_bind(session->db, session->range, 2, first + length);
    int64_t sum = 0;
    int code;
    while ((code = sqlite3_step(session->range)) == SQLITE_ROW) sum += sqlite3_column_int64(session->range, 0);
    cwork_check(session->db, code, SQLITE_DONE);
    cwork_check(session->db, sqlite3_reset(session->range), SQLITE_OK);
    cwork_run(session->db, session->commit);
    return sum;
}

void cwork_session_insert(cwork_session *session, int width, int64_t n) {
    for (int column = 0; column < width; column++)
        cwork_bind(session->db, session->insert, column + 1, n % 100 + column);
    cwork_run(session->db, session->insert);
}

void cwork_session_transaction(cwork_session *session, int width, int64_t n) {
    cwork_run(session->db, session->begin_immediate);
    cwork_session_insert(session, width, n);
    cwork_run(session->db, session->commit);
}

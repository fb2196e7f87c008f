#define SQLITE_HAS_CODEC 1
#include <sqlcipher/sqlite3.h>
#include <pthread.h>
#include "cwork.h"
#include "cwork_check.h"

// Reads on another thread, each handed over and back: what a program without async functions does to keep its main
// thread free.

typedef enum { idle, requested, answered, ended } turn;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    turn turn;
    int64_t id, value;
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *select;
} desk;

static int64_t read_point(desk *desk) {
    cwork_run(desk->db, desk->begin);
    cwork_bind(desk->db, desk->select, 1, desk->id);
    cwork_check(desk->db, sqlite3_step(desk->select), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(desk->select, 0);
    cwork_check(desk->db, sqlite3_reset(desk->select), SQLITE_OK);
    cwork_run(desk->db, desk->commit);
    return value;
}

static void *serve(void *argument) {
    desk *desk = argument;
    pthread_mutex_lock(&desk->lock);
    while (1) {
        while (desk->turn != requested && desk->turn != ended) pthread_cond_wait(&desk->changed, &desk->lock);
        if (desk->turn == ended) break;
        desk->value = read_point(desk);
        desk->turn = answered;
        pthread_cond_signal(&desk->changed);
    }
    pthread_mutex_unlock(&desk->lock);
    return NULL;
}

int64_t cwork_points_handed_over(sqlite3 *db, const char *select, int64_t count, int64_t modulus) {
    desk desk = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .turn = idle,
        .db = db,
        .begin = cwork_prepare(db, "BEGIN"),
        .commit = cwork_prepare(db, "COMMIT"),
        .select = cwork_prepare(db, select),
    };
    pthread_t thread;
    pthread_create(&thread, NULL, serve, &desk);
    int64_t sum = 0;
    pthread_mutex_lock(&desk.lock);
    for (int64_t n = 0; n < count; n++) {
        desk.id = (n * 7919) % modulus;
        desk.turn = requested;
        pthread_cond_signal(&desk.changed);
        while (desk.turn != answered) pthread_cond_wait(&desk.changed, &desk.lock);
        sum += desk.value;
    }
    desk.turn = ended;
    pthread_cond_signal(&desk.changed);
    pthread_mutex_unlock(&desk.lock);
    pthread_join(thread, NULL);
    sqlite3_finalize(desk.begin);
    sqlite3_finalize(desk.commit);
    sqlite3_finalize(desk.select);
    return sum;
}

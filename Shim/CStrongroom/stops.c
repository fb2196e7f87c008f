#include "CStrongroom.h"

bool strongroom_connection_holds_lock(strongroom_connection *connection) {
    if (connection->db == NULL) return false;
    int state = sqlite3_txn_state(connection->db, NULL);
    return connection->wal ? state == SQLITE_TXN_WRITE : state != SQLITE_TXN_NONE;
}

int strongroom_should_stop(void *context) {
    strongroom_connection *connection = context;
    uint32_t stops = strongroom_stops(connection);
    // SQLite asks once more when a statement is done: a COMMIT must not be reported as interrupted after the fact.
    if (stops == 0 || connection->ends_transaction) return 0;
    if (stops & STRONGROOM_CANCELLED) return 1;
    return strongroom_connection_holds_lock(connection);
}

void strongroom_connection_watch(strongroom_connection *connection, int (*watch)(void *context), void *context) {
    if (watch) sqlite3_progress_handler(connection->db, 20000, watch, context);
    else sqlite3_progress_handler(connection->db, 1000, strongroom_should_stop, connection);
}

void strongroom_connection_suspend(strongroom_connection *connection) {
    __atomic_fetch_or(&connection->stops, STRONGROOM_SUSPENDED, __ATOMIC_SEQ_CST);
}

void strongroom_connection_resume(strongroom_connection *connection) {
    __atomic_fetch_and(&connection->stops, ~(uint32_t)STRONGROOM_SUSPENDED, __ATOMIC_SEQ_CST);
}

void strongroom_connection_cancel(strongroom_connection *connection) {
    __atomic_fetch_or(&connection->stops, STRONGROOM_CANCELLED, __ATOMIC_SEQ_CST);
    // The progress handler would do, unless the application has put its own in its place.
    strongroom_connection_interrupt(connection);
}

bool strongroom_connection_end_cancellation(strongroom_connection *connection) {
    if ((strongroom_stops(connection) & STRONGROOM_CANCELLED) == 0) return false;
    __atomic_fetch_and(&connection->stops, ~(uint32_t)STRONGROOM_CANCELLED, __ATOMIC_SEQ_CST);
    return true;
}

bool strongroom_connection_stops_wait(strongroom_connection *connection, int tries) {
    if (tries == 0) connection->wait_was_stopped = false;
    if (strongroom_stops(connection) != 0) connection->wait_was_stopped = true;
    return connection->wait_was_stopped;
}

bool strongroom_connection_end_wait(strongroom_connection *connection) {
    bool was_stopped = connection->wait_was_stopped;
    connection->wait_was_stopped = false;
    return was_stopped;
}

static int wait_for_lock(void *context, int tries) {
    static const int delays[] = {1, 2, 5, 10, 15, 20, 25};
    strongroom_connection *connection = context;
    if (tries == 0) connection->busy_waited = 0;
    if (strongroom_connection_stops_wait(connection, tries)) return 0;
    int last = (int)(sizeof delays / sizeof delays[0]) - 1;
    int delay = delays[tries < last ? tries : last];
    int left = connection->busy_timeout - connection->busy_waited;
    if (left <= 0) return 0;
    if (delay > left) delay = left;
    sqlite3_sleep(delay);
    connection->busy_waited += delay;
    return 1;
}

int strongroom_connection_busy_timeout(strongroom_connection *connection, int milliseconds) {
    connection->busy_timeout = milliseconds;
    if (milliseconds <= 0) return sqlite3_busy_handler(connection->db, NULL, NULL);
    return sqlite3_busy_handler(connection->db, wait_for_lock, connection);
}

// What this thread is telling of a change at this moment.
static _Thread_local const void *told_now;

const void *strongroom_told(void) {
    return told_now;
}

const void *strongroom_set_told(const void *told) {
    const void *former = told_now;
    told_now = told;
    return former;
}

// The connections that this thread has access to, innermost first.
static _Thread_local strongroom_connection *innermost;

void strongroom_connection_push(strongroom_connection *connection) {
    connection->outer = innermost;
    innermost = connection;
}

void strongroom_connection_pop(strongroom_connection *connection) {
    innermost = connection->outer;
    connection->outer = NULL;
}

bool strongroom_is_inside(const strongroom_connection *connection) {
    const strongroom_connection *outer = innermost;
    while (outer != NULL && outer != connection) outer = outer->outer;
    return outer != NULL;
}

int strongroom_nested_setups(void) {
    int count = 0;
    for (const strongroom_connection *outer = innermost; outer != NULL; outer = outer->outer) count += !outer->is_set_up;
    return count;
}

strongroom_connection *strongroom_innermost_in_group(uintptr_t group) {
    strongroom_connection *connection = innermost;
    while (connection != NULL && connection->group != group) connection = connection->outer;
    return connection;
}

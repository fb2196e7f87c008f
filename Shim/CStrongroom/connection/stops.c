// The stops of a connection, and what they reach.

#include "strongroom_stops.h"
#include "../process/clock.h"

// MARK: - Stopping, from any thread

// A stop sets its bit first, and then reads the reach. A thread that narrows the reach sets it first, and then reads
// the bits. So SQLite is never told to interrupt work that is out of reach, or it is known that the interruption must
// be cleared.

static void set(strongroom_connection *connection, uint32_t stop) {
    __atomic_fetch_or(&connection->stops, stop, __ATOMIC_SEQ_CST);
}

static void clear(strongroom_connection *connection, uint32_t stops) {
    __atomic_fetch_and(&connection->stops, ~stops, __ATOMIC_SEQ_CST);
}

static bool is_reached(strongroom_connection *connection, uint32_t stop) {
    return strongroom_is_accessed(connection) && (__atomic_load_n(&connection->reach, __ATOMIC_SEQ_CST) & stop) != 0;
}

/// Interrupts SQLite. The progress handler would suffice, unless the program has replaced it.
static void tell_sqlite(strongroom_connection *connection, uint32_t stop) {
    // Without the lock: a destructor that runs while the connection is closed may call this.
    if (!is_reached(connection, stop)) return;
    pthread_mutex_lock(&connection->lock);
    if (connection->db != NULL && is_reached(connection, stop)) {
        __atomic_store_n(&connection->raised, true, __ATOMIC_RELAXED);
        sqlite3_interrupt(connection->db);
    }
    pthread_mutex_unlock(&connection->lock);
}

void strongroom_connection_interrupt(strongroom_connection *connection) {
    if (!strongroom_is_accessed(connection)) return;
    set(connection, STRONGROOM_INTERRUPTED);
    tell_sqlite(connection, STRONGROOM_INTERRUPTED);
}

void strongroom_connection_suspend(strongroom_connection *connection, bool interrupts) {
    set(connection, STRONGROOM_SUSPENDED);
    if (interrupts) tell_sqlite(connection, STRONGROOM_SUSPENDED);
}

void strongroom_connection_resume(strongroom_connection *connection) {
    clear(connection, STRONGROOM_SUSPENDED);
}

void strongroom_connection_lock(strongroom_connection *connection) {
    set(connection, STRONGROOM_LOCKED);
    tell_sqlite(connection, STRONGROOM_LOCKED);
}

void strongroom_connection_end_lock(strongroom_connection *connection) {
    clear(connection, STRONGROOM_LOCKED);
}

void strongroom_connection_cancel(strongroom_connection *connection) {
    set(connection, STRONGROOM_CANCELLED);
    tell_sqlite(connection, STRONGROOM_CANCELLED);
}

// MARK: - With access

void strongroom_connection_end_cancellation(strongroom_connection *connection) {
    clear(connection, STRONGROOM_CANCELLED);
}

void strongroom_connection_set_undone(strongroom_connection *connection, bool undone) {
    undone ? set(connection, STRONGROOM_UNDONE) : clear(connection, STRONGROOM_UNDONE);
}

static int running_count(sqlite3 *db) {
    int count = 0;
    if (db == NULL) return count;
    for (sqlite3_stmt *statement = NULL; (statement = sqlite3_next_stmt(db, statement)) != NULL;)
        if (sqlite3_stmt_busy(statement)) count++;
    return count;
}

static bool is_running(sqlite3 *db) { return running_count(db) > 0; }

static bool is_raised(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->raised, __ATOMIC_RELAXED);
}

bool strongroom_connection_settle(strongroom_connection *connection) {
    if (strongroom_stops(connection) == 0 && !is_raised(connection)) return true;
    pthread_mutex_lock(&connection->lock);
    if (connection->raised && connection->db != NULL && !is_running(connection->db)) {
        // The compiler clears interruptions when no statement runs. It compiles an empty text.
        sqlite3_stmt *none = NULL;
        bool has_forgotten = sqlite3_prepare_v2(connection->db, "", -1, &none, NULL) == SQLITE_OK;
        connection->stopped = true;
        __atomic_store_n(&connection->raised, !has_forgotten, __ATOMIC_RELAXED);
    }
    bool is_settled = !connection->raised;
    pthread_mutex_unlock(&connection->lock);
    return is_settled;
}

void strongroom_forget_interruption(strongroom_connection *connection) {
    clear(connection, STRONGROOM_INTERRUPTED);
    strongroom_connection_settle(connection);
}

bool strongroom_connection_was_stopped(const strongroom_connection *connection) {
    return connection->stopped || is_raised(connection);
}

void strongroom_connection_end_stops(strongroom_connection *connection) {
    strongroom_commit_ends(connection);
    if (connection->stopped) clear(connection, STRONGROOM_UNDONE);
    if (is_raised(connection) || strongroom_stops(connection) != 0) strongroom_forget_interruption(connection);
    connection->stopped = connection->tripped = false;
}

uint32_t strongroom_narrow(strongroom_connection *connection, uint32_t reach) {
    uint32_t former = connection->reach;
    __atomic_store_n(&connection->reach, former & reach, __ATOMIC_SEQ_CST);
    bool has_stops = __atomic_load_n(&connection->stops, __ATOMIC_SEQ_CST) != 0;
    if (has_stops || is_raised(connection)) strongroom_connection_settle(connection);
    return former;
}

void strongroom_restore_reach(strongroom_connection *connection, uint32_t former) {
    __atomic_store_n(&connection->reach, former, __ATOMIC_RELEASE);
}

void strongroom_commit_begins(strongroom_connection *connection) {
    if (connection->reach_before_commit == 0)
        connection->reach_before_commit = strongroom_narrow(connection, STRONGROOM_REACH_WAITS);
}

void strongroom_commit_ends(strongroom_connection *connection) {
    if (connection->reach_before_commit != 0) strongroom_restore_reach(connection, connection->reach_before_commit);
    connection->reach_before_commit = 0;
}

uint32_t strongroom_connection_begin(strongroom_connection *connection) {
    connection->tripped = false;
    // Statements of the library's own do not end an interruption of the user's work.
    bool is_reached = (connection->reach & STRONGROOM_INTERRUPTED) != 0;
    if (is_reached && strongroom_connection_settle(connection) && !is_running(connection->db))
        clear(connection, STRONGROOM_INTERRUPTED);
    return strongroom_stops(connection);
}

// MARK: - Being stopped

static bool stop(strongroom_connection *connection) {
    connection->stopped = true;
    return true;
}

int strongroom_should_stop(void *context) {
    strongroom_connection *connection = context;
    uint32_t stops = strongroom_reaching_stops(connection);
    if (stops == 0) return 0;
    // A read of a write-ahead log may go on, or began when the database was already suspended.
    if (stops == STRONGROOM_SUSPENDED && !strongroom_connection_holds_lock(connection)) return 0;
    connection->tripped = true;
    return stop(connection);
}

// MARK: - Limits

void strongroom_connection_limit(strongroom_connection *connection, uint64_t duration, int64_t memory) {
    connection->deadline = duration == 0 ? 0 : nanoseconds() + duration;
    sqlite3_int64 used = sqlite3_memory_used();
    // The greatest number means no limit: the sum must not be beyond it.
    connection->memory_limit = memory == 0 ? 0 : memory > INT64_MAX - used ? INT64_MAX : used + memory;
    connection->overrun = 0;
}

uint32_t strongroom_connection_overrun(strongroom_connection *connection) {
    if (connection->deadline != 0 && nanoseconds() > connection->deadline) connection->overrun |= STRONGROOM_LATE;
    if (connection->memory_limit != 0 && sqlite3_memory_used() > connection->memory_limit)
        connection->overrun |= STRONGROOM_LARGE;
    return connection->overrun;
}

int strongroom_progress_stops(void *context) {
    strongroom_connection *connection = context;
    bool is_limited = connection->deadline != 0 || connection->memory_limit != 0;
    if (is_limited && strongroom_connection_overrun(connection) != 0) return 1;
    return connection->watch ? connection->watch(connection->watch_context) : strongroom_should_stop(connection);
}

int strongroom_stops_file(strongroom_connection *connection, bool moves_log) {
    if (strongroom_stops(connection) == 0 || connection->tripped) return SQLITE_OK;
    if (!strongroom_has_access(connection)) return SQLITE_OK;
    // A commit has happened before its checkpoint, and closing can't be undone.
    uint32_t reach = __atomic_load_n(&connection->reach, __ATOMIC_RELAXED);
    bool leaves_log = moves_log && (strongroom_stops(connection) & (reach >> 8) & STRONGROOM_SUSPENDED) != 0;
    return leaves_log || strongroom_should_stop(connection) ? SQLITE_INTERRUPT : SQLITE_OK;
}

bool strongroom_leaves_journal(strongroom_connection *connection, bool restores) {
    if ((strongroom_stops(connection) & STRONGROOM_SUSPENDED) == 0 || connection->is_exclusive) return false;
    // SQLite ends a statement that sqlite3_interrupt has reached without calling the files.
    bool rolls_back = connection->rolls_back || connection->tripped || (restores && is_raised(connection));
    // A cursor would go on in the state that was not restored, and keep the lock.
    return rolls_back && running_count(connection->db) <= 1;
}

void strongroom_connection_watch(strongroom_connection *connection, int (*watch)(void *context), void *context) {
    connection->watch = watch;
    connection->watch_context = context;
    sqlite3_progress_handler(connection->db, watch ? 20000 : 1000, strongroom_progress_stops, connection);
}

bool strongroom_connection_stops_wait(strongroom_connection *connection, int tries) {
    if (tries == 0) {
        connection->wait_was_stopped = false;
        strongroom_count(connection, STRONGROOM_BUSY_WAITS);
    }
    uint32_t reach = __atomic_load_n(&connection->reach, __ATOMIC_RELAXED);
    if ((strongroom_stops(connection) & (reach >> 8)) != 0) connection->wait_was_stopped = stop(connection);
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

// One owner per connection: the handle closes it, finalizes what outlived it, and interrupts it from any thread.

#ifndef STRONGROOM_CONNECTION_H
#define STRONGROOM_CONNECTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

struct strongroom_file;

/// What a connection's users share across threads. What is atomic, or guarded by a lock, is touched through the
/// functions below only: Swift has no atomic access to imported fields. The rest belongs to the thread that has
/// access.
typedef struct strongroom_connection {
    sqlite3 *db;              ///< NULL once closed. Guarded by `lock`.
    pthread_mutex_t lock;     ///< Shared by interrupt and close: a late interrupt meets NULL, never freed memory.
    /// Orders the last statements of an abandoned connection. What they free may call the program.
    pthread_mutex_t last;
    uintptr_t owner;          ///< The thread that has access now, 0 when none. Atomic.
    /// The function of the program that runs, and must not use the connection; NULL when none. Atomic.
    const char *barred_in;
    bool zombie;              ///< Closed while statements were alive; the last of them frees it.
    sqlite3_stmt **orphans;   ///< Statements released by threads without access, to be finalized by the next access.
    int orphan_count;
    int orphan_capacity;
    uint32_t stops;           ///< Why the access stops: STRONGROOM_SUSPENDED and its kin. Atomic.
    uint32_t reach;           ///< Which of them reach what runs now. Atomic; see strongroom_narrow.
    uint32_t outer_reach;     ///< The reach around the statement that begins or ends a transaction.
    /// The reach of the statement that commits by itself; 0 when none does.
    uint32_t reach_before_commit;
    bool raised;              ///< SQLite was told to interrupt, and may not have noticed. Guarded by `lock`.
    bool stopped;             ///< The access has met a stop.
    bool tripped;             ///< The statement was stopped: what SQLite does with the files now is to undo.
    bool rolls_back;          ///< A whole transaction is being rolled back.
    /// The program has asked for PRAGMA locking_mode = EXCLUSIVE: SQLite may look for no journal.
    bool is_exclusive;
    uint32_t locks;           ///< How many locks on its files keep others out. Atomic.
    struct strongroom_file *databases; ///< The open database files: the main one, and those that are attached.
    /// SQLCipher would free a secret twice: the database is left open, and its memory is lost.
    bool unfreeable;
    int busy_timeout;         ///< Milliseconds.
    int busy_waited;          ///< Milliseconds that the present wait has lasted.
    /// The latest wait for a lock was given up by an access that was stopped, which may be over by now.
    bool wait_was_stopped;
    uint64_t commits;         ///< Transactions that changed something, counted once they are on disk. Atomic.
    bool is_set_up;           ///< False while the program's set-up function runs.
    uintptr_t group;          ///< What the connections of one pool have in common.
    struct strongroom_connection *outer; ///< The connection that the same thread has access to around this access.
} strongroom_connection;

/// Opens a connection; `*out` is set only on SQLITE_OK. `message` receives SQLite's words, to be freed with
/// sqlite3_free. `vfs` is the one that `path`, a URI, names; NULL where it names none.
int strongroom_connection_open(
    const char *path, int flags, const char *vfs, strongroom_connection **out, char **message);

/// Closes the connection: SQLITE_BUSY, and nothing changed, when statements are alive.
int strongroom_connection_close(strongroom_connection *connection);

/// Closes the connection for good: SQLite frees it when its last statement is finalized.
void strongroom_connection_abandon(strongroom_connection *connection);

/// Reads the schema for the first time after a key was set, which is when SQLCipher derives and copies it. Refused a
/// few bytes there, it frees a secret twice when it closes the database: after SQLITE_NOMEM, close or abandon the
/// connection, and take care of nothing else.
int strongroom_connection_first_read(strongroom_connection *connection);

/// Frees the handle itself, after close or abandon and after the last statement.
void strongroom_connection_free(strongroom_connection *connection);

/// Why statements may not run now; 0 when they may.
static inline uint32_t strongroom_stops(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->stops, __ATOMIC_RELAXED);
}

/// Ends the interruption of an access that is over.
void strongroom_forget_interruption(strongroom_connection *connection);

/// Finalizes a statement, now if the calling thread has access, else at the next access or at closing.
void strongroom_statement_release(strongroom_connection *connection, sqlite3_stmt *statement);

/// Finalizes the statements that other threads released. The calling thread has access.
void strongroom_connection_collect(strongroom_connection *connection);

/// Counts a transaction of the calling thread, which has access.
static inline void strongroom_count_commit(strongroom_connection *connection) {
    __atomic_fetch_add(&connection->commits, 1, __ATOMIC_RELEASE);
}

/// How many transactions were counted. Safe from any thread.
static inline uint64_t strongroom_commits(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->commits, __ATOMIC_ACQUIRE);
}

/// A number that tells the calling thread from all others that run.
static inline uintptr_t strongroom_thread(void) {
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__)
    // One instruction, where pthread_self is a call: rows ask this for every value they give.
    return (uintptr_t)__builtin_thread_pointer();
#else
    return (uintptr_t)pthread_self();
#endif
}

/// Whether the calling thread has access to the connection.
static inline bool strongroom_has_access(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->owner, __ATOMIC_RELAXED) == strongroom_thread();
}

/// Gives access to the calling thread; returns the former owner, to be restored on exit.
static inline uintptr_t strongroom_enter(strongroom_connection *connection) {
    uintptr_t former = __atomic_exchange_n(&connection->owner, strongroom_thread(), __ATOMIC_ACQ_REL);
    if (__atomic_load_n(&connection->orphan_count, __ATOMIC_RELAXED) != 0) strongroom_connection_collect(connection);
    if (strongroom_stops(connection) != 0) strongroom_forget_interruption(connection);
    return former;
}

static inline void strongroom_exit(strongroom_connection *connection, uintptr_t former) {
    __atomic_store_n(&connection->owner, former, __ATOMIC_RELEASE);
}

/// What was, before the calling thread lost its access for a while.
typedef struct { const char *place; uintptr_t owner; } strongroom_barred;

/// Takes the access from the calling thread, which has it, as long as `place` runs: a function of the program in
/// which SQLite allows no use of the connection. Returns what to give to `strongroom_unbar`. Costs two stores:
/// changed rows come by here.
static inline strongroom_barred strongroom_bar(strongroom_connection *connection, const char *place) {
    const char *outer_place = __atomic_load_n(&connection->barred_in, __ATOMIC_RELAXED);
    strongroom_barred former = {outer_place, __atomic_load_n(&connection->owner, __ATOMIC_RELAXED)};
    // Whoever interrupts sees that there is an access.
    __atomic_store_n(&connection->barred_in, place, __ATOMIC_RELAXED);
    __atomic_store_n(&connection->owner, 0, __ATOMIC_RELEASE);
    return former;
}

static inline void strongroom_unbar(strongroom_connection *connection, strongroom_barred former) {
    __atomic_store_n(&connection->owner, former.owner, __ATOMIC_RELAXED);
    __atomic_store_n(&connection->barred_in, former.place, __ATOMIC_RELEASE);
}

#endif

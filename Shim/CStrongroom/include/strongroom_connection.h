// The handle of a connection: its state, and the functions that read and write it without calling others.
//
// The shim's files about connections call each other in one direction, from the top:
//
//     opening.c             opens and closes connections
//     vfs.c                 the files of a connection: passes SQLite's calls on to the system
//     watch.c, fence.c      what happens around these calls: locks, stops, the WAL-reset bug
//     access.c, threads.c   which thread has access, and the statements that wait for one
//     stops.c               why work stops, and what it reaches
//     this header           the state
//
// SQLite closes the circle: it calls vfs.c for each file, and strongroom_progress_stops in stops.c while a statement
// runs.

#ifndef STRONGROOM_CONNECTION_H
#define STRONGROOM_CONNECTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

struct strongroom_file;

/// The state of a connection that threads share. Atomic members, and those under a lock, are only used by functions of
/// C: Swift has no atomic access to imported fields. The others belong to the thread that has access.
typedef struct strongroom_connection {
    sqlite3 *db;              ///< NULL once closed. Guarded by `lock`.
    pthread_mutex_t lock;     ///< Shared by interrupt and close: a late interrupt meets NULL, never freed memory.
    /// Orders the last statements of an abandoned connection. Freeing them may call the program.
    pthread_mutex_t last;
    uintptr_t owner;          ///< The thread that has access now, 0 when none. Atomic.
    /// The running function of the program that must not use the connection. NULL if there is none. Atomic.
    const char *barred_in;
    bool zombie;              ///< Closed while statements were alive; the last of them frees it.
    sqlite3_stmt **orphans;   ///< Statements released by threads without access, to be finalized by the next access.
    int orphan_count;
    int orphan_capacity;
    uint32_t stops;           ///< Why the access stops: STRONGROOM_SUSPENDED and its kin. Atomic.
    uint32_t reach;           ///< Which of them reach what runs now. Atomic; see strongroom_narrow.
    uint32_t outer_reach;     ///< The reach around the statement that begins or ends a transaction.
    /// The reach of the statement that commits by itself. 0 if there is none.
    uint32_t reach_before_commit;
    bool raised;              ///< SQLite was told to interrupt, and may not have noticed. Guarded by `lock`.
    bool stopped;             ///< The access has met a stop.
    bool tripped;             ///< The statement was stopped: what SQLite does with the files now is to undo.
    bool rolls_back;          ///< A whole transaction is being rolled back.
    /// The program has set PRAGMA locking_mode = EXCLUSIVE: SQLite may not look for a journal.
    bool is_exclusive;
    uint32_t locks;           ///< How many locks on its files keep others out. Atomic.
    struct strongroom_file *databases; ///< The open database files: the main one, and those that are attached.
    /// SQLCipher would free a secret twice: closing the connection closes its files, and its memory is lost.
    bool unfreeable;
    int busy_timeout;         ///< Milliseconds.
    int busy_waited;          ///< Milliseconds that the present wait has lasted.
    /// The most recent wait for a lock was ended by a stop, which may be over.
    bool wait_was_stopped;
    uint64_t commits;         ///< Transactions that changed something, counted once they are on disk. Atomic.
    uint64_t accesses;        ///< How often a thread got access. Atomic; written by the thread that has access.
    bool has_created;         ///< There was no file of the main database before it was opened.
    bool is_set_up;           ///< False while the program's set-up function runs.
    uintptr_t group;          ///< What the connections of one pool have in common.
    int (*watch)(void *context); ///< Called by the progress handler instead of looking for stops. NULL for none.
    void *watch_context;
    uint64_t deadline;        ///< Nanoseconds of the monotonic clock after which statements stop. 0 for none.
    int64_t memory_limit;     ///< The bytes that SQLite may have allocated in the process while one runs. 0 for none.
    uint32_t overrun;         ///< Which of the two has stopped a statement: STRONGROOM_LATE or STRONGROOM_LARGE.
    bool leaves;              ///< New accesses are refused. Atomic.
    /// How much of each kind of work was done: STRONGROOM_READS and its kin. NULL if nothing counts it. Atomic.
    uint64_t *counts;
    struct strongroom_connection *outer; ///< The connection that the same thread has access to around this access.
} strongroom_connection;

// MARK: Stops

/// Returns the stops that prevent statements from running now. 0 if there are none.
static inline uint32_t strongroom_stops(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->stops, __ATOMIC_RELAXED);
}

/// Returns which stops reach what runs now: see strongroom_narrow.
static inline uint32_t strongroom_reach(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->reach, __ATOMIC_RELAXED);
}

/// Returns true if the connection holds a lock that keeps others out. Safe to call from any thread.
static inline bool strongroom_connection_holds_lock(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->locks, __ATOMIC_ACQUIRE) != 0;
}

// MARK: Commits

/// Counts a transaction of the calling thread, which has access.
static inline void strongroom_count_commit(strongroom_connection *connection) {
    __atomic_fetch_add(&connection->commits, 1, __ATOMIC_RELEASE);
}

/// Returns the number of counted transactions. Safe to call from any thread.
static inline uint64_t strongroom_commits(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->commits, __ATOMIC_ACQUIRE);
}

// MARK: Counts

/// The kinds of work that are counted, as places in `counts`.
enum {
    STRONGROOM_READS,        ///< Accesses of connections that only read.
    STRONGROOM_WRITES,       ///< Accesses of connections that write, including those that read with them.
    STRONGROOM_QUEUE_READS,  ///< Of these, those that only read.
    STRONGROOM_CACHED,       ///< Statements that were found in a cache.
    STRONGROOM_COMPILED,     ///< Statements that were compiled.
    STRONGROOM_CHECKPOINTS,  ///< Checkpoints that have begun.
    STRONGROOM_BUSY_WAITS,   ///< Waits for the lock of another connection.
    STRONGROOM_COUNTS,       ///< The number of kinds.
};

/// Counts one piece of work. One thread at a time counts for a connection, so that it needs no atomic addition.
static inline void strongroom_count(strongroom_connection *connection, int kind) {
    uint64_t *counts = __atomic_load_n(&connection->counts, __ATOMIC_RELAXED);
    if (counts == NULL) return;
    uint64_t count = __atomic_load_n(&counts[kind], __ATOMIC_RELAXED);
    __atomic_store_n(&counts[kind], count + 1, __ATOMIC_RELAXED);
}

/// Sets where the work is counted. NULL for nowhere.
static inline void strongroom_set_counts(strongroom_connection *connection, uint64_t *counts) {
    __atomic_store_n(&connection->counts, counts, __ATOMIC_RELAXED);
}

/// Returns a count. Safe to call from any thread.
static inline uint64_t strongroom_counted(const uint64_t *counts, int kind) {
    return __atomic_load_n(&counts[kind], __ATOMIC_RELAXED);
}

// MARK: Leaving

/// Sets whether new accesses are refused, because the database is about to be closed. Safe to call from any thread.
static inline void strongroom_set_leaving(strongroom_connection *connection, bool leaves) {
    __atomic_store_n(&connection->leaves, leaves, __ATOMIC_RELEASE);
}

static inline bool strongroom_is_leaving(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->leaves, __ATOMIC_ACQUIRE);
}

// MARK: Access

/// Counts an access of the calling thread, which has it.
static inline void strongroom_count_access(strongroom_connection *connection) {
    uint64_t count = __atomic_load_n(&connection->accesses, __ATOMIC_RELAXED);
    __atomic_store_n(&connection->accesses, count + 1, __ATOMIC_RELAXED);
}

/// Returns how often a thread got access. Safe to call from any thread.
static inline uint64_t strongroom_accesses(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->accesses, __ATOMIC_RELAXED);
}

/// Returns true if a thread has access, or had it before a function of the program that must not use the connection.
/// Safe to call from any thread.
static inline bool strongroom_is_accessed(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->owner, __ATOMIC_SEQ_CST) != 0
        || __atomic_load_n(&connection->barred_in, __ATOMIC_SEQ_CST) != NULL;
}

/// Returns a number that distinguishes the calling thread from all other running threads.
static inline uintptr_t strongroom_thread(void) {
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__)
    // One instruction, where pthread_self is a call: each value of a row needs it.
    return (uintptr_t)__builtin_thread_pointer();
#else
    return (uintptr_t)pthread_self();
#endif
}

/// Returns true if the calling thread has access to the connection.
static inline bool strongroom_has_access(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->owner, __ATOMIC_RELAXED) == strongroom_thread();
}

/// Makes the calling thread the owner. Returns the former one, to be restored at the end.
static inline uintptr_t strongroom_own(strongroom_connection *connection) {
    return __atomic_exchange_n(&connection->owner, strongroom_thread(), __ATOMIC_ACQ_REL);
}

/// Ends the access. `former` is the owner before it.
static inline void strongroom_exit(strongroom_connection *connection, uintptr_t former) {
    __atomic_store_n(&connection->owner, former, __ATOMIC_RELEASE);
}

/// Returns true if threads without access have released statements.
static inline bool strongroom_has_orphans(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->orphan_count, __ATOMIC_RELAXED) != 0;
}

/// The state before the calling thread lost its access for a while.
typedef struct { const char *place; uintptr_t owner; } strongroom_barred;

/// Removes the calling thread's access while `place` runs: a function of the program in which SQLite does not allow
/// any use of the connection. Returns the argument for `strongroom_unbar`. Costs two stores, because it is called for
/// each changed row.
static inline strongroom_barred strongroom_bar(strongroom_connection *connection, const char *place) {
    const char *outer_place = __atomic_load_n(&connection->barred_in, __ATOMIC_RELAXED);
    strongroom_barred former = {outer_place, __atomic_load_n(&connection->owner, __ATOMIC_RELAXED)};
    // An interruption sees that there is an access.
    __atomic_store_n(&connection->barred_in, place, __ATOMIC_RELAXED);
    __atomic_store_n(&connection->owner, 0, __ATOMIC_RELEASE);
    return former;
}

static inline void strongroom_unbar(strongroom_connection *connection, strongroom_barred former) {
    __atomic_store_n(&connection->owner, former.owner, __ATOMIC_RELAXED);
    __atomic_store_n(&connection->barred_in, former.place, __ATOMIC_RELEASE);
}

/// Returns the running function of the program that must not use the connection. NULL if there is none.
static inline const char *strongroom_barred_in(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->barred_in, __ATOMIC_RELAXED);
}

#endif

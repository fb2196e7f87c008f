// The handle of a connection, its one owner: it closes the connection, finalizes statements that outlive it, and
// interrupts it from any thread.

#ifndef STRONGROOM_CONNECTION_H
#define STRONGROOM_CONNECTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

struct strongroom_file;

/// The state of a connection that threads share. Atomic members, and those under a lock, are only used by the
/// functions below: Swift has no atomic access to imported fields. The others belong to the thread that has access.
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
    bool is_set_up;           ///< False while the program's set-up function runs.
    uintptr_t group;          ///< What the connections of one pool have in common.
    struct strongroom_connection *outer; ///< The connection that the same thread has access to around this access.
} strongroom_connection;

/// Opens a connection. `*out` is only set on SQLITE_OK. `message` receives SQLite's message, to be freed with
/// sqlite3_free. `vfs` is the name in `path`, if that is a URI with one, otherwise NULL.
int strongroom_connection_open(
    const char *path, int flags, const char *vfs, strongroom_connection **out, char **message);

/// Closes the connection. Returns SQLITE_BUSY, and does nothing, if statements are alive.
int strongroom_connection_close(strongroom_connection *connection);

/// Closes the connection even if statements are alive: SQLite frees it when its last statement is finalized.
void strongroom_connection_abandon(strongroom_connection *connection);

/// Reads the schema for the first time after a key was set, when SQLCipher derives and copies the key. If an
/// allocation fails there, SQLCipher frees a secret twice when it closes the database. After SQLITE_NOMEM, close or
/// abandon the connection; no other precaution is necessary.
int strongroom_connection_first_read(strongroom_connection *connection);

/// Derives and copies the key of a file that is empty, with the same precaution.
int strongroom_connection_derive(strongroom_connection *connection, const char *schema);

/// Frees the handle itself, after close or abandon and after the last statement.
void strongroom_connection_free(strongroom_connection *connection);

/// Returns the stops that prevent statements from running now. 0 if there are none.
static inline uint32_t strongroom_stops(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->stops, __ATOMIC_RELAXED);
}

/// Ends the interruption of an access that has ended.
void strongroom_forget_interruption(strongroom_connection *connection);

/// Finalizes a statement: now if the calling thread has access, otherwise at the next access or at closing.
void strongroom_statement_release(strongroom_connection *connection, sqlite3_stmt *statement);

/// Finalizes the statements that other threads have released. The calling thread has access.
void strongroom_connection_collect(strongroom_connection *connection);

/// Counts a transaction of the calling thread, which has access.
static inline void strongroom_count_commit(strongroom_connection *connection) {
    __atomic_fetch_add(&connection->commits, 1, __ATOMIC_RELEASE);
}

/// Returns the number of counted transactions. Safe to call from any thread.
static inline uint64_t strongroom_commits(const strongroom_connection *connection) {
    return __atomic_load_n(&connection->commits, __ATOMIC_ACQUIRE);
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

/// Gives the calling thread access. Returns the former owner, to be restored at the end.
static inline uintptr_t strongroom_enter(strongroom_connection *connection) {
    uintptr_t former = __atomic_exchange_n(&connection->owner, strongroom_thread(), __ATOMIC_ACQ_REL);
    if (__atomic_load_n(&connection->orphan_count, __ATOMIC_RELAXED) != 0) strongroom_connection_collect(connection);
    if (strongroom_stops(connection) != 0) strongroom_forget_interruption(connection);
    return former;
}

static inline void strongroom_exit(strongroom_connection *connection, uintptr_t former) {
    __atomic_store_n(&connection->owner, former, __ATOMIC_RELEASE);
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

#endif

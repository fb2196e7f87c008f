// The stops of a connection, which end statements, file operations, waits for locks, backups and rotations.

#ifndef STRONGROOM_STOPS_H
#define STRONGROOM_STOPS_H

#include "strongroom_connection.h"

/// Bits of `stops`.
enum {
    STRONGROOM_SUSPENDED = 1,    ///< The database may hold no lock that keeps others out.
    STRONGROOM_CANCELLED = 2,    ///< The task of the access was cancelled.
    STRONGROOM_INTERRUPTED = 4,  ///< What ran when sqlite3_interrupt would have been called.
    STRONGROOM_UNDONE = 8,       ///< A suspension has rolled back a transaction between two accesses.
    STRONGROOM_LOCKED = 16,      ///< The database is being locked: its accesses end, and then its connections close.
};

/// Values of `reach`. The low byte contains the stops that end statements and their file operations, the next one
/// those that end waits for locks.
enum {
    STRONGROOM_REACH_ALL = 0x1717,          ///< The user's block.
    /// Observers of a transaction: they must not hold a lock of a suspended database.
    STRONGROOM_REACH_NOTIFIED = 0x1111,
    STRONGROOM_REACH_WAITS = 0x1700,        ///< Compiling, BEGIN and COMMIT: done or not done, and never halfway.
    STRONGROOM_REACH_CLOSING = 0x0100,      ///< Closing: a suspended database leaves its log where it is.
    STRONGROOM_REACH_NOTHING = 0,           ///< Undoing.
};

/// Limits the stops that reach the calling thread's work on the connection. Returns the former reach, to be
/// restored.
uint32_t strongroom_narrow(strongroom_connection *connection, uint32_t reach);
void strongroom_restore_reach(strongroom_connection *connection, uint32_t former);

/// A statement commits, and then checkpoints: until it has ended, stops only reach its waits.
void strongroom_commit_begins(strongroom_connection *connection);
void strongroom_commit_ends(strongroom_connection *connection);

/// Returns the stops of the running work. 0 if there are none.
static inline uint32_t strongroom_reaching_stops(const strongroom_connection *connection) {
    return strongroom_stops(connection) & strongroom_reach(connection) & 0xff;
}

/// Interrupts the running work. Safe to call from any thread. Has no effect on an idle connection.
void strongroom_connection_interrupt(strongroom_connection *connection);

/// Ends the interruption of an access that has ended.
void strongroom_forget_interruption(strongroom_connection *connection);

/// Prevents the connection from taking or holding locks that keep others out. `interrupts`: the running work is
/// interrupted even if it holds none.
void strongroom_connection_suspend(strongroom_connection *connection, bool interrupts);
void strongroom_connection_resume(strongroom_connection *connection);

/// Stops the running access and those that come, until the connection is closed or the call for the end. Safe to call
/// from any thread.
void strongroom_connection_lock(strongroom_connection *connection);
void strongroom_connection_end_lock(strongroom_connection *connection);

/// Stops the running access until it has ended. The caller ensures that the access is still the intended one.
void strongroom_connection_cancel(strongroom_connection *connection);
void strongroom_connection_end_cancellation(strongroom_connection *connection);

/// Records that a transaction was rolled back without the knowledge of the next access, or that this access knows
/// it.
void strongroom_connection_set_undone(strongroom_connection *connection, bool undone);

/// Returns true if the current access has met a stop. The calling thread has access.
bool strongroom_connection_was_stopped(const strongroom_connection *connection);

/// Ends the access. The next one has not met a stop.
void strongroom_connection_end_stops(strongroom_connection *connection);

/// Lets SQLite clear an interruption of work that has ended. Returns false while a statement from before is alive.
bool strongroom_connection_settle(strongroom_connection *connection);

/// Begins a statement: an interruption before it has no effect on it. Returns the stops that prevent it.
uint32_t strongroom_connection_begin(strongroom_connection *connection);

/// Returns other than zero if the running statement has to stop.
int strongroom_should_stop(void *connection);

/// The progress handler of every connection: the limits of time and memory, and then the watch or the same.
int strongroom_progress_stops(void *connection);

// MARK: Limits

/// Bits of `overrun`.
enum {
    STRONGROOM_LATE = 1,   ///< The deadline has passed.
    STRONGROOM_LARGE = 2,  ///< The process has allocated more than the limit.
};

/// Sets the limits of the statements that follow: `duration` in nanoseconds from now, and `memory` in bytes beyond what
/// SQLite has allocated in the process so far. 0 for none.
void strongroom_connection_limit(strongroom_connection *connection, uint64_t duration, int64_t memory);

/// Returns which limits are exceeded now, or have stopped a statement. 0 for none.
uint32_t strongroom_connection_overrun(strongroom_connection *connection);

/// Calls `watch` instead of looking for stops, every few milliseconds of a statement. NULL ends it. For a connection
/// that is not shared.
void strongroom_connection_watch(strongroom_connection *connection, int (*watch)(void *context), void *context);

/// Returns true if a wait is pointless because the access was stopped. Each busy handler calls it first.
bool strongroom_connection_stops_wait(strongroom_connection *connection, int tries);

/// Returns true once if a stop has ended the most recent wait for a lock.
bool strongroom_connection_end_wait(strongroom_connection *connection);

/// Waits for locks like sqlite3_busy_timeout, but not for an access that was stopped.
int strongroom_connection_busy_timeout(strongroom_connection *connection, int milliseconds);

/// Called by files before they read or write. A result other than SQLITE_OK stops the statement. `moves_log`: the
/// write is that of a checkpoint.
int strongroom_stops_file(strongroom_connection *connection, bool moves_log);

/// Returns true if the next reader may restore the database from its rollback journal: a suspended database does
/// not wait. `restores`: the most recent operation on the journal was to read it.
bool strongroom_leaves_journal(strongroom_connection *connection, bool restores);

#endif

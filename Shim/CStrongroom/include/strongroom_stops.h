// Why a connection stops: one owner, asked for statements, files, waits for locks, backups and rotations.

#ifndef STRONGROOM_STOPS_H
#define STRONGROOM_STOPS_H

#include "strongroom_connection.h"

/// Bits of `stops`.
enum {
    STRONGROOM_SUSPENDED = 1,    ///< The database may hold no lock that keeps others out.
    STRONGROOM_CANCELLED = 2,    ///< The task of the access was cancelled.
    STRONGROOM_INTERRUPTED = 4,  ///< What ran when sqlite3_interrupt would have been called.
    STRONGROOM_UNDONE = 8,       ///< A suspension has rolled back a transaction between two accesses.
};

/// Values of `reach`. The low byte says what stops statements and their files, the next one what ends waits for locks.
enum {
    STRONGROOM_REACH_ALL = 0x0707,          ///< The user's block.
    /// Those who are told of a transaction: they may hold no lock of a suspended database.
    STRONGROOM_REACH_NOTIFIED = 0x0101,
    STRONGROOM_REACH_WAITS = 0x0700,        ///< Compiling, BEGIN and COMMIT: done or not done, and never halfway.
    STRONGROOM_REACH_CLOSING = 0x0100,      ///< Closing: a suspended database leaves its log where it is.
    STRONGROOM_REACH_NOTHING = 0,           ///< Undoing.
};

/// Lets fewer stops reach what the calling thread does with the connection. Answers the former reach, to be restored.
uint32_t strongroom_narrow(strongroom_connection *connection, uint32_t reach);
void strongroom_restore_reach(strongroom_connection *connection, uint32_t former);

/// A statement commits, and checkpoints after that: only waits are in reach until it has ended.
void strongroom_commit_begins(strongroom_connection *connection);
void strongroom_commit_ends(strongroom_connection *connection);

/// What stops the work that runs now; 0 when nothing does.
static inline uint32_t strongroom_reaching_stops(const strongroom_connection *connection) {
    return strongroom_stops(connection) & __atomic_load_n(&connection->reach, __ATOMIC_RELAXED) & 0xff;
}

/// Interrupts what runs at this moment. Safe from any thread; an idle connection is not concerned.
void strongroom_connection_interrupt(strongroom_connection *connection);

/// Keeps the connection from taking or holding locks that keep others out. `interrupts`: what runs is interrupted, even
/// if it holds none.
void strongroom_connection_suspend(strongroom_connection *connection, bool interrupts);
void strongroom_connection_resume(strongroom_connection *connection);

/// Stops the access that runs, until the end of it is declared. Whoever cancels sees to it that the access is still the
/// one that was meant.
void strongroom_connection_cancel(strongroom_connection *connection);
void strongroom_connection_end_cancellation(strongroom_connection *connection);

/// Declares that a transaction was rolled back behind the back of the next access; or that this access has heard of it.
void strongroom_connection_set_undone(strongroom_connection *connection, bool undone);

/// Whether the present access has met a stop. The calling thread has access.
bool strongroom_connection_was_stopped(const strongroom_connection *connection);

/// The access ends: the next one has met no stop.
void strongroom_connection_end_stops(strongroom_connection *connection);

/// Lets SQLite forget an interruption that was meant for what is over; false while a statement that began before is
/// alive.
bool strongroom_connection_settle(strongroom_connection *connection);

/// A statement begins: an interruption was meant for those before. Answers what stops it.
uint32_t strongroom_connection_begin(strongroom_connection *connection);

/// The progress handler of every connection: answers whether the statement that runs has to stop.
int strongroom_should_stop(void *connection);

/// Asks `watch` in the place of that handler, every few milliseconds of a statement; NULL ends it. For a connection
/// that nobody else knows.
void strongroom_connection_watch(strongroom_connection *connection, int (*watch)(void *context), void *context);

/// Whether there is nothing to wait for, because the access was stopped: asked by each busy handler, first of all.
bool strongroom_connection_stops_wait(strongroom_connection *connection, int tries);

/// Answers once whether the latest wait for a lock was given up for that reason.
bool strongroom_connection_end_wait(strongroom_connection *connection);

/// Waits for locks as sqlite3_busy_timeout does, but not on behalf of an access that was stopped.
int strongroom_connection_busy_timeout(strongroom_connection *connection, int milliseconds);

/// Files ask this before they read or write: not SQLITE_OK stops the statement. `moves_log`: the write is that of a
/// checkpoint.
int strongroom_stops_file(strongroom_connection *connection, bool moves_log);

/// Whether a database may be left to be restored from its rollback journal by whoever reads it next: a suspended database
/// waits for nothing. `restores`: what was last done with the journal is to read it.
bool strongroom_leaves_journal(strongroom_connection *connection, bool restores);

#endif

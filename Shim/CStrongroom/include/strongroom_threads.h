// What the calling thread is doing, and whether it may do more.

#ifndef STRONGROOM_THREADS_H
#define STRONGROOM_THREADS_H

#include "strongroom_connection.h"

/// Accesses as the calling thread nests them, so that a pool knows its own threads without a look at every reader.
void strongroom_connection_push(strongroom_connection *connection);
void strongroom_connection_pop(strongroom_connection *connection);

/// Whether the calling thread is inside of an access to the connection, be it barred or not.
bool strongroom_is_inside(const strongroom_connection *connection);

/// How many connections the calling thread is setting up, one inside of the other.
int strongroom_nested_setups(void);

/// The innermost connection of that group that the calling thread has access to; NULL when none.
strongroom_connection *strongroom_innermost_in_group(uintptr_t group);

/// What the calling thread is telling of a change at this moment; NULL when nothing. Set returns the former one.
const void *strongroom_told(void);
const void *strongroom_set_told(const void *told);

/// Who keeps what SQLite lets go of on the calling thread, until it may go; NULL when it may go at once.
void *strongroom_deferred_releases(void);
void strongroom_set_deferred_releases(void *newer);

/// Whether tasks run on threads that others may use: those of Dispatch, on Linux.
extern const bool strongroom_lane_is_shared;

/// One access of the process at a time may borrow a thread of the Swift concurrency pool: true when it may now.
/// `closed_until` is the database's own: zero at first.
bool strongroom_lane_enter(uint64_t *closed_until);

/// Gives the lane back. `duration` is that of the access, in nanoseconds: one of a millisecond or more closes the
/// lane to its database for 50 times as long, and a second at most.
void strongroom_lane_leave(uint64_t *closed_until, uint64_t duration);

#endif

// The work of the calling thread, and whether it may begin more.

#ifndef STRONGROOM_THREADS_H
#define STRONGROOM_THREADS_H

#include "strongroom_connection.h"

/// The nested accesses of the calling thread, so that a pool recognizes its own threads without asking each reader.
void strongroom_connection_push(strongroom_connection *connection);
void strongroom_connection_pop(strongroom_connection *connection);

/// Returns true if the calling thread is inside of an access to the connection, barred or not.
bool strongroom_is_inside(const strongroom_connection *connection);

/// The number of connections that the calling thread is setting up, one inside of the other.
int strongroom_nested_setups(void);

/// Returns the innermost connection of a group that the calling thread has access to. NULL if there is none.
strongroom_connection *strongroom_innermost_in_group(uintptr_t group);

/// The object that is notifying the calling thread's observers of a change. NULL if there is none. Setting it
/// returns the former one.
const void *strongroom_notifier(void);
const void *strongroom_set_notifier(const void *newer);

/// The object that holds what SQLite releases on the calling thread. NULL to release it at once.
void *strongroom_deferred_releases(void);
void strongroom_set_deferred_releases(void *newer);

/// Starts a detached thread that runs `run`. The thread receives no signal but those that its own instructions raise.
/// Returns 0, or the error of pthread_create.
int strongroom_thread_start(void (*run)(void *), void *argument);

/// The place where a thread waits for work. All zero at first.
typedef struct {
    uint32_t state;
    uint32_t patience;      ///< The time in nanoseconds for which the thread looks for work before it sleeps.
    uint64_t since;         ///< The time at which it began to wait.
    uint32_t looks;         ///< The number of waits in which it looked.
} strongroom_wait;

/// Says that the calling thread may soon have more work, because it has served a task that waited. Holds for its next
/// wait.
void strongroom_wait_expect(void);

/// Looks for work before a thread that expects some sleeps, for 100 microseconds at most: to wake a thread takes ten
/// times as long as a small read. One thread of the process does so at a time, and only after waits that were that
/// short: the time is halved after each longer one. Returns false if the thread is to sleep until it is signalled, and
/// to call strongroom_wait_woken() then.
bool strongroom_wait_look(strongroom_wait *wait);

/// `looks` is false if the next look is to be skipped, as on a machine with one processor.
void strongroom_wait_woken(strongroom_wait *wait, bool looks);

/// The number of waits in which the thread looked for work. Safe from any thread.
uint32_t strongroom_wait_looks(strongroom_wait *wait);

/// Says that there is work. Returns true if the thread sleeps, and must be signalled.
bool strongroom_wait_end(strongroom_wait *wait);

/// The quality of service that a thread can have, on systems that have one.
typedef enum {
    STRONGROOM_BACKGROUND, STRONGROOM_UTILITY, STRONGROOM_DEFAULT, STRONGROOM_USER_INITIATED
} strongroom_qos;

/// Gives the calling thread a quality of service. Does nothing on systems without one.
void strongroom_thread_set_qos(strongroom_qos qos);

/// Lets one access of the process at a time run on a thread of the Swift concurrency pool. Returns true if it may
/// now. `closed_until` belongs to the database, and is zero at first.
bool strongroom_lane_enter(uint64_t *closed_until);

/// Leaves the lane. `duration` is that of the access, in nanoseconds: one of a millisecond or more closes the lane
/// to its database for 50 times as long, and for a second at most.
void strongroom_lane_leave(uint64_t *closed_until, uint64_t duration);

#endif

#include "CStrongroom.h"
#include <time.h>

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

strongroom_connection *strongroom_innermost_in_group(uintptr_t group) {
    strongroom_connection *connection = innermost;
    while (connection != NULL && connection->group != group) connection = connection->outer;
    return connection;
}

// 0 when the lane is free, 1 when it is taken, else the time until which it is closed.
static uint64_t lane;

static uint64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

bool strongroom_lane_enter(void) {
    uint64_t state = __atomic_load_n(&lane, __ATOMIC_RELAXED);
    if (state == 1 || (state != 0 && nanoseconds() < state)) return false;
    return __atomic_compare_exchange_n(&lane, &state, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void strongroom_lane_leave(uint64_t duration) {
    uint64_t state = duration < 1000000 ? 0 : nanoseconds() + 50 * duration;
    __atomic_store_n(&lane, state, __ATOMIC_RELEASE);
}

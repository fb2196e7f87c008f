#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

/// The time of the steady clock in nanoseconds.
static inline uint64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#endif

#include "strongroom_threads.h"
#include "clock.h"

// True while an access of this process has borrowed a thread.
static bool is_taken;

bool strongroom_lane_enter(uint64_t *closed_until) {
    uint64_t end = __atomic_load_n(closed_until, __ATOMIC_RELAXED);
    if (end != 0 && nanoseconds() < end) return false;
    return !__atomic_load_n(&is_taken, __ATOMIC_RELAXED) && !__atomic_exchange_n(&is_taken, true, __ATOMIC_ACQUIRE);
}

void strongroom_lane_leave(uint64_t *closed_until, uint64_t duration) {
    const uint64_t second = 1000000000;
    uint64_t pause = duration < second / 50 ? 50 * duration : second;
    __atomic_store_n(closed_until, duration < 1000000 ? 0 : nanoseconds() + pause, __ATOMIC_RELAXED);
    __atomic_store_n(&is_taken, false, __ATOMIC_RELEASE);
}

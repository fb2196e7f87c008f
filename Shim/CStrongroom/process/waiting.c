#include "strongroom_threads.h"
#include "clock.h"

enum { waiting, given, sleeping };

/// The longest time for which a thread looks for work, in nanoseconds: about that of two wakings.
static const uint32_t longest_look = 100000;

static void pause_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool is_given(strongroom_wait *wait) {
    for (int i = 0; i < 16; i++) {
        if (__atomic_load_n(&wait->state, __ATOMIC_ACQUIRE) == given) return true;
        pause_processor();
    }
    return false;
}

bool strongroom_wait_look(strongroom_wait *wait) {
    wait->since = nanoseconds();
    while (nanoseconds() - wait->since < wait->patience && !is_given(wait)) {}
    uint32_t state = waiting;
    if (__atomic_compare_exchange_n(&wait->state, &state, sleeping, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        return false;
    }
    __atomic_store_n(&wait->state, waiting, __ATOMIC_RELAXED);
    return true;
}

void strongroom_wait_woken(strongroom_wait *wait, bool looks) {
    __atomic_store_n(&wait->state, waiting, __ATOMIC_RELAXED);
    wait->patience = !looks ? 0 : nanoseconds() - wait->since < longest_look ? longest_look : wait->patience / 2;
}

bool strongroom_wait_end(strongroom_wait *wait) {
    return __atomic_exchange_n(&wait->state, given, __ATOMIC_ACQ_REL) == sleeping;
}

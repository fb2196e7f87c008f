#include "strongroom_threads.h"
#include "clock.h"

enum { waiting, given, sleeping };

/// The longest time for which a thread looks for work, in nanoseconds: about that of two wakings.
static const uint32_t longest_look = 100000;

/// True if the calling thread has served a task that may give it the next work.
static _Thread_local bool expects_work;

/// True while a thread of the process looks for work.
static bool is_looking;

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

void strongroom_wait_expect(void) {
    expects_work = true;
}

/// Looks for work, unless another thread does: more than one would take the processors from those that work.
static void look(strongroom_wait *wait) {
    if (wait->patience == 0 || __atomic_exchange_n(&is_looking, true, __ATOMIC_RELAXED)) return;
    __atomic_add_fetch(&wait->looks, 1, __ATOMIC_RELAXED);
    while (nanoseconds() - wait->since < wait->patience && !is_given(wait)) {}
    __atomic_store_n(&is_looking, false, __ATOMIC_RELAXED);
}

bool strongroom_wait_look(strongroom_wait *wait) {
    wait->since = nanoseconds();
    if (expects_work) look(wait);
    expects_work = false;
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

uint32_t strongroom_wait_looks(strongroom_wait *wait) {
    return __atomic_load_n(&wait->looks, __ATOMIC_RELAXED);
}

bool strongroom_wait_end(strongroom_wait *wait) {
    return __atomic_exchange_n(&wait->state, given, __ATOMIC_ACQ_REL) == sleeping;
}

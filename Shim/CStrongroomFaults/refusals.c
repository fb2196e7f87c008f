// Memory that the shim asks the C library for. ThreadSanitizer and AddressSanitizer have allocators of their own.

#include "CStrongroomFaults.h"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#if __linux__ && !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
static atomic_llong remaining = -1;     // negative: none is refused
static atomic_bool refuses_on;
static atomic_llong refused;

// The code of the program itself, without its libraries: C, because Swift asks its runtime.
extern char __executable_start, etext;

static bool refuses(const void *caller) {
    if (atomic_load_explicit(&remaining, memory_order_relaxed) < 0) return false;
    if ((const char *)caller < &__executable_start || (const char *)caller >= &etext) return false;
    long long left = atomic_fetch_sub(&remaining, 1);
    if (left > 0) return false;
    atomic_store(&remaining, left == 0 && atomic_load(&refuses_on) ? 0 : -1);
    if (left < 0) return false;
    atomic_fetch_add(&refused, 1);
    errno = ENOMEM;
    return true;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *bytes, size_t size);

void *malloc(size_t size) { return refuses(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
    return refuses(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *bytes, size_t size) {
    return refuses(__builtin_return_address(0)) ? NULL : __libc_realloc(bytes, size);
}

void strongroom_faults_refuse_shim_memory(int64_t after, bool lasting) {
    atomic_store(&refuses_on, lasting);
    atomic_store(&remaining, after);
}

int64_t strongroom_faults_shim_refusals(void) { return atomic_load(&refused); }
#else
void strongroom_faults_refuse_shim_memory(int64_t after, bool lasting) { (void)after; (void)lasting; }

int64_t strongroom_faults_shim_refusals(void) { return 0; }
#endif

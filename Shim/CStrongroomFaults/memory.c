#include "CStrongroomFaults.h"
#include "../CSQLCipher/sqlcipher.h"
#include <stdatomic.h>
#include <stddef.h>

static sqlite3_mem_methods original;
static atomic_llong remaining = -1;     // negative: none is refused
static atomic_bool refuses_on;
static atomic_llong refusals;

static atomic_int smallest;

static bool refuses(int size) {
    if (size < atomic_load(&smallest)) return false;
    long long left = atomic_load(&remaining);
    while (left > 0)
        if (atomic_compare_exchange_weak(&remaining, &left, left - 1)) return false;
    if (left < 0) return false;
    if (!atomic_load(&refuses_on)) atomic_store(&remaining, -1);
    atomic_fetch_add(&refusals, 1);
    return true;
}

static void *allocate(int size) { return refuses(size) ? NULL : original.xMalloc(size); }

static void *reallocate(void *bytes, int size) { return refuses(size) ? NULL : original.xRealloc(bytes, size); }

int strongroom_faults_install_allocator(void) {
    int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &original);
    if (code != SQLITE_OK) return code;
    sqlite3_mem_methods methods = original;
    methods.xMalloc = allocate;
    methods.xRealloc = reallocate;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

void strongroom_faults_refuse_memory(int64_t after, int size, bool lasting) {
    atomic_store(&smallest, size);
    atomic_store(&refuses_on, lasting);
    atomic_store(&remaining, after);
}

int64_t strongroom_faults_refusals(void) { return atomic_load(&refusals); }

#include "CStrongroomFaults.h"
#include "../CSQLCipher/sqlcipher.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static sqlite3_mem_methods original;
static atomic_llong remaining = -1;     // negative: none is refused
static atomic_bool refuses_on;
static atomic_llong refusals;

static atomic_int smallest;
static atomic_int spared;

static bool refuses(int size) {
    if (size < atomic_load(&smallest) || size == atomic_load(&spared)) return false;
    long long left = atomic_load(&remaining);
    while (left > 0)
        if (atomic_compare_exchange_weak(&remaining, &left, left - 1)) return false;
    if (left < 0) return false;
    if (!atomic_load(&refuses_on)) atomic_store(&remaining, -1);
    atomic_fetch_add(&refusals, 1);
    return true;
}

// A mark in front of each block tells whether it is in use, so that what is freed twice ends the process at once.

typedef struct { _Alignas(16) int64_t mark; } block_head;
static const int64_t in_use = 0x53e1f00db10c;

static void *bytes_of(block_head *head) {
    if (head == NULL) return NULL;
    head->mark = in_use;
    return head + 1;
}

static block_head *head_of(void *bytes) {
    block_head *head = (block_head *)bytes - 1;
    if (head->mark == in_use) return head;
    fputs("a block was freed twice, or is none of SQLite's\n", stderr);
    abort();
}

static void *allocate(int size) {
    return refuses(size) ? NULL : bytes_of(original.xMalloc(size + (int)sizeof(block_head)));
}

static void *reallocate(void *bytes, int size) {
    if (refuses(size)) return NULL;
    return bytes_of(original.xRealloc(head_of(bytes), size + (int)sizeof(block_head)));
}

static void release(void *bytes) {
    block_head *head = head_of(bytes);
    head->mark = 0;
    original.xFree(head);
}

static int block_size(void *bytes) { return original.xSize(head_of(bytes)) - (int)sizeof(block_head); }

int strongroom_faults_install_allocator(void) {
    int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &original);
    if (code != SQLITE_OK) return code;
    sqlite3_mem_methods methods = original;
    methods.xMalloc = allocate;
    methods.xRealloc = reallocate;
    methods.xFree = release;
    methods.xSize = block_size;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

void strongroom_faults_refuse_memory(int64_t after, int size, bool lasting) {
    atomic_store(&smallest, size);
    atomic_store(&refuses_on, lasting);
    atomic_store(&remaining, after);
}

void strongroom_faults_spare_memory(int size) { atomic_store(&spared, size); }

int64_t strongroom_faults_refusals(void) { return atomic_load(&refusals); }

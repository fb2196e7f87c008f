// A database file, its locks, and the index of its log.

#include "replica_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct replica_file {
    sqlite3_file *file;             // Allocated together with this.
    const char *name;               // As the VFS wants it: with an empty list of parameters.
    const volatile uint8_t *index;  // NULL until it is mapped.
};

int replica_file_open(const char *path, replica_file **file) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    *file = NULL;
    if (!vfs) return SQLITE_ERROR;
    char *full = malloc((size_t)vfs->mxPathname + 1);
    replica_file *self = calloc(1, sizeof *self + (size_t)vfs->szOsFile);
    int result = full && self ? vfs->xFullPathname(vfs, path, vfs->mxPathname, full) & 0xff : SQLITE_NOMEM;
    if (result == SQLITE_OK) {
        self->name = sqlite3_create_filename(full, "", "", 0, NULL);
        if (!self->name) result = SQLITE_NOMEM;
    }
    free(full);
    if (result == SQLITE_OK) {
        int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB;
        self->file = (sqlite3_file *)(self + 1);
        result = vfs->xOpen(vfs, self->name, self->file, flags, &flags);
    }
    if (result == SQLITE_OK) *file = self;
    else if (self) replica_file_close(self);
    return result;
}

void replica_file_close(replica_file *self) {
    if (self->file && self->file->pMethods) {
        replica_index_unmap(self);
        self->file->pMethods->xUnlock(self->file, SQLITE_LOCK_NONE);
        self->file->pMethods->xClose(self->file);
    }
    sqlite3_free_filename(self->name);
    free(self);
}

int replica_file_size(replica_file *self, int64_t *size) {
    sqlite3_int64 found = 0;
    int result = self->file->pMethods->xFileSize(self->file, &found);
    *size = found;
    return result;
}

int replica_file_read(replica_file *self, void *bytes, int size, int64_t offset) {
    return self->file->pMethods->xRead(self->file, bytes, size, offset);
}

int replica_file_share(replica_file *self) { return self->file->pMethods->xLock(self->file, SQLITE_LOCK_SHARED); }

void replica_file_unshare(replica_file *self) { self->file->pMethods->xUnlock(self->file, SQLITE_LOCK_NONE); }

int replica_file_is_reserved(replica_file *self, bool *reserved) {
    int found = 0;
    int result = self->file->pMethods->xCheckReservedLock(self->file, &found);
    *reserved = found != 0;
    return result;
}

// MARK: Changes

int replica_file_exclude(replica_file *self) {
    int result = self->file->pMethods->xLock(self->file, SQLITE_LOCK_RESERVED);
    if (result == SQLITE_OK) result = self->file->pMethods->xLock(self->file, SQLITE_LOCK_EXCLUSIVE);
    if (result != SQLITE_OK) self->file->pMethods->xUnlock(self->file, SQLITE_LOCK_SHARED);
    return result;
}

int replica_file_write(replica_file *self, const void *bytes, int size, int64_t offset) {
    return self->file->pMethods->xWrite(self->file, bytes, size, offset);
}

int replica_file_resize(replica_file *self, int64_t size) { return self->file->pMethods->xTruncate(self->file, size); }

int replica_file_sync(replica_file *self) { return self->file->pMethods->xSync(self->file, SQLITE_SYNC_FULL); }

// MARK: The index

/// The first block of the index, and the offsets in it: two copies of the header, and the state of checkpoints.
enum { block_size = 32768, header_size = 48, backfill_offset = 96, marks_offset = 100, marks_count = 5 };
enum { version_offset = 0, initialized_offset = 12, page_size_offset = 14, last_frame_offset = 16,
    page_count_offset = 20, frame_checksum_offset = 24, salts_offset = 32, checksum_offset = 40 };
enum { index_version = 3007000, unused_mark = 0xffffffff };

/// The lock of the first read mark.
enum { first_mark_lock = 3 };

int replica_index_map(replica_file *self) {
    void volatile *block = NULL;
    const sqlite3_io_methods *methods = self->file->pMethods;
    if (methods->iVersion < 2 || !methods->xShmMap) return SQLITE_CANTOPEN;
    int result = methods->xShmMap(self->file, 0, block_size, 1, &block);
    if (result == SQLITE_OK) self->index = block;
    return result;
}

void replica_index_unmap(replica_file *self) {
    if (self->index) self->file->pMethods->xShmUnmap(self->file, 0);
    self->index = NULL;
}

static uint32_t word(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/// Computes the checksum of a header, in the machine's byte order.
static void header_checksum(const uint8_t *header, uint32_t sums[2]) {
    sums[0] = sums[1] = 0;
    for (int at = 0; at < checksum_offset; at += 8) {
        sums[0] += word(header + at) + sums[1];
        sums[1] += word(header + at + 4) + sums[0];
    }
}

bool replica_index_read(replica_file *self, replica_index *index) {
    uint8_t copies[2][header_size];
    uint32_t sums[2];
    if (!self->index) return false;
    // The writer changes the second copy first.
    memcpy(copies[0], (const void *)self->index, header_size);
    self->file->pMethods->xShmBarrier(self->file);
    memcpy(copies[1], (const void *)(self->index + header_size), header_size);
    const uint8_t *header = copies[0];
    if (memcmp(copies[0], copies[1], header_size) != 0 || header[initialized_offset] == 0) return false;
    header_checksum(header, sums);
    if (memcmp(sums, header + checksum_offset, sizeof sums) != 0) return false;
    if (word(header + version_offset) != index_version) return false;
    uint16_t size;
    memcpy(&size, header + page_size_offset, sizeof size);
    index->page_size = (uint32_t)(size & 0xfe00) + ((uint32_t)(size & 1) << 16);
    index->last_frame = word(header + last_frame_offset);
    index->page_count = word(header + page_count_offset);
    memcpy(index->checksum, header + frame_checksum_offset, sizeof index->checksum);
    memcpy(index->salts, header + salts_offset, sizeof index->salts);
    index->backfilled = __atomic_load_n((const uint32_t *)(self->index + backfill_offset), __ATOMIC_SEQ_CST);
    return true;
}

// MARK: Read marks

static uint32_t *mark_at(replica_file *self, int mark) {
    return (uint32_t *)(uintptr_t)(self->index + marks_offset) + mark;
}

static int set_lock(replica_file *self, int mark, int flags) {
    return self->file->pMethods->xShmLock(self->file, first_mark_lock + mark, 1, flags);
}

static int lock_shared(replica_file *self, int mark) {
    return set_lock(self, mark, SQLITE_SHM_LOCK | SQLITE_SHM_SHARED);
}

void replica_mark_release(replica_file *self, int mark) {
    if (mark >= 0) (void)set_lock(self, mark, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
}

/// Returns true if the log is the one of `index`, or has grown since.
static bool is_same_log(replica_file *self, const replica_index *index, bool exactly) {
    replica_index now;
    self->file->pMethods->xShmBarrier(self->file);
    if (!replica_index_read(self, &now) || memcmp(now.salts, index->salts, sizeof now.salts) != 0) return false;
    return exactly ? now.last_frame == index->last_frame : now.last_frame >= index->last_frame;
}

/// Returns the mark with the greatest value up to `frame`, 0 if there is none.
static int best_mark(replica_file *self, uint32_t frame, uint32_t *value) {
    int best = 0;
    *value = 0;
    for (int mark = 1; mark < marks_count; mark++) {
        uint32_t found = __atomic_load_n(mark_at(self, mark), __ATOMIC_SEQ_CST);
        if (found == unused_mark || found > frame || found < *value) continue;
        best = mark;
        *value = found;
    }
    return best;
}

/// Takes a mark that nobody uses, and leaves it unused. Returns 0 if there is none. Frames that were not read can be
/// moved then; they stay in the log.
static int take_unused(replica_file *self) {
    for (int mark = 1; mark < marks_count; mark++) {
        if (set_lock(self, mark, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) != SQLITE_OK) continue;
        __atomic_store_n(mark_at(self, mark), unused_mark, __ATOMIC_SEQ_CST);
        (void)set_lock(self, mark, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
        if (lock_shared(self, mark) != SQLITE_OK) continue;
        if (__atomic_load_n(mark_at(self, mark), __ATOMIC_SEQ_CST) == unused_mark) return mark;
        // Meanwhile, a reader took it.
        replica_mark_release(self, mark);
    }
    return 0;
}

static int take_shared(replica_file *self, uint32_t frame) {
    uint32_t value;
    int mark = best_mark(self, frame, &value);
    return mark != 0 && lock_shared(self, mark) == SQLITE_OK ? mark : 0;
}

int replica_mark_take(replica_file *self, const replica_index *index, int *mark) {
    int taken = take_unused(self);
    if (taken == 0) taken = take_shared(self, index->last_frame);
    if (taken == 0) return SQLITE_BUSY;
    *mark = taken;
    // Before the lock was taken, the log could begin anew.
    if (is_same_log(self, index, false)) return SQLITE_OK;
    replica_mark_release(self, taken);
    return SQLITE_BUSY;
}

int replica_mark_take_zero(replica_file *self, const replica_index *index) {
    int result = lock_shared(self, 0);
    if (result != SQLITE_OK) return result;
    bool is_moved = is_same_log(self, index, true)
        && __atomic_load_n((const uint32_t *)(self->index + backfill_offset), __ATOMIC_SEQ_CST) == index->last_frame;
    if (is_moved) return SQLITE_OK;
    replica_mark_release(self, 0);
    return SQLITE_BUSY;
}

int replica_log_cut(replica_file *self, const replica_index *index, int descriptor, int64_t size) {
    // A connection that appends frames has a mark, and none gets one until the marks are released.
    int first = first_mark_lock + 1, count = marks_count - 1;
    int result = self->file->pMethods->xShmLock(self->file, first, count, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    if (result != SQLITE_OK) return result;
    bool is_moved = is_same_log(self, index, true)
        && __atomic_load_n((const uint32_t *)(self->index + backfill_offset), __ATOMIC_SEQ_CST) == index->last_frame;
    // A failure leaves the log as it was: longer than necessary.
    if (is_moved && ftruncate(descriptor, (off_t)size) != 0) result = SQLITE_IOERR_TRUNCATE;
    (void)self->file->pMethods->xShmLock(self->file, first, count, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    return is_moved ? result : SQLITE_BUSY;
}

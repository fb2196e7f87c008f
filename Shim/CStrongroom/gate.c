// A wrong key must change no file. SQLite would recover a log and roll back a journal under any key, so it doesn't
// get at the file before the key has proved itself on a page, in the file or where recovery would take it from.

#include "strongroom_formats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// MARK: The gate

struct strongroom_gate {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    sqlite3_file *file;
};

static int refuse_lock(sqlite3_file *file, int level) {
    (void)file, (void)level;
    return SQLITE_NOTADB;
}

strongroom_gate *strongroom_gate_close(sqlite3 *db) {
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (result != SQLITE_OK || !file || !file->pMethods) return NULL;
    strongroom_gate *gate = malloc(sizeof *gate);
    if (!gate) return NULL;
    *gate = (strongroom_gate){ .methods = *file->pMethods, .original = file->pMethods, .file = file };
    gate->methods.xLock = refuse_lock;
    file->pMethods = &gate->methods;
    return gate;
}

void strongroom_gate_open(strongroom_gate *gate) {
    if (gate && gate->file->pMethods == &gate->methods) gate->file->pMethods = gate->original;
    free(gate);
}

bool strongroom_has_used_pages(sqlite3 *db, bool in_memory) {
    const int counters[] = { SQLITE_DBSTATUS_CACHE_MISS, SQLITE_DBSTATUS_CACHE_WRITE, SQLITE_DBSTATUS_CACHE_HIT };
    for (int i = 0; i < (in_memory ? 3 : 2); i++) {
        int now = 0, highest = 0;
        if (sqlite3_db_status(db, counters[i], &now, &highest, 0) != SQLITE_OK || now > 0) return true;
    }
    return sqlite3_txn_state(db, "main") != SQLITE_TXN_NONE;
}

// MARK: Pages outside of the file

/// A regular file, for reading; -1 without one.
static int open_beside(const char *database, const char *suffix, int64_t *size) {
    char path[4096];
    struct stat file;
    if (snprintf(path, sizeof path, "%s%s", database, suffix) >= (int)sizeof path) return -1;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -1;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) { close(fd); return -1; }
    *size = file.st_size;
    return fd;
}

static bool read_at(int fd, void *bytes, size_t size, int64_t offset) {
    size_t count = 0;
    while (count < size) {
        ssize_t n = pread(fd, (char *)bytes + count, size - count, (off_t)offset + (off_t)count);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        count += (size_t)n;
    }
    return true;
}

static uint32_t number(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool is_page_size(uint32_t size) { return size >= 512 && size <= 65536 && (size & (size - 1)) == 0; }

typedef struct {
    strongroom_page_check check;
    void *context;
    uint8_t page[65536];
} search;

static bool accepts(search *self, int fd, uint32_t size, int64_t offset) {
    return read_at(fd, self->page, size, offset) && self->check(self->context, self->page, (int)size);
}

/// Shows the committed frames of page 1. <https://www.sqlite.org/walformat.html>
static bool search_log(search *self, int fd, int64_t file_size) {
    enum { header_size = 32, frame_header_size = 24, most = 64 };
    uint8_t header[header_size], frame[frame_header_size];
    int64_t found[most];    // of page 1 since the last commit
    int count = 0;
    if (!read_at(fd, header, sizeof header, 0) || (number(header) & ~1u) != 0x377f0682) return false;
    uint32_t size = number(header + 8) == 1 ? 65536 : number(header + 8);
    if (!is_page_size(size)) return false;
    for (int64_t at = header_size; at + frame_header_size + size <= file_size; at += frame_header_size + size) {
        if (!read_at(fd, frame, sizeof frame, at) || memcmp(frame + 8, header + 16, 8) != 0) return false;
        if (number(frame) == 1) found[count < most ? count++ : most - 1] = at + frame_header_size;
        if (number(frame + 4) == 0) continue;
        for (int i = 0; i < count; i++) if (accepts(self, fd, size, found[i])) return true;
        count = 0;
    }
    return false;
}

/// <https://www.sqlite.org/fileformat.html#the_rollback_journal>
static bool search_journal(search *self, int fd, int64_t file_size) {
    static const uint8_t magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
    uint8_t header[28], name[4];
    int64_t at = 0;
    while (read_at(fd, header, sizeof header, at) && memcmp(header, magic, sizeof magic) == 0) {
        uint32_t sector = number(header + 20), size = number(header + 24), count = number(header + 8);
        if (!is_page_size(size) || sector < 32 || sector > 65536) return false;
        int64_t record = at + sector, length = (int64_t)size + 8;
        // A count of zero, or of all ones, stands for as many as there are.
        if (count == 0 || count == UINT32_MAX) count = (uint32_t)((file_size - record) / length);
        for (uint32_t i = 0; i < count && record + length <= file_size; i++, record += length)
            if (read_at(fd, name, sizeof name, record) && number(name) == 1 && accepts(self, fd, size, record + 4))
                return true;
        at = (record + sector - 1) / sector * sector;
    }
    return false;
}

bool strongroom_first_page_elsewhere(const char *database, strongroom_page_check check, void *context) {
    static const struct { const char *suffix; bool (*search)(search *, int, int64_t); } places[] = {
        { "-wal", search_log }, { "-journal", search_journal },
    };
    search *self = malloc(sizeof *self);
    if (!self) return true;     // nothing is known: SQLite will say
    self->check = check;
    self->context = context;
    bool found = false;
    for (int i = 0; i < 2 && !found; i++) {
        int64_t size = 0;
        int fd = open_beside(database, places[i].suffix, &size);
        if (fd < 0) continue;
        found = places[i].search(self, fd, size);
        close(fd);
    }
    free(self);
    return found;
}

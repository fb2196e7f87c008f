// The copies of page 1 that recovery would take from the write-ahead log or the rollback journal.

#include "../files/descriptors.h"
#include "../files/log_format.h"
#include "strongroom_pages.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// Opens a regular file for reading. Returns -1 if there is none.
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
    return strongroom_read_at(fd, bytes, size, offset) == (ssize_t)size;
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

/// Calls the function with the committed frames of page 1. <https://www.sqlite.org/walformat.html>
static bool search_log(search *self, int fd, int64_t file_size) {
    enum { most = 64 };
    uint8_t header[log_header], frame[frame_header];
    int64_t found[most];    // of page 1 since the last commit
    int count = 0;
    if (!read_at(fd, header, sizeof header, 0) || (big_endian(header) & ~1u) != 0x377f0682) return false;
    uint32_t size = big_endian(header + 8) == 1 ? 65536 : big_endian(header + 8);
    if (!is_page_size(size)) return false;
    for (int64_t at = log_header; at + frame_header + size <= file_size; at += frame_header + size) {
        if (!read_at(fd, frame, sizeof frame, at)) return false;
        if (memcmp(frame + frame_salts, header + log_salts, salts_size) != 0) return false;
        if (frame_page(frame) == 1) found[count < most ? count++ : most - 1] = at + frame_header;
        if (!frame_commits(frame)) continue;
        for (int i = 0; i < count; i++) if (accepts(self, fd, size, found[i])) return true;
        count = 0;
    }
    return false;
}

enum { journal_header = 28 };

static const uint8_t journal_magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };

/// Calls the function with page 1 in the journal. <https://www.sqlite.org/fileformat.html#the_rollback_journal>
static bool search_journal(search *self, int fd, int64_t file_size) {
    uint8_t header[journal_header], name[4];
    int64_t at = 0;
    while (read_at(fd, header, sizeof header, at) && memcmp(header, journal_magic, sizeof journal_magic) == 0) {
        uint32_t sector = big_endian(header + 20), size = big_endian(header + 24), count = big_endian(header + 8);
        if (!is_page_size(size) || sector < 32 || sector > 65536) return false;
        int64_t record = at + sector, length = (int64_t)size + 8;
        // A count of zero, or of all ones, means all pages in the file.
        if (count == 0 || count == UINT32_MAX) count = (uint32_t)((file_size - record) / length);
        for (uint32_t i = 0; i < count && record + length <= file_size; i++, record += length)
            if (read_at(fd, name, sizeof name, record) && big_endian(name) == 1 && accepts(self, fd, size, record + 4))
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

bool strongroom_journal_creates(const char *database) {
    uint8_t header[journal_header];
    int64_t size = 0;
    int fd = open_beside(database, "-journal", &size);
    if (fd < 0) return false;
    bool creates = read_at(fd, header, sizeof header, 0) && memcmp(header, journal_magic, sizeof journal_magic) == 0
        && big_endian(header + 16) == 0 && size >= big_endian(header + 20);
    close(fd);
    return creates;
}

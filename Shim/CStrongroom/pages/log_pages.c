// Pages of the write-ahead log that recovery would apply to a database.

#include "../files/descriptors.h"
#include "../files/log_format.h"
#include "strongroom_pages.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    int fd;
    bool is_big_endian;
    uint32_t page_size;
    uint32_t sums[2];
    uint8_t salts[salts_size];
    int64_t at;             // the next frame
    uint8_t *frame;         // its header and its page
} log_reader;

static uint32_t word(const log_reader *log, const uint8_t *bytes) {
    if (log->is_big_endian) return big_endian(bytes);
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

/// <https://www.sqlite.org/fileformat.html#checksum_algorithm>
static void add(log_reader *log, const uint8_t *bytes, uint32_t size) {
    for (uint32_t i = 0; i < size; i += 8) {
        log->sums[0] += word(log, bytes + i) + log->sums[1];
        log->sums[1] += word(log, bytes + i + 4) + log->sums[0];
    }
}

static bool has_sums(const log_reader *log, const uint8_t *bytes) {
    return big_endian(bytes) == log->sums[0] && big_endian(bytes + 4) == log->sums[1];
}

/// Returns false for what SQLite does not take for a log.
static bool begin(log_reader *log) {
    uint8_t header[log_header];
    if (strongroom_read_at(log->fd, header, sizeof header, 0) != sizeof header) return false;
    if ((big_endian(header) & ~1u) != 0x377f0682) return false;
    log->is_big_endian = big_endian(header) & 1;
    log->page_size = big_endian(header + 8) == 1 ? 65536 : big_endian(header + 8);
    if (log->page_size < 512 || log->page_size > 65536 || (log->page_size & (log->page_size - 1)) != 0) return false;
    add(log, header, log_header - 8);
    if (!has_sums(log, header + log_header - 8)) return false;
    memcpy(log->salts, header + log_salts, salts_size);
    log->at = log_header;
    log->frame = malloc(frame_header + (size_t)log->page_size);
    return log->frame != NULL;
}

/// Reads the next frame. Returns false at the end of what SQLite would apply.
static bool next(log_reader *log) {
    size_t size = frame_header + (size_t)log->page_size;
    if (strongroom_read_at(log->fd, log->frame, size, log->at) != (ssize_t)size) return false;
    if (frame_page(log->frame) == 0 || memcmp(log->frame + frame_salts, log->salts, salts_size) != 0) return false;
    add(log, log->frame, 8);
    add(log, log->frame + frame_header, log->page_size);
    log->at += (int64_t)size;
    return has_sums(log, log->frame + frame_header - 8);
}

static int open_log(const char *database) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s-wal", database) >= (int)sizeof path) return -1;
    return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

bool strongroom_log_is_foreign(const char *database, strongroom_frame_check check, void *context) {
    log_reader log = { .fd = open_log(database) };
    bool is_foreign = false;
    if (log.fd >= 0 && begin(&log)) {
        bool is_own = false;
        // The last page of a transaction is as good as any of it. One page with the key is enough.
        while (!is_own && next(&log)) {
            if (!frame_commits(log.frame)) continue;
            is_own = check(context, log.frame + frame_header, (int)log.page_size, frame_page(log.frame));
            is_foreign = !is_own;
        }
    }
    free(log.frame);
    if (log.fd >= 0) close(log.fd);
    return is_foreign;
}

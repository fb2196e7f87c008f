// The frames of a write-ahead log.

#include "replica_log.h"
#include "../CStrongroom/files/log_format.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { magic = 0x377f0682, page_size_offset = 8, header_checksum = 24, frame_checksum = 16, file_version = 3007000 };

static int read_all(int descriptor, void *bytes, size_t size, off_t offset) {
    char *at = bytes;
    while (size > 0) {
        ssize_t count = pread(descriptor, at, size, offset);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? errno : REPLICA_LOG_ENDS;
        at += count; offset += count; size -= (size_t)count;
    }
    return 0;
}

/// Reads a frame by one call, if that returns all of it.
static int read_frame(int descriptor, uint8_t *header, uint8_t *bytes, size_t size, off_t offset) {
    struct iovec parts[] = { { header, frame_header }, { bytes, size } };
    if (preadv(descriptor, parts, 2, offset) == (ssize_t)(frame_header + size)) return 0;
    int result = read_all(descriptor, header, frame_header, offset);
    return result != 0 ? result : read_all(descriptor, bytes, size, offset + frame_header);
}

static uint32_t little_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

static void add(bool is_big, const uint8_t *bytes, size_t size, uint32_t sums[2]) {
    uint32_t first = sums[0], second = sums[1];
    for (size_t at = 0; at < size; at += 8) {
        first += (is_big ? big_endian(bytes + at) : little_endian(bytes + at)) + second;
        second += (is_big ? big_endian(bytes + at + 4) : little_endian(bytes + at + 4)) + first;
    }
    sums[0] = first;
    sums[1] = second;
}

static bool ends_with(const uint8_t *sums, const uint32_t expected[2]) {
    return big_endian(sums) == expected[0] && big_endian(sums + 4) == expected[1];
}

int replica_log_begin(int descriptor, replica_cursor *cursor) {
    uint8_t header[log_header];
    int result = read_all(descriptor, header, sizeof header, 0);
    if (result != 0) return result;
    uint32_t found = big_endian(header), size = big_endian(header + page_size_offset);
    memset(cursor, 0, sizeof *cursor);
    cursor->is_big_endian = found & 1;
    add(cursor->is_big_endian, header, header_checksum, cursor->checksum);
    bool is_size = size >= 512 && size <= 65536 && (size & (size - 1)) == 0;
    bool is_valid = (found & ~1U) == magic && big_endian(header + 4) == file_version && is_size
        && ends_with(header + header_checksum, cursor->checksum);
    if (!is_valid) return REPLICA_LOG_ENDS;
    cursor->page_size = size;
    memcpy(cursor->salts, header + log_salts, salts_size);
    return 0;
}

static off_t offset_of(uint32_t frame, uint32_t page_size) {
    return log_header + (off_t)(frame - 1) * (frame_header + (off_t)page_size);
}

int replica_log_next(int descriptor, replica_cursor *cursor, uint8_t *bytes, uint32_t *page, uint32_t *page_count) {
    uint8_t header[frame_header];
    uint32_t sums[2] = { cursor->checksum[0], cursor->checksum[1] };
    off_t offset = offset_of(cursor->frame + 1, cursor->page_size);
    int result = read_frame(descriptor, header, bytes, cursor->page_size, offset);
    if (result != 0) return result;
    bool is_of_log = memcmp(header + frame_salts, cursor->salts, salts_size) == 0;
    if (!is_of_log || frame_page(header) == 0) return REPLICA_LOG_ENDS;
    add(cursor->is_big_endian, header, frame_salts, sums);
    add(cursor->is_big_endian, bytes, cursor->page_size, sums);
    if (!ends_with(header + frame_checksum, sums)) return REPLICA_LOG_ENDS;
    memcpy(cursor->checksum, sums, sizeof sums);
    cursor->frame += 1;
    *page = frame_page(header);
    *page_count = big_endian(header + 4);
    return 0;
}

bool replica_log_contains(int descriptor, const replica_cursor *cursor) {
    replica_cursor begin;
    uint8_t header[frame_header];
    if (replica_log_begin(descriptor, &begin) != 0) return false;
    if (begin.page_size != cursor->page_size || memcmp(begin.salts, cursor->salts, salts_size) != 0) return false;
    if (cursor->frame == 0) return true;
    off_t offset = offset_of(cursor->frame, cursor->page_size);
    if (read_all(descriptor, header, sizeof header, offset) != 0) return false;
    return memcmp(header + frame_salts, cursor->salts, salts_size) == 0
        && ends_with(header + frame_checksum, cursor->checksum);
}

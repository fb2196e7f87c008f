// The layout of a write-ahead log. <https://www.sqlite.org/walformat.html>

#ifndef log_format_h
#define log_format_h

#include <stdbool.h>
#include <stdint.h>

/// The sizes of the headers of a log and of a frame, and the offsets and size of the salts in them.
enum { log_header = 32, frame_header = 24, log_salts = 16, frame_salts = 8, salts_size = 8 };

static inline uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// The number of the page in the frame.
static inline uint32_t frame_page(const uint8_t *header) { return big_endian(header); }

/// The size of the database, which is only in frames that commit.
static inline bool frame_commits(const uint8_t *header) { return big_endian(header + 4) != 0; }

#endif

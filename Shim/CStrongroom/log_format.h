// The layout of a write-ahead log, for all who read frames. <https://www.sqlite.org/walformat.html>

#ifndef log_format_h
#define log_format_h

#include <stdbool.h>
#include <stdint.h>

/// Sizes of the headers of a log and of a frame, where the salts are in them, and their size.
enum { log_header = 32, frame_header = 24, log_salts = 16, frame_salts = 8, salts_size = 8 };

static inline uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// The number of the page that follows.
static inline uint32_t frame_page(const uint8_t *header) { return big_endian(header); }

/// Only a frame that commits says how large the database is.
static inline bool frame_commits(const uint8_t *header) { return big_endian(header + 4) != 0; }

#endif

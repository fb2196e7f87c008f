// The frames of a write-ahead log, read from its file: SQLite's locks are not on it.
// <https://www.sqlite.org/walformat.html>

#ifndef REPLICA_LOG_H
#define REPLICA_LOG_H

#include <stdbool.h>
#include <stdint.h>

/// A place in a log: after a frame, or before the first one.
typedef struct {
    uint32_t frame;             ///< The last frame that was read. 0 before the first one.
    uint32_t page_size;
    uint32_t checksum[2];       ///< Of the log, up to that frame.
    uint8_t salts[8];           ///< Of the log. They change when it begins anew.
    bool is_big_endian;         ///< The byte order of its checksums.
} replica_cursor;

enum { REPLICA_LOG_OK = 0, REPLICA_LOG_ENDS = -1 };

/// Reads the header of a log. Returns REPLICA_LOG_ENDS if it has no valid one, or an errno.
int replica_log_begin(int descriptor, replica_cursor *cursor);

/// Reads the next frame, of `cursor->page_size` bytes. `page_count` is the size of the database if the frame commits,
/// otherwise 0. Returns REPLICA_LOG_ENDS if no valid frame follows, or an errno.
int replica_log_next(int descriptor, replica_cursor *cursor, uint8_t *bytes, uint32_t *page, uint32_t *page_count);

/// Returns true if the log still contains the frame before the cursor.
bool replica_log_contains(int descriptor, const replica_cursor *cursor);

#endif

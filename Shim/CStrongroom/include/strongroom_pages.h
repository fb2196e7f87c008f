// The pages of an open database, in its file and in its log, and their authenticity.

#ifndef STRONGROOM_PAGES_H
#define STRONGROOM_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

// MARK: The connection's own files. Closing another descriptor of the database would release this process's locks.

/// Returns the size of the main file. Zero bytes for a database without a file.
int strongroom_database_size(sqlite3 *db, const char *schema, int64_t *size);
/// Reads the main file. Fails with SQLITE_IOERR_SHORT_READ past the end.
int strongroom_database_read(sqlite3 *db, const char *schema, void *bytes, int size, int64_t offset);
/// Returns the size of the main database's write-ahead log. Zero bytes without one.
int strongroom_log_size(sqlite3 *db, int64_t *size);
/// Reads the log. Fails with SQLITE_IOERR_SHORT_READ past the end.
int strongroom_log_read(sqlite3 *db, void *bytes, int size, int64_t offset);

// MARK: The write-ahead log

/// The frame of the newest committed version of each page in the log: four bytes per page.
typedef struct {
    uint32_t *frames;   ///< By page number, counted from 1; 0 for a page that isn't in the log.
    uint32_t count;
    uint8_t salts[8];   ///< Of this log: they change when it is begun anew.
} strongroom_log_index;

/// Indexes the first `pages` pages. Empty without a log. To be freed if it succeeds.
int strongroom_log_index_read(sqlite3 *db, int page_size, uint32_t pages, strongroom_log_index *index);
void strongroom_log_index_free(strongroom_log_index *index);
/// Returns the frame of a page, from 1. 0 if the page is not in the log.
uint32_t strongroom_log_index_frame(const strongroom_log_index *index, uint32_t page);
/// Sets `current` to true if the frame of a page is still the one in the index.
int strongroom_log_index_is_current(
    sqlite3 *db, const strongroom_log_index *index, int page_size, uint32_t page, bool *current);
/// Returns the offset of a frame's page in the log.
int64_t strongroom_frame_offset(uint32_t frame, int page_size);

// MARK: SQLCipher's page format

typedef struct {
    uint8_t key[32];
    uint8_t hmac_key[32];
    int hmac_digest;    ///< A strongroom_digest, or 0 where pages carry no HMAC.
    int page_size;
    int header;         ///< Bytes of page 1 that are not encrypted: the salt, or a plaintext header.
} strongroom_page_format;

/// Returns the reserve of each page in bytes: the initialization vector, the HMAC, and padding to the cipher's
/// block.
int strongroom_page_reserve(int hmac_digest);
/// Returns true if SQLCipher accepts the page: its HMAC fits, or it is not the first page and all bytes are zero.
/// Without HMAC, only page 1 can be checked.
bool strongroom_page_is_authentic(const strongroom_page_format *format, const uint8_t *page, uint32_t number);
/// Does the same for `count` pages, one after the other in memory. Without memory, none is authentic.
void strongroom_pages_are_authentic(
    const strongroom_page_format *format, const uint8_t *pages, const uint32_t *numbers, int count, bool *authentic);
/// Returns true if page 1, authentic or not, decrypts to a SQLite header: the key is right even if the salt isn't.
/// Not for plaintext headers.
bool strongroom_page_decrypts(const strongroom_page_format *format, const uint8_t *page);
/// Decrypts the first `length` bytes of a page, authentic or not, rounded up to the cipher's block; `clear` has room
/// for a page. Page 1 begins with SQLite's magic. With the whole page as length, zeros take the place of the reserve.
bool strongroom_page_decrypt(
    const strongroom_page_format *format, const uint8_t *page, uint32_t number, int length, uint8_t *clear);
/// Returns true if page 1 indicates WAL mode.
bool strongroom_page_uses_log(const strongroom_page_format *format, const uint8_t *page);

// MARK: The gate, which prevents reads before the key is proved

/// Prevents SQLite from locking the file of the main database, and so from reading, recovery and rollback.
typedef struct strongroom_gate strongroom_gate;
/// Returns NULL without memory.
strongroom_gate *strongroom_gate_close(sqlite3 *db);
void strongroom_gate_open(strongroom_gate *gate);

/// Returns true if the connection has read or written a page of a file, or for databases in memory of any.
bool strongroom_has_used_pages(sqlite3 *db, bool in_memory);

typedef bool (*strongroom_page_check)(void *context, const uint8_t *page, int size);

/// Calls a function with each copy of page 1 in the write-ahead log and the rollback journal, until it accepts one.
/// Reads both directly: SQLite's locks are not on these files. Returns true without memory, when nothing is known.
bool strongroom_first_page_elsewhere(const char *database, strongroom_page_check check, void *context);

typedef bool (*strongroom_frame_check)(void *context, const uint8_t *page, int size, uint32_t number);

/// Returns true if the write-ahead log has transactions that recovery would apply, and the function accepts a page of
/// none of them. It is called with the last page of each, until it accepts one. Reads the log directly: SQLite's locks
/// are not on this file. False without memory.
bool strongroom_log_is_foreign(const char *database, strongroom_frame_check check, void *context);

/// True if the rollback journal is that of a transaction that creates the database: rolled back, it leaves no page.
bool strongroom_journal_creates(const char *database);

#endif

// The pages of an open database, in its file and in its log, and whether they are what SQLCipher wrote under a key.

#ifndef STRONGROOM_PAGES_H
#define STRONGROOM_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

// MARK: The connection's own files. Closing another descriptor of the database would drop this process's locks.

/// Zero bytes for a database that has no file (yet).
int strongroom_database_size(sqlite3 *db, const char *schema, int64_t *size);
/// Fails with SQLITE_IOERR_SHORT_READ past the end.
int strongroom_database_read(sqlite3 *db, const char *schema, void *bytes, int size, int64_t offset);
/// Of the write-ahead log of the main database; zero bytes without one.
int strongroom_log_size(sqlite3 *db, int64_t *size);
/// Fails with SQLITE_IOERR_SHORT_READ past the end.
int strongroom_log_read(sqlite3 *db, void *bytes, int size, int64_t offset);

// MARK: The write-ahead log

/// Where the newest committed version of each page is in the log: four bytes a page.
typedef struct {
    uint32_t *frames;   ///< By page number, counted from 1; 0 for a page that isn't in the log.
    uint32_t count;
    uint8_t salts[8];   ///< Of this log: they change when it is begun anew.
} strongroom_log_index;

/// Of the first `pages` pages; empty without a log. To be freed when it succeeds.
int strongroom_log_index_read(sqlite3 *db, int page_size, uint32_t pages, strongroom_log_index *index);
void strongroom_log_index_free(strongroom_log_index *index);
/// The frame of a page, counted from 1; 0 when the log has none.
uint32_t strongroom_log_index_frame(const strongroom_log_index *index, uint32_t page);
/// Whether the frame of a page is still the one that was found.
int strongroom_log_index_is_current(
    sqlite3 *db, const strongroom_log_index *index, int page_size, uint32_t page, bool *current);
/// Where the page of a frame begins in the log.
int64_t strongroom_frame_offset(uint32_t frame, int page_size);

// MARK: SQLCipher's page format

typedef struct {
    uint8_t key[32];
    uint8_t hmac_key[32];
    int hmac_digest;    ///< A strongroom_digest, or 0 where pages carry no HMAC.
    int page_size;
    int header;         ///< Bytes of page 1 that are not encrypted: the salt, or a plaintext header.
} strongroom_page_format;

/// Bytes at the end of each page: the IV, the HMAC, padding to the cipher's block.
int strongroom_page_reserve(int hmac_digest);
/// True when SQLCipher would accept the page: its HMAC fits, or it is all zero and not the first; without HMAC, only
/// page 1 can be told.
bool strongroom_page_is_authentic(const strongroom_page_format *format, const uint8_t *page, uint32_t number);
/// True when page 1, authentic or not, decrypts to a SQLite header: the key is right even if the salt isn't. Not for
/// plaintext headers.
bool strongroom_page_decrypts(const strongroom_page_format *format, const uint8_t *page);
/// Whether page 1 says that the database is in WAL mode.
bool strongroom_page_uses_log(const strongroom_page_format *format, const uint8_t *page);

// MARK: Reading nothing before the key has proved itself

/// Keeps SQLite away from the file of the main database: no lock, and so no read, no recovery and no rollback.
typedef struct strongroom_gate strongroom_gate;
/// NULL without memory.
strongroom_gate *strongroom_gate_close(sqlite3 *db);
void strongroom_gate_open(strongroom_gate *gate);

/// Whether the connection has read or written a page of a file; for databases in memory, whether it has touched any.
bool strongroom_has_used_pages(sqlite3 *db, bool in_memory);

typedef bool (*strongroom_page_check)(void *context, const uint8_t *page, int size);

/// Shows each copy of page 1 that the write-ahead log and the rollback journal hold, until one is accepted. Reads
/// both as files: SQLite's locks are on neither. True without memory, when nothing is known.
bool strongroom_first_page_elsewhere(const char *database, strongroom_page_check check, void *context);

/// True if the rollback journal is that of a transaction that creates the database: rolled back, it leaves no page.
bool strongroom_journal_creates(const char *database);

#endif

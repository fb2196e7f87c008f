// What the encryption room needs from C: the provider that SQLCipher itself stands on, memory for secrets, the page format of
// SQLCipher, and the calls of SQLCipher whose results need watching.

#ifndef STRONGROOM_CRYPTO_H
#define STRONGROOM_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

// MARK: Provider. Zero is success; anything else is the provider refusing (a FIPS provider may).

typedef enum { STRONGROOM_SHA1 = 1, STRONGROOM_SHA256 = 256, STRONGROOM_SHA512 = 512 } strongroom_digest;

int strongroom_pbkdf2(strongroom_digest digest, const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size,
                      uint32_t rounds, uint8_t *out, size_t out_size);
int strongroom_hmac(strongroom_digest digest, const void *key, size_t key_size, const void *data, size_t size, uint8_t *out);
int strongroom_random(void *out, size_t size);

/// Constant time for a given size.
bool strongroom_equal(const void *a, const void *b, size_t size);

// MARK: Memory for secrets: pages of their own, locked against swapping where the limits allow, left out of core dumps, wiped on release.

void *strongroom_secret_allocate(size_t size);
void strongroom_secret_free(void *bytes, size_t size);
void strongroom_wipe(void *bytes, size_t size);

// MARK: The open connection's own file: closing another descriptor of it would drop this process's locks.

/// Zero bytes for a database that has no file (yet).
int strongroom_database_size(sqlite3 *db, const char *schema, int64_t *size);
/// Fails with SQLITE_IOERR_SHORT_READ past the end.
int strongroom_database_read(sqlite3 *db, const char *schema, void *bytes, int size, int64_t offset);
/// The write-ahead log's file; zero bytes without one.
int strongroom_log_size(sqlite3 *db, int64_t *size);
int strongroom_log_read(sqlite3 *db, void *bytes, int size, int64_t offset);

/// Where the newest committed version of each page is in the write-ahead log: four bytes a page.
typedef struct {
    uint32_t *frames;   // by page number; 0 for a page that isn't in the log
    uint32_t count;
    uint8_t salts[8];   // of this log: they change when it is begun anew
} strongroom_log_index;

/// Of the first `pages` pages; empty without a log. To be freed when it succeeds.
int strongroom_log_index_read(sqlite3 *db, int page_size, uint32_t pages, strongroom_log_index *index);
void strongroom_log_index_free(strongroom_log_index *index);
/// The frame of a page, counted from 1; 0 when the log has none.
uint32_t strongroom_log_index_frame(const strongroom_log_index *index, uint32_t page);
/// Whether the frame of a page is still the one that was found.
int strongroom_log_index_is_current(sqlite3 *db, const strongroom_log_index *index, int page_size, uint32_t page, bool *current);
/// Where the page of a frame begins in the log.
int64_t strongroom_frame_offset(uint32_t frame, int page_size);

// MARK: SQLCipher's page format

typedef struct {
    uint8_t key[32];
    uint8_t hmac_key[32];
    int hmac_digest;   // a strongroom_digest, or 0 where pages carry no HMAC
    int page_size;
    int header;        // bytes of page 1 that are not encrypted: the salt, or a plaintext header
} strongroom_page_format;

/// Bytes at the end of each page: the IV, the HMAC, padding to the cipher's block.
int strongroom_page_reserve(int hmac_digest);
/// True when SQLCipher would accept the page: its HMAC fits, or it is all zero and not the first; without HMAC, only page 1 can be told.
bool strongroom_page_is_authentic(const strongroom_page_format *format, const uint8_t *page, uint32_t number);
/// True when page 1, authentic or not, decrypts to a SQLite header: the key is right even if the salt isn't. Not for plaintext headers.
bool strongroom_page_decrypts(const strongroom_page_format *format, const uint8_t *page);
/// Whether page 1 says that the database is in WAL mode.
bool strongroom_page_uses_log(const strongroom_page_format *format, const uint8_t *page);

// MARK: Keys

/// For connections that the library opens for itself.
static const int strongroom_open_flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;

/// SQLCipher relies on allocations of which it checks some only. This sees to it that they are likely to succeed: what is freed here is
/// there for it to take. False without memory.
bool strongroom_can_take_key(void);

int strongroom_key(sqlite3 *db, const char *schema, const void *spec, int size);

/// Runs SQL that Strongroom's own statements must not see: SQLCipher executes its pragmas while it compiles them.
int strongroom_execute(sqlite3 *db, const char *sql);
/// The first column of the first row as text, to be freed with strongroom_free; NULL without a row, for NULL, and with an error.
int strongroom_ask(sqlite3 *db, const char *sql, char **answer);
void strongroom_free(void *text);
/// The absolute path of the main database; empty in memory and for temporary databases.
const char *strongroom_database_path(sqlite3 *db);

/// Lets a write meet the interruption that is pending: SQLITE_INTERRUPT, and SQLite has rolled the transaction back.
int strongroom_interrupt_write(sqlite3 *db);

/// Moves the log of the main database into the file and empties it; SQLITE_BUSY, after the busy handler, where somebody reads or writes.
int strongroom_empty_log(sqlite3 *db);
/// How many names a file has; 0 without one.
int64_t strongroom_link_count(const char *path);

/// ATTACH with the key as an argument, out of SQL.
int strongroom_attach(sqlite3 *db, const char *path, const char *schema, const void *spec, int size);
/// Moves up to `count` rows from a query to an insertion, value by value: SQLITE_ROW if there may be more, SQLITE_DONE after the
/// last, else an error, of the insertion's connection if `inserting`.
int strongroom_copy_rows(sqlite3_stmt *query, sqlite3_stmt *insertion, int count, bool *inserting);

/// Called with the pages written so far; non-zero stops.
typedef int (*strongroom_progress)(void *context, int64_t pages);

/// A thread that authenticates the pages in a write-ahead log while they are being written. NULL where there can be none; `format`
/// must outlive it.
typedef struct strongroom_verifier strongroom_verifier;
strongroom_verifier *strongroom_verifier_start(const char *log_path, const strongroom_page_format *format);
/// Pages were written at these places.
void strongroom_verifier_add(strongroom_verifier *self, const int64_t *offsets, size_t count);
/// Waits until all pages were looked at.
void strongroom_verifier_finish(strongroom_verifier *self);
/// After that: whether the page at that place is authentic as it is in the file.
bool strongroom_verifier_has(const strongroom_verifier *self, int64_t offset);
void strongroom_verifier_free(strongroom_verifier *self);

typedef struct {
    int result;        // of the first statement, write, sync or read that failed; SQLITE_NOMEM if none did and nothing was committed
    bool committed;    // the file has the new key
    bool stopped;      // by the progress callback
    bool lost;         // the connection couldn't prove that it writes with its old key: it writes nothing any more
    int64_t pages;
} strongroom_rekey_report;

/// A key as SQLCipher takes it, and as its pages show it.
typedef struct {
    const void *spec;
    int size;
    const strongroom_page_format *format;
} strongroom_page_key;

/// Locks the database, whose journal is a write-ahead log, against other writers.
int strongroom_rekey_begin(sqlite3 *db);
/// Gives that lock back, nothing having changed. `rollback` is a prepared ROLLBACK here and below: without memory, none could be prepared.
int strongroom_rekey_cancel(sqlite3 *db, sqlite3_stmt *rollback);

/// Under that lock, writes every page anew with `key`, and lets go; after a failure gives the connection `old_key` back, so that
/// its next write does not mix keys. The last pages belong to the commit and can't be stopped.
/// SQLCipher's own answer proves nothing: open the file again and look. `verifier` hears of the pages; it may be NULL.
///
/// Never with a rollback journal: SQLCipher writes the new salt into the old page 1 that it puts there, and a rollback after a
/// crash would bring back pages that no passphrase opens.
strongroom_rekey_report strongroom_rekey(sqlite3 *db, const strongroom_page_key *old_key, const strongroom_page_key *key,
                                         strongroom_progress progress, void *context, strongroom_verifier *verifier, sqlite3_stmt *rollback);

/// Commits one page over what a failed rekey left at the end of the write-ahead log: a commit whose sync failed would come back when
/// the log is recovered after a crash. The page is written only if it is authentic in `format`.
int strongroom_rekey_forget(sqlite3 *db, const strongroom_page_format *format, sqlite3_stmt *rollback);

// MARK: SQLCipher's log

/// Calls back from a thread of its own for each line that SQLCipher logs. Returns a path for PRAGMA cipher_log, or NULL.
const char *strongroom_log_sink(void (*line)(const char *text));

#endif

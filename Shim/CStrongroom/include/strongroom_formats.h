// What says the format of a database, what proves a key without SQLite, and files for copies in the making.

#ifndef STRONGROOM_FORMATS_H
#define STRONGROOM_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../CSQLCipher/sqlcipher.h"

// MARK: SQLCipher's defaults belong to the process: any code in it may change them.

/// Until strongroom_defaults_release, keys set in this process get SQLCipher 4's format, whatever other code has made
/// the default. True where other code has made another one.
bool strongroom_defaults_hold(void);
/// The last to release brings back what other code had said, unless it has said something else meanwhile.
void strongroom_defaults_release(void);
/// Runs SQL on a connection in memory whose key keeps SQLCipher's settings of the process alive.
int strongroom_defaults_execute(const char *sql);

// MARK: Reading nothing before the key has proved itself

/// Keeps SQLite away from the file of the main database: no lock, and so no read, no recovery and no rollback. NULL
/// without memory.
typedef struct strongroom_gate strongroom_gate;
strongroom_gate *strongroom_gate_close(sqlite3 *db);
void strongroom_gate_open(strongroom_gate *gate);

typedef bool (*strongroom_page_check)(void *context, const uint8_t *page, int size);

/// Shows each copy of page 1 that the write-ahead log and the rollback journal hold, until one is accepted. Reads
/// both as files: SQLite's locks are on neither.
bool strongroom_first_page_elsewhere(const char *database, strongroom_page_check check, void *context);

/// Whether the connection has read or written a page of a file; for databases in memory, whether it has touched any.
bool strongroom_has_used_pages(sqlite3 *db, bool in_memory);

// MARK: Copies in the making


/// A new folder in `parent` that only its owner looks into, locked while `*descriptor` is open. Zero or an errno.
int strongroom_staging_make(const char *parent, char *path, size_t capacity, int *descriptor);
/// Removes the folder and what is in it.
void strongroom_staging_remove(const char *path, int descriptor);
/// Removes the folders that processes left which were killed.
void strongroom_staging_sweep(const char *parent);

/// An empty file for a copy of `source`, which its owner may read and write. Zero or an errno.
int strongroom_copy_create(const char *path, const char *source);
/// Gives a copy the mode of `source`, and its owner and group where that is permitted; where the group can't be had,
/// it may do no more than everybody else.
int strongroom_copy_take_mode(const char *path, const char *source);
/// Takes away what `source` doesn't allow.
int strongroom_copy_limit_mode(const char *path, const char *source);

// MARK: Core dumps

/// No core dump of this process from now on. Zero or an errno.
int strongroom_prevent_core_dumps(void);

#endif

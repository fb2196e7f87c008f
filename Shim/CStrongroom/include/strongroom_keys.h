// Keys for SQLCipher, and the defaults that it would use where a format is not said.

#ifndef STRONGROOM_KEYS_H
#define STRONGROOM_KEYS_H

#include <stdbool.h>
#include "../../CSQLCipher/sqlcipher.h"

/// SQLCipher relies on allocations of which it checks some only. This sees to it that they are likely to succeed: what
/// is freed here is there for it to take. False without memory.
bool strongroom_can_take_key(void);

/// sqlite3_key_v2, with the memory that it needs; else SQLITE_NOMEM.
int strongroom_key(sqlite3 *db, const char *schema, const void *spec, int size);

/// ATTACH with the key as an argument, out of SQL and without a copy of it.
int strongroom_attach(sqlite3 *db, const char *path, const char *schema, const void *spec, int size);

// MARK: SQLCipher's defaults belong to the process: any code in it may change them.

/// Until strongroom_defaults_release, keys set in this process get SQLCipher 4's format, whatever other code has made
/// the default. After a failure nothing is held: no key may be set.
int strongroom_defaults_hold(void);

/// The last to release brings back what other code had said, unless it has said something else meanwhile.
void strongroom_defaults_release(void);

/// Runs SQL on a connection in memory whose key keeps SQLCipher's settings of the process alive.
int strongroom_defaults_execute(const char *sql);

#endif

// Keys for SQLCipher, and the defaults that it uses if a format is not set.

#ifndef STRONGROOM_KEYS_H
#define STRONGROOM_KEYS_H

#include <stdbool.h>
#include "../../CSQLCipher/sqlcipher.h"

/// Makes SQLCipher's allocations likely to succeed, of which it checks only some: it allocates and frees memory,
/// which SQLCipher can then use. Returns false without memory.
bool strongroom_can_take_key(void);

/// Calls sqlite3_key_v2 with sufficient memory, or returns SQLITE_NOMEM.
int strongroom_key(sqlite3 *db, const char *schema, const void *spec, int size);

/// Runs ATTACH with the key as an argument, so that it is neither part of the SQL nor copied.
int strongroom_attach(sqlite3 *db, const char *path, const char *schema, const void *spec, int size);

// MARK: SQLCipher's defaults, which belong to the process: any code in it can change them

/// Gives keys that are set in this process SQLCipher 4's format until strongroom_defaults_release, whatever
/// defaults other code has set. After a failure nothing is held, and no key may be set.
int strongroom_defaults_hold(void);

/// Ends a hold. The last one restores the defaults of other code, unless it has set others meanwhile.
void strongroom_defaults_release(void);

/// Runs SQL on a connection in memory, whose key keeps SQLCipher's settings of the process alive. The first call runs
/// it before that key as well.
int strongroom_defaults_execute(const char *sql);

#endif

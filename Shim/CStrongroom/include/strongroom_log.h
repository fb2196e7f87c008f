// The logs of SQLite and SQLCipher.

#ifndef STRONGROOM_LOG_H
#define STRONGROOM_LOG_H

#include "../../CSQLCipher/sqlcipher.h"

/// Calls sqlite3_config with SQLITE_CONFIG_LOG, which is variadic. Returns SQLITE_MISUSE after SQLite's first use.
int strongroom_config_log(void (*log)(void *context, int code, const char *message));

/// Calls back from a thread of its own for each line that SQLCipher logs. Returns a path for PRAGMA cipher_log, or
/// NULL.
const char *strongroom_log_sink(void (*line)(const char *text));

#endif

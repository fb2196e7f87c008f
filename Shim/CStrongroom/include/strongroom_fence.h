// A fence around SQLite's WAL-reset bug. <https://www.sqlite.org/wal.html#walresetbug>

#ifndef STRONGROOM_FENCE_H
#define STRONGROOM_FENCE_H

#include <stdbool.h>
#include "../../CSQLCipher/sqlcipher.h"

/// Whether a library of these versions has the bug: SQLite's as a number (3046001), SQLCipher's as it says it (`4.6.1 community`); NULL
/// where it is not known.
bool strongroom_has_wal_reset_bug(int sqlite, const char *sqlcipher);

/// Whether the library in use has it.
bool strongroom_library_has_wal_reset_bug(void);

/// The VFS to open connections with: one that fences `vfs` (NULL for the default), or `vfs` itself where the library has no bug. Answers
/// SQLITE_NOMEM without memory.
int strongroom_fence(const char *vfs, const char **fenced);

#endif

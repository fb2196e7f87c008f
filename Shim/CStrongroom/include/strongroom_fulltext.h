// The door to FTS5's own interface.

#ifndef STRONGROOM_FULLTEXT_H
#define STRONGROOM_FULLTEXT_H

#include "../../CSQLCipher/sqlcipher.h"

/// The connection's fts5_api, valid until it is closed. SQLite hands it out through a typed pointer in a statement only; the
/// statement must not be one that the library's own bookkeeping sees.
int strongroom_fts5_api(sqlite3 *db, fts5_api **api);

#endif

// SQLCipher's own header, with the key calls that it declares only on request, or the reason why it can't be used.

#ifndef STRONGROOM_SQLCIPHER_H
#define STRONGROOM_SQLCIPHER_H

#if !__has_include(<sqlcipher/sqlite3.h>)
#error "SQLCipher's headers are missing: install libsqlcipher-dev 4.5 or newer (Debian, Ubuntu) \
or `brew install sqlcipher` (macOS); scripts/bootstrap does it."
#endif

#ifndef SQLITE_HAS_CODEC
#define SQLITE_HAS_CODEC 1
#endif

#include <sqlcipher/sqlite3.h>

// 3.36.0 is the SQLite inside SQLCipher 4.5.0.
#if SQLITE_VERSION_NUMBER < 3036000
#error "This SQLCipher is older than 4.5: install libsqlcipher-dev 4.5 or newer (Debian 12: from bookworm-backports); \
scripts/bootstrap does it."
#endif

#endif

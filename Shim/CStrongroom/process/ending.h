// The end of the program, after which no connection can be closed.

#ifndef ending_h
#define ending_h

#include "../../CSQLCipher/sqlcipher.h"

#include <stdbool.h>

/// Makes the program's end wait for connections that are being closed, if SQLCipher cleans up there. Called once, when
/// SQLCipher has set itself up.
int strongroom_prepare_end(sqlite3 *db);

/// Returns false if the program has ended too far for a connection to be closed. After true, the same thread calls
/// `strongroom_end_closing`.
bool strongroom_begin_closing(void);
void strongroom_end_closing(void);

#endif

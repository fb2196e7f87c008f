// The access of a thread to a connection, and the statements that threads without access release.

#ifndef STRONGROOM_ACCESS_H
#define STRONGROOM_ACCESS_H

#include "strongroom_connection.h"
#include "strongroom_stops.h"

/// Finalizes a statement: now if the calling thread has access, otherwise at the next access or at closing.
void strongroom_statement_release(strongroom_connection *connection, sqlite3_stmt *statement);

/// Finalizes the statements that other threads have released. The calling thread has access, or closes the connection.
void strongroom_connection_collect(strongroom_connection *connection);

/// Gives the calling thread access. Returns the former owner, the argument for `strongroom_exit`.
static inline uintptr_t strongroom_enter(strongroom_connection *connection) {
    uintptr_t former = strongroom_own(connection);
    strongroom_count_access(connection);
    if (strongroom_has_orphans(connection)) strongroom_connection_collect(connection);
    if (strongroom_stops(connection) != 0) strongroom_forget_interruption(connection);
    return former;
}

#endif

// Statements that threads without access release.

#include "strongroom_access.h"

#include <stdlib.h>

// Objects that SQLite frees with a statement or a connection may be the program's, and call anything: they are freed
// outside of the lock.

void strongroom_connection_collect(strongroom_connection *connection) {
    pthread_mutex_lock(&connection->lock);
    sqlite3_stmt **orphans = connection->orphans;
    int count = connection->orphan_count;
    connection->orphans = NULL;
    connection->orphan_capacity = 0;
    __atomic_store_n(&connection->orphan_count, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&connection->lock);
    for (int i = 0; i < count; i++) sqlite3_finalize(orphans[i]);
    free(orphans);
}

/// Called under the lock.
static void add_orphan(strongroom_connection *connection, sqlite3_stmt *statement) {
    if (connection->orphan_count == connection->orphan_capacity) {
        int capacity = connection->orphan_capacity == 0 ? 8 : 2 * connection->orphan_capacity;
        sqlite3_stmt **grown = realloc(connection->orphans, (size_t)capacity * sizeof *grown);
        if (grown == NULL) abort();
        connection->orphans = grown;
        connection->orphan_capacity = capacity;
    }
    connection->orphans[connection->orphan_count] = statement;
    __atomic_store_n(&connection->orphan_count, connection->orphan_count + 1, __ATOMIC_RELAXED);
}

/// Returns false if the connection is abandoned.
static bool keep_orphan(strongroom_connection *connection, sqlite3_stmt *statement) {
    pthread_mutex_lock(&connection->lock);
    bool is_kept = !connection->zombie;
    if (is_kept) add_orphan(connection, statement);
    pthread_mutex_unlock(&connection->lock);
    return is_kept;
}

void strongroom_statement_release(strongroom_connection *connection, sqlite3_stmt *statement) {
    if (strongroom_has_access(connection)) {
        sqlite3_finalize(statement);
    } else if (!keep_orphan(connection, statement)) {
        // An abandoned connection has no access: the lock alone orders its last statements.
        pthread_mutex_lock(&connection->last);
        sqlite3_finalize(statement);
        pthread_mutex_unlock(&connection->last);
    }
}

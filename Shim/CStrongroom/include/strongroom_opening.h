// Opening and closing connections.

#ifndef STRONGROOM_OPENING_H
#define STRONGROOM_OPENING_H

#include "strongroom_connection.h"

/// Opens a connection. `*out` is only set on SQLITE_OK. `message` receives SQLite's message, to be freed with
/// sqlite3_free. `vfs` is the name in `path`, if that is a URI with one, otherwise NULL.
int strongroom_connection_open(
    const char *path, int flags, const char *vfs, strongroom_connection **out, char **message);

/// Closes the connection. Returns SQLITE_BUSY, and does nothing, if statements are alive.
int strongroom_connection_close(strongroom_connection *connection);

/// Returns true once the connection is closed or abandoned. Safe to call from any thread.
bool strongroom_connection_is_closed(strongroom_connection *connection);

/// Closes the connection even if statements are alive: SQLite frees it when its last statement is finalized.
void strongroom_connection_abandon(strongroom_connection *connection);

/// Opens a connection again that was closed, and gives it the same functions. `db` stays NULL unless the result is
/// SQLITE_OK. The calling thread has access.
int strongroom_connection_reopen(
    strongroom_connection *connection, const char *path, int flags, const char *vfs, char **message);

/// Reads the schema for the first time after a key was set, when SQLCipher derives and copies the key. If an
/// allocation fails there, SQLCipher frees a secret twice when it closes the database. After SQLITE_NOMEM, close or
/// abandon the connection; no other precaution is necessary.
int strongroom_connection_first_read(strongroom_connection *connection);

/// Derives and copies the key of a file that is empty, with the same precaution.
int strongroom_connection_derive(strongroom_connection *connection, const char *schema);

/// Frees the handle itself, after close or abandon and after the last statement.
void strongroom_connection_free(strongroom_connection *connection);

#endif

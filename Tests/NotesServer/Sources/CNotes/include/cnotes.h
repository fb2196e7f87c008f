// The database of the server in plain C: one connection with prepared statements, for one thread at a time.

#ifndef CNOTES_H
#define CNOTES_H

#include <stdint.h>

typedef struct cnotes cnotes;

/// Opens or creates the database with a key specification. NULL after a failure.
cnotes *cnotes_open(const char *path, const char *key);
void cnotes_close(cnotes *notes);

/// Adds a note, or does nothing if there is one with the id. Returns 0 once it is committed.
int cnotes_add(cnotes *notes, const char *id, const char *text);

/// Returns the text of a note, to be freed. NULL if there is none.
char *cnotes_find(cnotes *notes, const char *id);

#endif

// Signals for a queue: their handler writes them into a pipe.

#ifndef STRONGROOM_SIGNALS_H
#define STRONGROOM_SIGNALS_H

#include <stdbool.h>

/// Handles SIGTSTP, SIGCONT and SIGTERM until the end. Returns the end of the pipe to read from, or -1 if they are
/// handled already or there is no pipe.
int strongroom_signals_begin(void);

/// Restores the former handlers.
void strongroom_signals_end(void);

/// Returns the next signal. 0 if there is none.
int strongroom_signals_next(void);

/// Returns true if a SIGCONT came after the most recent SIGTSTP.
bool strongroom_signals_continued(void);

/// Stops the process, unless a SIGCONT came after the most recent SIGTSTP. Returns false if it did not because of a
/// lock, for which `holds_lock` is asked immediately before.
bool strongroom_signals_stop(bool (*holds_lock)(void));

#endif

// Signals that a queue hears of: their handler writes them into a pipe.

#ifndef STRONGROOM_SIGNALS_H
#define STRONGROOM_SIGNALS_H

#include <stdbool.h>

/// Handles SIGTSTP, SIGCONT and SIGTERM until the end. Answers the pipe's end to read from, or -1 where they are
/// handled already or there is no pipe.
int strongroom_signals_begin(void);

/// Restores the former handlers.
void strongroom_signals_end(void);

/// The next signal that came; 0 when there is none.
int strongroom_signals_next(void);

/// Whether a SIGCONT came after the latest SIGTSTP.
bool strongroom_signals_continued(void);

/// Stops the process, unless a SIGCONT came after the latest SIGTSTP.
void strongroom_signals_stop(void);

#endif

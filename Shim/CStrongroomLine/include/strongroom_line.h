// Lines that a person types on a terminal, with libedit: editing, and a history.

#ifndef STRONGROOM_LINE_H
#define STRONGROOM_LINE_H

#include <stdbool.h>

typedef struct strongroom_line strongroom_line;

/// Edits lines on the terminal of standard input, and shows them on standard error. The descriptor `wake` ends a line
/// early when it becomes readable. NULL without memory.
strongroom_line *strongroom_line_open(const char *program, int wake);

/// The next line, valid until the next call. NULL at the end of the input, and when `wake` is readable.
const char *strongroom_line_read(strongroom_line *line, const char *prompt);

/// True if the latest line ended because of `wake`.
bool strongroom_line_was_woken(const strongroom_line *line);

/// Adds an entry to the history.
void strongroom_line_remember(strongroom_line *line, const char *entry);

void strongroom_line_close(strongroom_line *line);

#endif

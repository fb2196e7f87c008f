// Programs that are run for a secret.

#ifndef STRONGROOM_PROCESSES_H
#define STRONGROOM_PROCESSES_H

#include <stddef.h>

/// Runs a program to its end. Writes `input` to its standard input, and reads its standard output into `output`. If
/// `arguments[0]` has no slash, the program is looked up in PATH. Its standard error is that of this process.
///
/// Returns zero or an errno: ETIMEDOUT if the program did not end in time and was killed, EFBIG if it wrote more
/// than `capacity`, EINVAL for more input than fits in a pipe. `*status` is that of waitpid.
int strongroom_run(char *const arguments[], const void *input, size_t input_size, void *output, size_t capacity,
                   size_t *count, int milliseconds, int *status);

#endif

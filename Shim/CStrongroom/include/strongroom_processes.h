// Programs that are run for a secret.

#ifndef STRONGROOM_PROCESSES_H
#define STRONGROOM_PROCESSES_H

#include <stddef.h>

/// Runs a program to its end: writes `input` to its standard input, and reads its standard output into `output`. It is
/// looked up in PATH where `arguments[0]` has no slash. Its standard error is this process's.
///
/// Zero or an errno: ETIMEDOUT where it did not end in time and was killed, EFBIG where it wrote more than `capacity`,
/// EINVAL for more input than a pipe holds. `*status` is that of waitpid.
int strongroom_run(char *const arguments[], const void *input, size_t input_size, void *output, size_t capacity,
                   size_t *count, int milliseconds, int *status);

#endif

// Programs that are run for a secret.

#ifndef STRONGROOM_PROCESSES_H
#define STRONGROOM_PROCESSES_H

#include <stddef.h>

/// Runs a program to its end. Writes `input` to its standard input, and reads its standard output into `output`. If
/// `arguments[0]` has no slash, the program is looked up in PATH. Its standard error is that of this process.
///
/// `*count` is the number of bytes that the program wrote. If it exceeds `capacity`, `output` is of no use: the program
/// runs to its end all the same.
///
/// Returns zero or an errno: ETIMEDOUT if the program did not end in time and was killed, EMSGSIZE for more input than
/// fits in a pipe, EINVAL for a capacity of zero. `*status` is that of waitpid.
int strongroom_run(char *const arguments[], const void *input, size_t input_size, void *output, size_t capacity,
                   size_t *count, int milliseconds, int *status);

#endif

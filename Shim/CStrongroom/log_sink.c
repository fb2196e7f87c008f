// SQLCipher writes its log to a named file or to the standard streams; it has no callback. A pipe makes one.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "strongroom_crypto.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int ends[2] = { -1, -1 };
static void (*receive)(const char *text);

static void deliver(char *line) {
    if (*line) receive(line);
}

static void *drain(void *unused) {
    static char buffer[4096];
    size_t used = 0;
    for (;;) {
        ssize_t n = read(ends[0], buffer + used, sizeof buffer - 1 - used);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return unused;
        used += (size_t)n;
        buffer[used] = 0;
        char *start = buffer, *newline;
        while ((newline = strchr(start, '\n'))) { *newline = 0; deliver(start); start = newline + 1; }
        used -= (size_t)(start - buffer);
        memmove(buffer, start, used);
        if (used == sizeof buffer - 1) { buffer[used] = 0; deliver(buffer); used = 0; }
    }
}

const char *strongroom_log_sink(void (*line)(const char *text)) {
    static char path[32];
    pthread_t thread;
    if (ends[0] >= 0) return path;
    if (pipe(ends) != 0) return NULL;
    receive = line;
    // Both ends stay open for good: a pipe without a reader would kill the writer.
    for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    if (pthread_create(&thread, NULL, drain, NULL) != 0) { close(ends[0]); close(ends[1]); ends[0] = ends[1] = -1; return NULL; }
    pthread_detach(thread);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    return path;
}

// SQLite has a callback for its log. SQLCipher writes its own log to a named file or to the standard streams: a pipe
// turns it into a callback.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "strongroom_log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int strongroom_config_log(void (*log)(void *context, int code, const char *message)) {
    return sqlite3_config(SQLITE_CONFIG_LOG, log, NULL);
}

// MARK: SQLCipher's log

static int ends[2] = { -1, -1 };
static void (*receive)(const char *text);

static void deliver(char *line) {
    if (*line) receive(line);
}

/// Delivers the complete lines of a text, and moves the rest to the beginning. Returns the size of the rest.
static size_t deliver_lines(char *text, size_t size) {
    char *start = text, *newline;
    while ((newline = strchr(start, '\n'))) {
        *newline = 0;
        deliver(start);
        start = newline + 1;
    }
    size -= (size_t)(start - text);
    memmove(text, start, size + 1);
    return size;
}

static void *drain(void *unused) {
    static char buffer[4096];
    size_t used = 0;
    for (;;) {
        ssize_t count = read(ends[0], buffer + used, sizeof buffer - 1 - used);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return unused;
        buffer[used + (size_t)count] = 0;
        used = deliver_lines(buffer, used + (size_t)count);
        if (used < sizeof buffer - 1) continue;
        deliver(buffer);
        used = 0;
    }
}

const char *strongroom_log_sink(void (*line)(const char *text)) {
    static char path[32];
    pthread_t thread;
    if (ends[0] >= 0) return path;
    if (pipe(ends) != 0) return NULL;
    receive = line;
    // Both ends stay open: a pipe without a reader would kill the writer.
    for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    if (pthread_create(&thread, NULL, drain, NULL) != 0) {
        for (int i = 0; i < 2; i++) { close(ends[i]); ends[i] = -1; }
        return NULL;
    }
    pthread_detach(thread);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    return path;
}

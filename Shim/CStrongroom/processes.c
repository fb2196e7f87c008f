// Programs that are run for a secret. It only passes through pipes, and into memory that the caller wipes.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "strongroom_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if __APPLE__
#include <crt_externs.h>
#define environ (*_NSGetEnviron())
#else
extern char **environ;
#endif

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int make_pipe(int ends[2]) {
#if __APPLE__
    if (pipe(ends) != 0) return errno;
    for (int i = 0; i < 2; i++) (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return 0;
#else
    return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
#endif
}

static void close_pipe(int ends[2]) {
    for (int i = 0; i < 2; i++) if (ends[i] >= 0) close(ends[i]);
}

/// Resets signals: the program begins with those of a shell, whatever this process has blocked or ignores.
static int spawn(pid_t *pid, char *const arguments[], int input, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0) return result;
    result = posix_spawnattr_init(&attributes);
    if (result == 0) {
        (void)posix_spawnattr_setsigmask(&attributes, &none);
        (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        result = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        if (result == 0) result = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (result == 0) result = posix_spawnp(pid, arguments[0], &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

/// Reads available bytes. Returns EAGAIN if more may follow.
static int drain(int fd, char *output, size_t capacity, size_t *count) {
    for (;;) {
        char excess;
        bool is_full = *count == capacity;
        ssize_t got = read(fd, is_full ? &excess : output + *count, is_full ? 1 : capacity - *count);
        if (got == 0) return 0;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno == EWOULDBLOCK ? EAGAIN : errno;
        if (is_full) return EFBIG;
        *count += (size_t)got;
    }
}

/// Returns EAGAIN while the process runs.
static int reap(pid_t pid, int *status) {
    pid_t ended = waitpid(pid, status, WNOHANG);
    if (ended == pid) return 0;
    return ended == 0 || errno == EINTR ? EAGAIN : errno;
}

/// Terminates the process, and kills it a second later.
static void end(pid_t pid) {
    int status;
    kill(pid, SIGTERM);
    for (int i = 0; i < 100; i++) {
        if (reap(pid, &status) != EAGAIN) return;
        usleep(10000);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
}

/// The process may end before its output does, and a process that it has started may keep the output open.
static int follow(pid_t pid, int fd, char *output, size_t capacity, size_t *count, int64_t deadline, int *status) {
    bool is_open = true;
    for (;;) {
        int ended = reap(pid, status), read = is_open ? drain(fd, output, capacity, count) : 0;
        is_open = read == EAGAIN;
        if (ended != EAGAIN) return ended != 0 ? ended : read == EAGAIN ? 0 : read;
        if (read != 0 && read != EAGAIN) { end(pid); return read; }
        if (now() >= deadline) { end(pid); return ETIMEDOUT; }
        struct pollfd wait = { .fd = is_open ? fd : -1, .events = POLLIN };
        (void)poll(&wait, 1, is_open ? 20 : 2);
    }
}

int strongroom_run(char *const arguments[], const void *input, size_t input_size, void *output, size_t capacity,
                   size_t *count, int milliseconds, int *status) {
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    pid_t pid = 0;
    *count = 0;
    if (input_size > PIPE_BUF) return EINVAL;
    int64_t deadline = now() + milliseconds;
    int result = make_pipe(in);
    if (result == 0) result = make_pipe(out);
    // As long as this process can read it, a missing reader raises no SIGPIPE. The input fits in the pipe.
    if (result == 0 && input_size > 0 && write(in[1], input, input_size) != (ssize_t)input_size) result = EIO;
    if (result == 0) result = spawn(&pid, arguments, in[0], out[1]);
    if (result == 0) {
        close(in[0]); close(in[1]); close(out[1]);
        in[0] = in[1] = out[1] = -1;
        (void)fcntl(out[0], F_SETFL, O_NONBLOCK);
        result = follow(pid, out[0], output, capacity, count, deadline, status);
    }
    close_pipe(in);
    close_pipe(out);
    return result;
}

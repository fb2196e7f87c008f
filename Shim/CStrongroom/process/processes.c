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
    sigaddset(&defaults, SIGCHLD);
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

/// Reads available bytes, and counts all of them. Those that exceed the capacity take the place of former ones. Returns
/// EAGAIN if more may follow.
static int drain(int fd, char *output, size_t capacity, size_t *count) {
    // More than fits in a pipe, and no more: a program that writes without end does not keep the caller from its clock.
    for (size_t total = 0; total < 1 << 20;) {
        size_t kept = *count < capacity ? *count : 0;
        ssize_t got = read(fd, output + kept, capacity - kept);
        if (got == 0) return 0;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno == EWOULDBLOCK ? EAGAIN : errno;
        *count += (size_t)got;
        total += (size_t)got;
    }
    return EAGAIN;
}

/// Returns EAGAIN while the process runs.
static int reap(pid_t pid, int *status) {
    pid_t ended = waitpid(pid, status, WNOHANG);
    if (ended == pid) return 0;
    return ended == 0 || errno == EINTR ? EAGAIN : errno;
}

// MARK: Programs of a process that ignores SIGCHLD

/// A program under way. Where the system reaps the children of this process by itself, a process in between starts it,
/// and reports its end.
struct program {
    pid_t pid;
    pid_t parent;       ///< The process in between. 0 if there is none.
    int report;         ///< Where the process in between writes.
};

struct report {
    int error;
    pid_t pid;
    int status;
};

static bool ignores_children(void) {
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) != 0) return false;
    return action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0;
}

/// The process in between: it starts the program, reports it, waits for its end, and reports that.
static void supervise(char *const arguments[], int in[2], int out[2], int report) {
    struct report said = { 0 };
    (void)signal(SIGCHLD, SIG_DFL);
    // The program alone reads and writes, so that each side sees the end of the other.
    close(in[1]);
    close(out[0]);
    said.error = spawn(&said.pid, arguments, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    if (write(report, &said, sizeof said) != sizeof said || said.error != 0) _exit(1);
    while (waitpid(said.pid, &said.status, 0) < 0 && errno == EINTR) {}
    _exit(write(report, &said, sizeof said) == sizeof said ? 0 : 1);
}

static int read_report(int fd, struct report *said) {
    ssize_t got;
    do got = read(fd, said, sizeof *said); while (got < 0 && errno == EINTR);
    if (got < 0) return errno == EWOULDBLOCK ? EAGAIN : errno;
    return got == sizeof *said ? said->error : ECHILD;
}

static int start_supervised(struct program *program, char *const arguments[], int in[2], int out[2]) {
    int ends[2] = { -1, -1 };
    int result = make_pipe(ends);
    if (result != 0) return result;
    program->parent = fork();
    if (program->parent == 0) supervise(arguments, in, out, ends[1]);
    result = program->parent < 0 ? errno : 0;
    close(ends[1]);
    struct report said = { 0 };
    if (result == 0) result = read_report(ends[0], &said);
    program->pid = said.pid;
    program->report = ends[0];
    if (result == 0) (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    else close(ends[0]);
    return result;
}

static int start(struct program *program, char *const arguments[], int in[2], int out[2]) {
    *program = (struct program){ .report = -1 };
    if (ignores_children()) return start_supervised(program, arguments, in, out);
    return spawn(&program->pid, arguments, in[0], out[1]);
}

/// Returns EAGAIN while the program runs.
static int ended(struct program *program, int *status) {
    if (program->parent == 0) return reap(program->pid, status);
    struct report said;
    int result = read_report(program->report, &said);
    if (result == 0) *status = said.status;
    return result;
}

/// Terminates the program, and kills it a second later.
static void end(struct program *program) {
    int status, killed = 0;
    kill(program->pid, SIGTERM);
    for (int i = 0; ended(program, &status) == EAGAIN; i++) {
        if (i >= 100 && !killed) killed = kill(program->pid, SIGKILL) == 0;
        usleep(10000);
    }
}

/// The process may end before its output does, and a process that it has started may keep the output open.
static int follow(
    struct program *program, int fd, char *output, size_t capacity, size_t *count, int64_t deadline, int *status)
{
    bool is_open = true;
    for (;;) {
        int end_seen = ended(program, status), read = is_open ? drain(fd, output, capacity, count) : 0;
        is_open = read == EAGAIN;
        if (end_seen != EAGAIN) return end_seen != 0 ? end_seen : read == EAGAIN ? 0 : read;
        if (read != 0 && read != EAGAIN) { end(program); return read; }
        if (now() >= deadline) { end(program); return ETIMEDOUT; }
        struct pollfd wait = { .fd = is_open ? fd : -1, .events = POLLIN };
        (void)poll(&wait, 1, is_open ? 20 : 2);
    }
}

int strongroom_run(char *const arguments[], const void *input, size_t input_size, void *output, size_t capacity,
                   size_t *count, int milliseconds, int *status) {
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    struct program program;
    *count = 0;
    if (capacity == 0) return EINVAL;
    int64_t deadline = now() + milliseconds;
    int result = make_pipe(in);
    if (result == 0) result = make_pipe(out);
    // As long as this process can read it, a missing reader raises no SIGPIPE. Input that does not fit is refused.
    if (result == 0) (void)fcntl(in[1], F_SETFL, O_NONBLOCK);
    if (result == 0 && input_size > 0 && write(in[1], input, input_size) != (ssize_t)input_size) result = EMSGSIZE;
    if (result == 0) result = start(&program, arguments, in, out);
    if (result == 0) {
        close(in[0]); close(in[1]); close(out[1]);
        in[0] = in[1] = out[1] = -1;
        (void)fcntl(out[0], F_SETFL, O_NONBLOCK);
        result = follow(&program, out[0], output, capacity, count, deadline, status);
        if (program.report >= 0) close(program.report);
    }
    close_pipe(in);
    close_pipe(out);
    return result;
}

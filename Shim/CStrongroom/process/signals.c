#include "strongroom_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static const int handled[] = { SIGTSTP, SIGCONT, SIGTERM };
enum { count = sizeof handled / sizeof handled[0] };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction former[count];
static bool is_handling;
static int ends[2] = { -1, -1 };    // for the life of the process: a handler may be about to write
static int continued;

/// The handler, which only makes async-signal-safe calls.
/// <https://man7.org/linux/man-pages/man7/signal-safety.7.html>
static void handle(int number) {
    int error = errno;
    if (number != SIGTERM) __atomic_store_n(&continued, number == SIGCONT, __ATOMIC_SEQ_CST);
    unsigned char byte = (unsigned char)number;
    // A full pipe contains more signals than will be read.
    ssize_t written = write(ends[1], &byte, 1);
    (void)written;
    errno = error;
}

static bool open_pipe(void) {
    if (ends[0] != -1) return true;
    if (pipe(ends) != 0) return false;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    }
    return true;
}

int strongroom_signals_begin(void) {
    pthread_mutex_lock(&lock);
    int result = -1;
    if (!is_handling && open_pipe()) {
        struct sigaction action = { .sa_flags = SA_RESTART };
        action.sa_handler = handle;
        sigfillset(&action.sa_mask);
        for (int i = 0; i < count; i++) sigaction(handled[i], &action, &former[i]);
        is_handling = true;
        result = ends[0];
    }
    pthread_mutex_unlock(&lock);
    return result;
}

void strongroom_signals_end(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; is_handling && i < count; i++) sigaction(handled[i], &former[i], NULL);
    is_handling = false;
    pthread_mutex_unlock(&lock);
}

int strongroom_signals_next(void) {
    unsigned char byte = 0;
    return read(ends[0], &byte, 1) == 1 ? byte : 0;
}

bool strongroom_signals_continued(void) { return __atomic_load_n(&continued, __ATOMIC_SEQ_CST) != 0; }

/// Returns true if a SIGCONT came. On a busy machine its handler may not have run yet.
static bool is_continued(void) {
    usleep(100000);
    return strongroom_signals_continued();
}

/// Returns true if a SIGCONT is pending. It is blocked here, because only blocked signals are reported as pending.
static bool is_coming(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

bool strongroom_signals_stop(bool (*holds_lock)(void)) {
    struct sigaction handler, standard = { .sa_handler = SIG_DFL }, none = { .sa_handler = SIG_IGN };
    sigset_t blocked, mask;
    bool is_free = true;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTSTP);
    sigaddset(&blocked, SIGCONT);
    pthread_sigmask(SIG_BLOCK, &blocked, &mask);
    if (!is_coming()) {
        sigaction(SIGTSTP, &standard, &handler);
        // A SIGCONT discards a pending stop: each one that is sent from now on takes effect.
        pthread_kill(pthread_self(), SIGTSTP);
        if (is_continued() || !(is_free = !holds_lock())) sigaction(SIGTSTP, &none, NULL);
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
        sigaction(SIGTSTP, &handler, NULL);
        // The system does not stop an orphaned process group with SIGTSTP: a service is stopped with SIGSTOP.
        if (is_free && !is_continued() && (is_free = !holds_lock())) kill(getpid(), SIGSTOP);
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return is_free;
}

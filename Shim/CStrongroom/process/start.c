#include "strongroom_threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

typedef struct {
    void (*run)(void *);
    void *argument;
} beginning;

static void *begin(void *pointer) {
    beginning own = *(beginning *)pointer;
    free(pointer);
    own.run(own.argument);
    return NULL;
}

int strongroom_thread_start(void (*run)(void *), void *argument) {
    beginning *start = malloc(sizeof *start);
    if (start == NULL) return ENOMEM;
    *start = (beginning){run, argument};
    // A thread inherits the mask of the one that creates it. The program's handlers run on the program's threads.
    const int own[] = {SIGILL, SIGTRAP, SIGFPE, SIGBUS, SIGSEGV, SIGSYS, SIGPIPE, SIGABRT};
    sigset_t blocked, former;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&blocked, own[i]);
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);
    if (error == 0) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_sigmask(SIG_SETMASK, &blocked, &former);
        error = pthread_create(&thread, &attributes, begin, start);
        pthread_sigmask(SIG_SETMASK, &former, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (error != 0) free(start);
    return error;
}

void strongroom_thread_set_qos(strongroom_qos qos) {
#ifdef __APPLE__
    const qos_class_t classes[] = {
        [STRONGROOM_BACKGROUND] = QOS_CLASS_BACKGROUND,
        [STRONGROOM_UTILITY] = QOS_CLASS_UTILITY,
        [STRONGROOM_DEFAULT] = QOS_CLASS_DEFAULT,
        [STRONGROOM_USER_INITIATED] = QOS_CLASS_USER_INITIATED,
    };
    pthread_set_qos_class_self_np(classes[qos], 0);
#else
    (void)qos;
#endif
}

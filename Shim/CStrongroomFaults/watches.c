// Room for watched files, of which the system has a limit.

#if __linux__
#define _GNU_SOURCE 1
#include "system.h"
#include <errno.h>
#include <stdatomic.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_bool refuses;

void strongroom_faults_refuse_watches(bool refusing) { atomic_store(&refuses, refusing); }

int inotify_add_watch(int instance, const char *path, uint32_t mask) {
    if (atomic_load(&refuses)) return errno = ENOSPC, -1;
    return (int)syscall(SYS_inotify_add_watch, instance, path, mask);
}
#endif

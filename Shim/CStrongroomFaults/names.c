// File systems without hard links and exclusive renames, and files of other users.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "CStrongroomFaults.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#if __linux__
#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>

// Of one thread: tests run at the same time.
static _Thread_local bool refuses, dies;
static _Thread_local int64_t refusals;

static bool refuse(int error) {
    if (dies) kill(getpid(), SIGKILL);
    if (!refuses) return false;
    refusals++;
    errno = error;
    return true;
}

int link(const char *from, const char *to) {
    return refuse(EPERM) ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    return refuse(EINVAL) ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

void strongroom_faults_refuse_names(bool refusing) { refuses = refusing; }

int64_t strongroom_faults_refused_names(void) { return refusals; }

bool strongroom_faults_die_at_naming(void) { return dies = true; }

bool strongroom_faults_use_files_as(uint32_t user) {
    setfsuid(user);
    return (uint32_t)setfsuid((uid_t)-1) == user;
}
#else
void strongroom_faults_refuse_names(bool refusing) { (void)refusing; }

int64_t strongroom_faults_refused_names(void) { return -1; }

bool strongroom_faults_die_at_naming(void) { return false; }

bool strongroom_faults_use_files_as(uint32_t user) { return geteuid() == user; }
#endif

// File systems without hard links and exclusive renames, and files of other users.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "system.h"
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#if __linux__
#include <sys/fsuid.h>
#endif

// Of one thread: tests run at the same time.
static _Thread_local bool refuses, dies;
static _Thread_local int64_t refusals;

int strongroom_faults_before_naming(int refusal) {
    if (dies) kill(getpid(), SIGKILL);
    if (!refuses) return 0;
    refusals++;
    return refusal;
}

void strongroom_faults_refuse_names(bool refusing) { refuses = refusing; }

#if __linux__
int64_t strongroom_faults_refused_names(void) { return refusals; }

bool strongroom_faults_die_at_naming(void) { return dies = true; }

bool strongroom_faults_use_files_as(uint32_t user) {
    setfsuid(user);
    return (uint32_t)setfsuid((uid_t)-1) == user;
}
#else
int64_t strongroom_faults_refused_names(void) { return -1; }

bool strongroom_faults_die_at_naming(void) { return false; }

bool strongroom_faults_use_files_as(uint32_t user) { return geteuid() == user; }
#endif

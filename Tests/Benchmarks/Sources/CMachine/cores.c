#define _GNU_SOURCE
#include "machine.h"
#ifdef __linux__
#include <sched.h>

void machine_use_cores(int count) {
    cpu_set_t allowed, used;
    CPU_ZERO(&used);
    if (sched_getaffinity(0, sizeof allowed, &allowed)) return;
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&used) < count; core++)
        if (CPU_ISSET(core, &allowed)) CPU_SET(core, &used);
    sched_setaffinity(0, sizeof used, &used);
}
#else
void machine_use_cores(int count) { (void)count; }
#endif

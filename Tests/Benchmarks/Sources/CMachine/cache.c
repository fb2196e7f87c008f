#define _XOPEN_SOURCE 600
#include "machine.h"
#include <fcntl.h>
#include <unistd.h>

void machine_forget_file(const char *path) {
    int file = open(path, O_RDONLY);
    if (file < 0) return;
    // Only pages that are on the disk can be dropped.
    fsync(file);
#ifdef POSIX_FADV_DONTNEED
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
#endif
    close(file);
}

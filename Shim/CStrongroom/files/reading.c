// Reading of files on which SQLite has no locks, and the state of a file by its name.

#include "descriptors.h"
#include "strongroom_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int strongroom_unlocked_open(const char *path, int64_t *size) {
    struct stat file;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -errno;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) {
        close(fd);
        return -STRONGROOM_NOT_A_FILE;
    }
    *size = file.st_size;
    return fd;
}

int64_t strongroom_unlocked_read(int fd, void *bytes, int64_t size, int64_t offset) {
    return strongroom_read_at(fd, bytes, (size_t)size, offset);
}

void strongroom_unlocked_close(int fd) { close(fd); }

void strongroom_file_state(const char *path, int64_t state[4]) {
    struct stat file;
    for (int i = 0; i < 4; i++) state[i] = -1;
    if (stat(path, &file) != 0) return;
#if __APPLE__
    struct timespec changed = file.st_mtimespec;
#else
    struct timespec changed = file.st_mtim;
#endif
    state[0] = file.st_size;
    state[1] = changed.tv_sec;
    state[2] = changed.tv_nsec;
    state[3] = (int64_t)file.st_ino;
}

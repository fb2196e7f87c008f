#include "descriptors.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t strongroom_read_at(int descriptor, void *bytes, size_t size, int64_t offset) {
    size_t count = 0;
    while (count < size) {
        ssize_t read = pread(descriptor, (char *)bytes + count, size - count, (off_t)offset + (off_t)count);
        if (read < 0 && errno == EINTR) continue;
        if (read < 0) return -errno;
        if (read == 0) break;
        count += (size_t)read;
    }
    return (ssize_t)count;
}

bool strongroom_has_name(int descriptor, const char *path) {
    struct stat file, named;
    if (fstat(descriptor, &file) != 0 || lstat(path, &named) != 0) return false;
    return file.st_dev == named.st_dev && file.st_ino == named.st_ino;
}

bool strongroom_is_refusal(int error) {
    return error == EPERM || error == EINVAL || error == ENOSYS || error == ENOTSUP || error == EOPNOTSUPP
        || error == EMLINK;
}

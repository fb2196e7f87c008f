// The names of a database that another one replaces.

#include "descriptors.h"
#include "strongroom_files.h"
#include "strongroom_replacing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t strongroom_file_number(const char *path) {
    struct stat file;
    if (lstat(path, &file) != 0) return 0;
    return S_ISREG(file.st_mode) ? (int64_t)file.st_ino : -1;
}

bool strongroom_file_can_give_owner(const char *path) {
    struct stat file;
    return geteuid() == 0 || stat(path, &file) != 0 || file.st_uid == geteuid();
}

int strongroom_file_link(const char *from, const char *to) { return link(from, to) == 0 ? 0 : errno; }

bool strongroom_file_cannot_link(int error) { return strongroom_is_refusal(error); }

int strongroom_file_rename(const char *from, const char *to) { return rename(from, to) == 0 ? 0 : errno; }

int strongroom_file_unlink(const char *path) { return unlink(path) == 0 || errno == ENOENT ? 0 : errno; }

// MARK: The folder of a replacement

int strongroom_staging_hold(const char *path) {
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    // In file systems without such locks, a replacement in progress is taken for one that was killed.
    int result = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || strongroom_is_refusal(errno) ? 0 : errno;
    if (result == 0 && !strongroom_has_name(descriptor, path)) result = ENOENT;
    if (result == 0) return descriptor;
    close(descriptor);
    return result == EWOULDBLOCK ? -EBUSY : -result;
}

void strongroom_staging_leave(int descriptor) { close(descriptor); }

// MARK: Bytes

int strongroom_staged_create(const char *path) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return descriptor < 0 ? -errno : descriptor;
}

int strongroom_staged_write(int descriptor, const void *bytes, size_t size, int64_t offset) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t count = pwrite(descriptor, at, size, (off_t)offset);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? errno : EIO;
        at += count; offset += count; size -= (size_t)count;
    }
    return 0;
}

int strongroom_staged_finish(int descriptor) {
    int result = fsync(descriptor) == 0 ? 0 : errno;
    return close(descriptor) == 0 || result != 0 ? result : errno;
}

int strongroom_database_lock(sqlite3 *db, bool exclusive) {
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (result != SQLITE_OK) return result;
    if (!file || !file->pMethods) return SQLITE_CANTOPEN;
    if (exclusive && sqlite3_db_readonly(db, "main") == 1) return SQLITE_READONLY;
    result = file->pMethods->xLock(file, SQLITE_LOCK_SHARED);
    if (result != SQLITE_OK || !exclusive) return result;
    result = file->pMethods->xLock(file, SQLITE_LOCK_EXCLUSIVE);
    if (result != SQLITE_OK) (void)file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
    return result;
}

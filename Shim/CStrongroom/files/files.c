// Sidecars, which processes and users share: regular files only, with bounded waits, with the owner and the mode of the
// database, and synced before a function returns.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "descriptors.h"
#include "strongroom_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

// MARK: Opening

/// Returns a descriptor, or a negated errno.
static int open_regular(const char *path, int flags, mode_t mode) {
    struct stat found;
    // Opening a device or a FIFO can have effects, and can block.
    if (lstat(path, &found) == 0 && !S_ISREG(found.st_mode)) return -STRONGROOM_NOT_A_FILE;
    int fd = open(path, flags | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, mode);
    if (fd < 0) return errno == ELOOP ? -STRONGROOM_NOT_A_FILE : -errno;
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode)) return fd;
    close(fd);
    return -STRONGROOM_NOT_A_FILE;
}

/// Opens without O_CREAT if the file exists: in a folder with the sticky bit, Linux would refuse another user's
/// file.
static int open_or_create(const char *path, bool *is_new) {
    for (int tries = 0; tries < 100; tries++) {
        int fd = open_regular(path, O_RDWR, 0);
        *is_new = fd == -ENOENT;
        if (!*is_new) return fd;
        fd = open_regular(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd != -EEXIST) return fd;
    }
    return -EBUSY;
}

enum { longest_wait = 5000, interval = 5 };   // milliseconds

/// Waits for the lock. Writers hold it while the file is incomplete. The system releases it when they end for any
/// reason.
static int lock(int fd, int kind, int milliseconds) {
    for (int waited = 0; flock(fd, kind | LOCK_NB) != 0; waited += interval) {
        // Some file systems have no locks. The content is checked in any case.
        if (errno != EWOULDBLOCK && errno != EINTR) return 0;
        if (waited >= milliseconds) return EBUSY;
        usleep(interval * 1000);
    }
    return 0;
}

// MARK: Reading and writing

static int write_and_sync(int fd, size_t offset, const void *bytes, size_t size) {
    if (ftruncate(fd, (off_t)offset) != 0) return errno;
    const char *at = bytes;
    while (size > 0) {
        ssize_t n = pwrite(fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : EIO;
        at += n; offset += (size_t)n; size -= (size_t)n;
    }
    return fsync(fd) == 0 ? 0 : errno;
}

int strongroom_file_sync_folder(const char *path) {
    char directory[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof directory) return ENAMETOOLONG;
    if (!slash) { strcpy(directory, "."); }
    else if (length == 0) { strcpy(directory, "/"); }
    else { memcpy(directory, path, length); directory[length] = 0; }
    int fd = open(directory, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    // Some file systems can't sync a directory and return EINVAL. Nothing else can be done about them.
    int result = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    close(fd);
    return result;
}

int strongroom_file_read(const char *path, bool settled, void *bytes, size_t capacity) {
    int fd = open_regular(path, O_RDONLY, 0);
    if (fd < 0) return fd;
    int locked = settled ? lock(fd, LOCK_SH, longest_wait) : 0;
    ssize_t count = locked == 0 ? strongroom_read_at(fd, bytes, capacity, 0) : -locked;
    close(fd);
    return (int)count;
}

int strongroom_file_require_writable(const char *path) {
    int fd = open_regular(path, O_RDWR, 0);
    if (fd >= 0) close(fd);
    return fd >= 0 || fd == -ENOENT ? 0 : -fd;
}

/// Returns EAGAIN unless the file has its name and this content.
static int require_contents(int fd, const char *path, const void *expected, size_t size) {
    if (!strongroom_has_name(fd, path)) return EAGAIN;
    char *bytes = malloc(size + 1);
    if (!bytes) return ENOMEM;
    ssize_t count = strongroom_read_at(fd, bytes, size + 1, 0);
    int result = count < 0 ? (int)-count : (size_t)count == size && memcmp(bytes, expected, size) == 0 ? 0 : EAGAIN;
    free(bytes);
    return result;
}

/// Sets owner and mode as SQLite does for journals. If the owner or the group can't be that of the database, the
/// file has fewer permissions.
static void resemble(int fd, const char *database) {
    struct stat model, file;
    if (stat(database, &model) != 0) return;
    if (fchown(fd, model.st_uid, model.st_gid) != 0) (void)!fchown(fd, (uid_t)-1, model.st_gid);
    if (fstat(fd, &file) != 0) return;
    mode_t mode = model.st_mode & 0666;
    if (file.st_gid != model.st_gid) mode &= ~(mode_t)(S_IRGRP | S_IWGRP);
    // Some file systems have one mode for all files.
    (void)fchmod(fd, mode);
}

int strongroom_file_extend(const char *path, const char *database, const void *expected, size_t expected_size,
                           size_t kept, const void *bytes, size_t size) {
    bool is_new;
    int fd = open_or_create(path, &is_new);
    if (fd < 0) return -fd;
    int result = lock(fd, LOCK_EX, longest_wait);
    if (result == 0) result = require_contents(fd, path, expected, expected_size);
    if (result == 0) {
        resemble(fd, database);
        result = write_and_sync(fd, kept, bytes, size);
        // Nothing relies on it yet. Content that can't be removed is recognized as incomplete.
        if (result != 0) (void)!(kept == 0 ? unlink(path) : ftruncate(fd, (off_t)kept));
        if (result == 0 && kept == 0) result = strongroom_file_sync_folder(path);
    }
    if (close(fd) != 0 && result == 0) result = errno;
    return result;
}

int strongroom_file_remove_if(const char *path, const void *expected, size_t expected_size) {
    int fd = open_regular(path, O_RDWR, 0);
    if (fd == -EACCES || fd == -EROFS) fd = open_regular(path, O_RDONLY, 0);
    if (fd == -ENOENT) return 0;
    if (fd < 0) return -fd;
    int result = lock(fd, LOCK_EX, longest_wait);
    if (result == 0) result = require_contents(fd, path, expected, expected_size);
    if (result == 0 && unlink(path) != 0 && errno != ENOENT) result = errno;
    close(fd);
    return result != 0 ? result : strongroom_file_sync_folder(path);
}

int strongroom_file_replace_if(const char *path, const void *expected, size_t expected_size, const char *other) {
    int fd = open_regular(path, O_RDWR, 0);
    if (fd == -ENOENT) return EAGAIN;
    if (fd < 0) return -fd;
    int result = lock(fd, LOCK_EX, longest_wait);
    // Others that wait for the lock find another file under the name.
    if (result == 0) result = require_contents(fd, path, expected, expected_size);
    if (result == 0 && rename(other, path) != 0) result = errno;
    close(fd);
    return result != 0 ? result : strongroom_file_sync_folder(path);
}

// MARK: Replacing

/// Removes the file of another user, who could otherwise continue to write it, and a file with other names, which is
/// not a scratch file.
static int require_own(int fd, const char *scratch, bool is_new) {
    struct stat file;
    if (!strongroom_has_name(fd, scratch)) return EAGAIN;
    if (fstat(fd, &file) != 0) return errno;
    if ((is_new || file.st_uid == geteuid()) && file.st_nlink == 1) return 0;
    return unlink(scratch) == 0 ? EAGAIN : errno;
}

int strongroom_scratch_open(const char *scratch, const char *model) {
    for (int tries = 0; tries < 100; tries++) {
        bool is_new;
        int fd = open_or_create(scratch, &is_new);
        if (fd < 0) return fd;
        int result = lock(fd, LOCK_EX, longest_wait);
        if (result == 0) result = require_own(fd, scratch, is_new);
        if (result == 0) {
            // From now on, other users who may write the database wait for the lock.
            resemble(fd, model);
            return fd;
        }
        close(fd);
        if (result != EAGAIN) return -result;
    }
    return -EBUSY;
}

int strongroom_scratch_publish(int fd, const char *scratch, const char *path, const char *model, const void *bytes,
                               size_t size) {
    resemble(fd, model);
    int result = write_and_sync(fd, 0, bytes, size);
    // After the renaming, the next writer may replace the file before it could be read back.
    if (result == 0 && require_contents(fd, scratch, bytes, size) != 0) result = EIO;
    if (result == 0 && rename(scratch, path) != 0) result = errno;
    return result != 0 ? result : strongroom_file_sync_folder(path);
}

void strongroom_scratch_close(int fd, const char *scratch) {
    if (strongroom_has_name(fd, scratch)) (void)unlink(scratch);
    close(fd);
}

void strongroom_scratch_sweep(const char *scratch) {
    if (!strongroom_file_is_own(scratch)) return;
    int fd = open_regular(scratch, O_RDWR, 0);
    if (fd < 0) return;
    // Without locks, a change in progress can't be distinguished from a killed one.
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) strongroom_scratch_close(fd, scratch);
    else close(fd);
}

int strongroom_file_hold(const char *path, const char *database, int milliseconds) {
    bool is_new;
    int fd = open_or_create(path, &is_new);
    // Reading another user's file is sufficient for the lock.
    if (fd == -EACCES) fd = open_regular(path, O_RDONLY, 0);
    if (fd < 0) return fd;
    int result = lock(fd, LOCK_EX, milliseconds);
    if (result == 0) resemble(fd, database);
    if (result == 0) return fd;
    close(fd);
    return -result;
}

// MARK: Secrets

/// Allows only this user to open the file from now on, whoever created it.
static int make_private(int fd) {
    struct stat file;
    if (fstat(fd, &file) != 0) return errno;
    if (file.st_uid != geteuid() || file.st_nlink != 1) return EPERM;
    return fchmod(fd, 0600) == 0 ? 0 : errno;
}

int strongroom_file_create(const char *path, const char *partial, const void *bytes, size_t size) {
    for (int tries = 0; tries < 100; tries++) {
        if (strongroom_file_exists(path)) return EEXIST;
        bool is_new;
        int fd = open_or_create(partial, &is_new);
        if (fd < 0) return -fd;
        int result = lock(fd, LOCK_EX, longest_wait);
        // Meanwhile, its writer may have renamed it to its final name.
        bool is_mine = result == 0 && strongroom_has_name(fd, partial);
        if (is_mine && (result = make_private(fd)) == 0) {
            result = write_and_sync(fd, 0, bytes, size);
            if (result == 0) result = strongroom_file_move(partial, path);
            if (result != 0) (void)unlink(partial);
        }
        close(fd);
        if (is_mine || result != 0) return result;
    }
    return EBUSY;
}

int strongroom_file_remove(const char *path) {
    return unlink(path) == 0 ? strongroom_file_sync_folder(path) : errno;
}

// MARK: Names

static int rename_exclusively(const char *from, const char *to) {
#if __APPLE__
    return renamex_np(from, to, RENAME_EXCL) == 0 ? 0 : errno;
#elif defined(RENAME_NOREPLACE)
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
#else
    (void)from; (void)to;
    return ENOSYS;
#endif
}

static int link_exclusively(const char *from, const char *to) {
    if (link(from, to) != 0) return errno;
    return unlink(from) == 0 ? 0 : errno;
}

/// Takes the name with an empty file, which is locked as SQLite locks a file that it writes, so that no process
/// creates a database in it.
static int replace_placeholder(const char *from, const char *to) {
    int fd = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    struct flock bytes = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000000, .l_len = 512 };
    struct stat file;
    (void)fcntl(fd, F_SETLK, &bytes);
    int result = fstat(fd, &file) == 0 && file.st_size == 0 ? 0 : EEXIST;
    if (result == 0 && rename(from, to) != 0) {
        result = errno;
        (void)unlink(to);
    }
    close(fd);
    return result;
}

static int move(const char *from, const char *to) {
    int result = rename_exclusively(from, to);
    if (strongroom_is_refusal(result)) result = link_exclusively(from, to);
    return strongroom_is_refusal(result) ? replace_placeholder(from, to) : result;
}

int strongroom_file_move(const char *from, const char *to) {
    int result = move(from, to);
    if (result != 0) return result;
    result = strongroom_file_sync_folder(to);
    // A change that a power failure may undo has not happened.
    if (result != 0) (void)move(to, from);
    return result;
}

bool strongroom_file_exists(const char *path) {
    struct stat file;
    return lstat(path, &file) == 0;
}

bool strongroom_file_is_own(const char *path) {
    struct stat file;
    return lstat(path, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid();
}

bool strongroom_file_is_public(const char *path) {
    struct stat file;
    return lstat(path, &file) == 0 && (file.st_mode & S_IROTH) != 0;
}

int64_t strongroom_size_of_file(const char *path) {
    struct stat file;
    if (stat(path, &file) != 0) return -1;
    return S_ISDIR(file.st_mode) ? -2 : (int64_t)file.st_size;
}

bool strongroom_is_regular_file(const char *path) {
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

int64_t strongroom_link_count(const char *path) {
    struct stat file;
    return stat(path, &file) == 0 ? (int64_t)file.st_nlink : 0;
}

int64_t strongroom_file_room(const char *path, int64_t *largest_file) {
    struct statvfs system;
    struct rlimit limit;
    int64_t room = INT64_MAX;
    if (statvfs(path, &system) == 0) room = (int64_t)system.f_bavail * (int64_t)system.f_frsize;
    *largest_file = INT64_MAX;
    bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    if (is_limited) *largest_file = (int64_t)limit.rlim_cur;
    return room;
}

char *strongroom_real_path(const char *path) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    char *real = vfs ? sqlite3_malloc(vfs->mxPathname + 1) : NULL;
    // The extended code indicates that a symbolic link was followed.
    if (real && (vfs->xFullPathname(vfs, path, vfs->mxPathname + 1, real) & 0xff) == SQLITE_OK) return real;
    sqlite3_free(real);
    return NULL;
}

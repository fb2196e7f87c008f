// Copies are written in a folder of their own beside their destination, so that no process finds an incomplete copy,
// and only its owner can read it, whatever the mode of its files. A lock on the folder distinguishes a copy in progress
// from what a killed process has left.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "descriptors.h"
#include "strongroom_crypto.h"
#include "strongroom_files.h"
#include "strongroom_replacing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = ".strongroom-partial-";
static const char content[] = "copy";       // what each name in such a folder begins with
// In the folder of a backup, all files belong to it. The record, and the mark until there is one, say so.
static const char record[] = "strongroom-backup", mark[] = "strongroom-backup-new";

static int open_folder(const char *path) { return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

static int make_folder(const char *path, int *descriptor) {
    if (mkdir(path, 0700) != 0) return errno;
    *descriptor = open_folder(path);
    if (*descriptor < 0) { int error = errno; rmdir(path); return error; }
    // In file systems without such locks, leftovers are never removed.
    (void)flock(*descriptor, LOCK_EX);
    if (strongroom_has_name(*descriptor, path)) return 0;
    close(*descriptor);
    return EEXIST;      // swept before it was locked
}

int strongroom_staging_make(const char *parent, char *path, size_t capacity, int *descriptor) {
    for (;;) {
        uint32_t name;
        if (strongroom_random(&name, sizeof name) != 0) return EIO;
        if ((size_t)snprintf(path, capacity, "%s/%s%08x", parent, prefix, name) >= capacity) return ENAMETOOLONG;
        int error = make_folder(path, descriptor);
        if (error != EEXIST) return error;
    }
}

static bool has_file(int folder, const char *name) {
    struct stat found;
    return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode);
}

static void remove_files(int descriptor, DIR *folder, bool is_backup, bool records) {
    rewinddir(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        bool is_record = strncmp(entry->d_name, record, sizeof record - 1) == 0;
        bool is_own = is_backup ? is_record == records : strncmp(entry->d_name, content, sizeof content - 1) == 0;
        if (is_own) unlinkat(descriptor, entry->d_name, 0);
    }
}

static void ignore(void *context, const char *path) { (void)context, (void)path; }

void strongroom_staging_remove(const char *path, int descriptor) {
    int listed = dup(descriptor);
    DIR *folder = listed < 0 ? NULL : fdopendir(listed);
    if (folder) {
        bool is_backup = has_file(descriptor, record) || has_file(descriptor, mark);
        remove_files(descriptor, folder, is_backup, false);
        // Last: with it, the next sweep knows whose the other files are.
        if (is_backup) remove_files(descriptor, folder, true, true);
        closedir(folder);
    } else if (listed >= 0) {
        close(listed);
    }
    if (strongroom_has_name(descriptor, path)) {
        // What makes the copy may have made such a folder in it, and was killed, too.
        strongroom_staging_sweep(path, ignore, NULL);
        rmdir(path);
    }
    close(descriptor);
}

/// Returns true if the record of a replacement that needs the folder stands beside it.
static bool is_needed(int folder, const char *parent) {
    char name[256], path[4096];
    int fd = openat(folder, STRONGROOM_REPLACING_MARK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t length = strongroom_read_at(fd, name, sizeof name - 1, 0);
    close(fd);
    if (length <= 0) return false;
    name[length] = 0;
    if (strchr(name, '/') || snprintf(path, sizeof path, "%s/%s", parent, name) >= (int)sizeof path) return false;
    return strongroom_file_exists(path);
}

void strongroom_staging_sweep(const char *parent, void (*will_remove)(void *context, const char *path), void *context) {
    DIR *folder = opendir(parent);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", parent, entry->d_name) >= (int)sizeof path) continue;
        int descriptor = open_folder(path);
        if (descriptor < 0) continue;
        // In a folder of several users, another one can make such a folder, with any content.
        struct stat found;
        if (fstat(descriptor, &found) != 0 || found.st_uid != geteuid()) { close(descriptor); continue; }
        if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) { close(descriptor); continue; }
        if (is_needed(descriptor, parent)) { close(descriptor); continue; }
        will_remove(context, path);
        strongroom_staging_remove(path, descriptor);
    }
    closedir(folder);
}

int strongroom_staging_publish(const char *path, const char *destination) {
    // A folder replaces no file, and no folder with something in it.
    if (rename(path, destination) != 0) return errno == ENOTEMPTY || errno == ENOTDIR ? EEXIST : errno;
    int result = strongroom_file_sync_folder(destination);
    // A change that a power failure may undo has not happened.
    if (result != 0) (void)rename(destination, path);
    return result;
}

int strongroom_staging_retire(const char *folder, const char *parent, char *path, size_t capacity, int *descriptor) {
    *descriptor = open_folder(folder);
    if (*descriptor < 0) return errno;
    struct stat found;
    int result = fstat(*descriptor, &found) != 0 ? errno : found.st_uid != geteuid() ? EPERM : 0;
    if (result == 0 && flock(*descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) result = EBUSY;
    while (result == 0) {
        uint32_t name;
        if (strongroom_random(&name, sizeof name) != 0) { result = EIO; break; }
        if ((size_t)snprintf(path, capacity, "%s/%s%08x", parent, prefix, name) >= capacity) result = ENAMETOOLONG;
        else if (rename(folder, path) == 0) result = strongroom_file_sync_folder(path);
        else if (errno != ENOTEMPTY && errno != EEXIST) result = errno;
        else continue;
        if (result == 0) return 0;
    }
    close(*descriptor);
    return result;
}

// MARK: Modes

enum { permissions = 0666 };

int strongroom_copy_create(const char *path, const char *source) {
    struct stat original;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return errno;
    int result = 0;
    if (source && stat(source, &original) == 0
        && fchmod(fd, (original.st_mode & permissions) | 0600) != 0) result = errno;
    close(fd);
    return result;
}

int strongroom_copy_take_mode(const char *path, const char *source) {
    struct stat original, copy;
    if (stat(source, &original) != 0) return errno;
    // Root can change both, others only to one of their groups.
    if (chown(path, original.st_uid, original.st_gid) != 0
        && chown(path, (uid_t)-1, original.st_gid) != 0 && errno != EPERM) return errno;
    if (stat(path, &copy) != 0) return errno;
    mode_t mode = original.st_mode & permissions;
    if (copy.st_gid != original.st_gid) mode &= ~(mode_t)0070 | (mode & 0007) << 3;
    return chmod(path, mode) == 0 ? 0 : errno;
}

int strongroom_copy_limit_mode(const char *path, const char *source) {
    struct stat original, copy;
    if (stat(source, &original) != 0 || stat(path, &copy) != 0) return errno == ENOENT ? 0 : errno;
    mode_t mode = copy.st_mode & 07777, limited = mode & original.st_mode;
    return mode == limited || chmod(path, limited) == 0 ? 0 : errno;
}

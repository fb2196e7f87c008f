// The calls of the system that concern files, in front of those of the C library: SQLite's, and those that the library
// itself makes. They are counted, fail, kill the process or are traced when they are told to. ThreadSanitizer has its
// own.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "system.h"
#include <errno.h>

#if __linux__ && !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static bool fails(strongroom_call call, const char *path, int file) {
    int error = strongroom_faults_before(call, path, file);
    if (error != 0) errno = error;
    return error != 0;
}

// MARK: Opening

static int open_file(const char *path, int flags, mode_t mode) {
    if (fails(STRONGROOM_CALL_OPEN, path, -1)) return -1;
    bool creates = flags & O_CREAT && strongroom_trace_runs()
        && syscall(SYS_faccessat, AT_FDCWD, path, F_OK, 0) != 0;
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (file >= 0 && creates) strongroom_trace_name(STRONGROOM_TRACE_CREATE, path, NULL, file);
    if (file >= 0 && flags & O_TRUNC) strongroom_trace_file(STRONGROOM_TRACE_TRUNCATE, file, 0);
    return file;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        return open_file(path, flags, mode); \
    }

OPEN(open)
OPEN(open64)

int access(const char *path, int mode) {
    return fails(STRONGROOM_CALL_ACCESS, path, -1) ? -1 : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode, 0);
}

// MARK: Reading and writing

static ssize_t read_at(int file, void *bytes, size_t size, off64_t offset) {
    return fails(STRONGROOM_CALL_READ, NULL, file) ? -1 : syscall(SYS_pread64, file, bytes, size, offset);
}

ssize_t pread(int file, void *bytes, size_t size, off_t offset) { return read_at(file, bytes, size, offset); }
ssize_t pread64(int file, void *bytes, size_t size, off64_t offset) { return read_at(file, bytes, size, offset); }

ssize_t read(int file, void *bytes, size_t size) {
    return fails(STRONGROOM_CALL_READ, NULL, file) ? -1 : syscall(SYS_read, file, bytes, size);
}

static ssize_t write_at(int file, const void *bytes, size_t size, off64_t offset) {
    if (strongroom_faults_fail_operation()) return -1;
    if (fails(STRONGROOM_CALL_WRITE, NULL, file)) return -1;
    strongroom_trace_write(file, bytes, size, offset);
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) { return write_at(file, bytes, size, offset); }

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    return write_at(file, bytes, size, offset);
}

ssize_t write(int file, const void *bytes, size_t size) {
    if (fails(STRONGROOM_CALL_WRITE, NULL, file)) return -1;
    if (strongroom_trace_runs()) strongroom_trace_write(file, bytes, size, syscall(SYS_lseek, file, 0, SEEK_CUR));
    return syscall(SYS_write, file, bytes, size);
}

static int truncate_file(int file, off64_t size) {
    if (strongroom_faults_fail_operation()) return -1;
    if (fails(STRONGROOM_CALL_TRUNCATE, NULL, file)) return -1;
    strongroom_trace_file(STRONGROOM_TRACE_TRUNCATE, file, size);
    return (int)syscall(SYS_ftruncate, file, size);
}

int ftruncate(int file, off_t size) { return truncate_file(file, size); }
int ftruncate64(int file, off64_t size) { return truncate_file(file, size); }

// MARK: Syncs

static bool is_folder(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
}

static int sync_file(long number, int file) {
    strongroom_call call = is_folder(file) ? STRONGROOM_CALL_SYNC_FOLDER : STRONGROOM_CALL_SYNC;
    if (fails(call, NULL, file)) return -1;
    int result = (int)syscall(number, file);
    if (result == 0) strongroom_trace_file(STRONGROOM_TRACE_SYNC, file, 0);
    return result;
}

int fsync(int file) {
    if (strongroom_faults_fail_operation()) return -1;
    int error = strongroom_faults_before_sync();
    if (error == 0) return sync_file(SYS_fsync, file);
    errno = error;
    return -1;
}

int fdatasync(int file) { return sync_file(SYS_fdatasync, file); }

// MARK: Locks and shared memory

static int control(int file, int command, void *argument) {
    bool locks = command == F_SETLK || command == F_SETLKW;
    return locks && fails(STRONGROOM_CALL_LOCK, NULL, file) ? -1 : (int)syscall(SYS_fcntl, file, command, argument);
}

#define CONTROL(name) \
    int name(int file, int command, ...) { \
        va_list rest; \
        va_start(rest, command); \
        void *argument = va_arg(rest, void *); \
        va_end(rest); \
        return control(file, command, argument); \
    }

CONTROL(fcntl)
CONTROL(fcntl64)

void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset) {
    if (file >= 0 && fails(STRONGROOM_CALL_MAP, NULL, file)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

/// SQLite tries a hundred times for a lock that it isn't given: while calls fail, without the waits in between.
int nanosleep(const struct timespec *duration, struct timespec *rest) {
    return strongroom_faults_fail() ? 0 : (int)syscall(SYS_nanosleep, duration, rest);
}

// MARK: Names

int unlink(const char *path) {
    if (strongroom_faults_fail_operation()) return -1;
    if (fails(STRONGROOM_CALL_DELETE, path, -1)) return -1;
    int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (result == 0) strongroom_trace_name(STRONGROOM_TRACE_DELETE, path, NULL, -1);
    return result;
}

/// Of a folder in progress, whose removal nothing waits for.
int unlinkat(int folder, const char *path, int flags) {
    if (flags == 0 && strongroom_faults_fail_operation()) return -1;
    return (int)syscall(SYS_unlinkat, folder, path, flags);
}

static int rename_file(const char *from, const char *to, unsigned flags) {
    if (fails(STRONGROOM_CALL_RENAME, to, -1)) return -1;
    int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
    if (result == 0) strongroom_trace_name(STRONGROOM_TRACE_RENAME, from, to, -1);
    return result;
}

int rename(const char *from, const char *to) {
    if (strongroom_faults_fail_operation()) return -1;
    int result = rename_file(from, to, 0);
    strongroom_faults_note_renaming();
    return result;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    (void)from_folder, (void)to_folder;     // the library names files by their paths
    int error = strongroom_faults_before_naming(EINVAL);
    if (error == 0) return rename_file(from, to, flags);
    errno = error;
    return -1;
}

int link(const char *from, const char *to) {
    int error = strongroom_faults_before_naming(EPERM);
    if (error != 0) errno = error;
    if (error != 0 || fails(STRONGROOM_CALL_LINK, to, -1)) return -1;
    int result = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (result == 0) strongroom_trace_name(STRONGROOM_TRACE_LINK, from, to, -1);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    if (fails(STRONGROOM_CALL_OPEN, path, -1)) return -1;
    int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (result == 0) strongroom_trace_name(STRONGROOM_TRACE_FOLDER, path, NULL, -1);
    return result;
}

int fchown(int file, uid_t user, gid_t group) {
    return fails(STRONGROOM_CALL_OWNER, NULL, file) ? -1 : (int)syscall(SYS_fchown, file, user, group);
}

int fchmod(int file, mode_t mode) {
    return fails(STRONGROOM_CALL_MODE, NULL, file) ? -1 : (int)syscall(SYS_fchmod, file, mode);
}
#endif

// The provider under SQLCipher, memory for secrets, and small files that are on the disk when they say so.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "strongroom_crypto.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#if __APPLE__
#include <CommonCrypto/CommonCrypto.h>
#include <CommonCrypto/CommonRandom.h>
#else
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#endif

// MARK: Provider

#if __APPLE__

int strongroom_pbkdf2(strongroom_digest digest, const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size,
                      uint32_t rounds, uint8_t *out, size_t out_size) {
    CCPseudoRandomAlgorithm prf = digest == STRONGROOM_SHA512 ? kCCPRFHmacAlgSHA512 : digest == STRONGROOM_SHA256 ? kCCPRFHmacAlgSHA256 : kCCPRFHmacAlgSHA1;
    return CCKeyDerivationPBKDF(kCCPBKDF2, secret, secret_size, salt, salt_size, prf, rounds, out, out_size);
}

int strongroom_hmac(strongroom_digest digest, const void *key, size_t key_size, const void *data, size_t size, uint8_t *out) {
    CCHmacAlgorithm algorithm = digest == STRONGROOM_SHA512 ? kCCHmacAlgSHA512 : digest == STRONGROOM_SHA256 ? kCCHmacAlgSHA256 : kCCHmacAlgSHA1;
    CCHmac(algorithm, key, key_size, data, size, out);
    return 0;
}

int strongroom_random(void *out, size_t size) { return CCRandomGenerateBytes(out, size); }

bool strongroom_equal(const void *a, const void *b, size_t size) { return timingsafe_bcmp(a, b, size) == 0; }

void strongroom_wipe(void *bytes, size_t size) { memset_s(bytes, size, 0, size); }

#else

// When a program exits, OpenSSL frees what it works with, although other threads may still use databases: they would crash, or take
// intact pages for damaged ones. Whoever uses it first decides, so this comes before everything.
#ifdef OPENSSL_INIT_NO_ATEXIT
__attribute__((constructor)) static void keep_provider(void) { (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }
#endif

static const EVP_MD *evp(strongroom_digest digest) {
    return digest == STRONGROOM_SHA512 ? EVP_sha512() : digest == STRONGROOM_SHA256 ? EVP_sha256() : EVP_sha1();
}

int strongroom_pbkdf2(strongroom_digest digest, const void *secret, size_t secret_size, const uint8_t *salt, size_t salt_size,
                      uint32_t rounds, uint8_t *out, size_t out_size) {
    return PKCS5_PBKDF2_HMAC(secret, (int)secret_size, salt, (int)salt_size, (int)rounds, evp(digest), (int)out_size, out) == 1 ? 0 : 1;
}

int strongroom_hmac(strongroom_digest digest, const void *key, size_t key_size, const void *data, size_t size, uint8_t *out) {
    return HMAC(evp(digest), key, (int)key_size, data, size, out, NULL) != NULL ? 0 : 1;
}

int strongroom_random(void *out, size_t size) { return RAND_bytes(out, (int)size) == 1 ? 0 : 1; }

bool strongroom_equal(const void *a, const void *b, size_t size) { return CRYPTO_memcmp(a, b, size) == 0; }

void strongroom_wipe(void *bytes, size_t size) { OPENSSL_cleanse(bytes, size); }

#endif

// MARK: Memory for secrets

static size_t whole_pages(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

void *strongroom_secret_allocate(size_t size) {
    size_t length = whole_pages(size ? size : 1);
    void *bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return NULL;
    // RLIMIT_MEMLOCK may refuse: a key that can be swapped out is still better than a database that can't be opened.
    (void)mlock(bytes, length);
#ifdef MADV_DONTDUMP
    (void)madvise(bytes, length, MADV_DONTDUMP);
#endif
    return bytes;
}

void strongroom_secret_free(void *bytes, size_t size) {
    if (!bytes) return;
    size_t length = whole_pages(size ? size : 1);
    strongroom_wipe(bytes, length);
    munlock(bytes, length);
    munmap(bytes, length);
}

// MARK: Small files

static int sync_directory(const char *path) {
    char directory[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof directory) return ENAMETOOLONG;
    if (!slash) { strcpy(directory, "."); }
    else if (length == 0) { strcpy(directory, "/"); }
    else { memcpy(directory, path, length); directory[length] = 0; }
    int fd = open(directory, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    // Some file systems can't sync a directory and say EINVAL; there is nothing else to do about them.
    int result = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    close(fd);
    return result;
}

static int write_and_sync(int fd, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : EIO;
        at += n; size -= (size_t)n;
    }
    return fsync(fd) == 0 ? 0 : errno;
}

int strongroom_file_write(const char *path, const void *bytes, size_t size, bool exclusive) {
    char temporary[4096];
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary) return ENAMETOOLONG;
    int fd = mkstemp(temporary);   // mode 0600
    if (fd < 0) return errno;
    int result = write_and_sync(fd, bytes, size);
    if (close(fd) != 0 && result == 0) result = errno;
    if (result == 0) {
        if (exclusive) { if (link(temporary, path) != 0) result = errno; }
        else if (rename(temporary, path) != 0) { result = errno; }
    }
    if (result != 0 || exclusive) unlink(temporary);
    return result != 0 ? result : sync_directory(path);
}

int strongroom_file_remove(const char *path) {
    if (unlink(path) != 0) return errno == ENOENT ? 0 : errno;
    return sync_directory(path);
}

int strongroom_file_move(const char *from, const char *to) {
    struct stat file;
    if (link(from, to) == 0) {
        if (unlink(from) != 0) return errno;
    } else {
        // File systems without links; nothing else is as sure.
        if (errno != EPERM && errno != EOPNOTSUPP) return errno;
        if (lstat(to, &file) == 0) return EEXIST;
        if (rename(from, to) != 0) return errno;
    }
    return sync_directory(to);
}

int strongroom_file_read(const char *path, void *bytes, size_t capacity) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -errno;
    size_t count = 0;
    while (count < capacity) {
        ssize_t n = read(fd, (char *)bytes + count, capacity - count);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) { int error = errno; close(fd); return -error; }
        if (n == 0) break;
        count += (size_t)n;
    }
    close(fd);
    return (int)count;
}

int64_t strongroom_size_of_file(const char *path) {
    struct stat file;
    if (stat(path, &file) != 0) return -1;
    return S_ISDIR(file.st_mode) ? -2 : (int64_t)file.st_size;
}

int64_t strongroom_file_room(const char *path, int64_t *largest_file) {
    struct statvfs system;
    struct rlimit limit;
    int64_t room = INT64_MAX;
    if (statvfs(path, &system) == 0) room = (int64_t)system.f_bavail * (int64_t)system.f_frsize;
    *largest_file = INT64_MAX;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) *largest_file = (int64_t)limit.rlim_cur;
    return room;
}

// Derivations of the tests, each of which is computed once in a run. Processes that ask again take the result.
//
// Each command and each shell that opens a database derives its key with 256,000 rounds, which is most of the time of
// the tests. The result is the same as without this library. It is loaded by LD_PRELOAD, and the table is a file of
// zeros that STRONGROOM_DERIVATIONS names. A search of a process' memory must not meet a key in the table, so each is
// combined with a mask. No call of the system is made after the start, so that tests can count those of a program.

#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MASK = 0x5a, MOST = 64, LEAST_ROUNDS = 10000 };
enum state { FREE, WRITING, WRITTEN };

typedef struct {
    _Atomic uint32_t state;
    uint8_t question[32];
    uint8_t masked[MOST];
} entry;

static entry *table;
static size_t entries;

__attribute__((constructor)) static void map_table(void) {
    const char *path = getenv("STRONGROOM_DERIVATIONS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0) {
        void *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED) {
            table = mapped;
            entries = (size_t)status.st_size / sizeof(entry);
        }
    }
    if (file >= 0) close(file);
}

/// The question of a derivation: a digest of everything that its result depends on.
typedef struct {
    uint8_t digest[32];
} question;

static bool ask(question *question, const char *secret, size_t secret_size, const uint8_t *salt, size_t salt_size,
                const uint64_t numbers[4], size_t size) {
    unsigned char *(*sha256)(const unsigned char *, size_t, unsigned char *);
    *(void **)&sha256 = dlsym(RTLD_DEFAULT, "SHA256");
    uint8_t text[2048];
    uint64_t sizes[] = {secret_size, salt_size, size, numbers[0], numbers[1], numbers[2], numbers[3]};
    if (!table || !sha256 || size > MOST || secret_size + salt_size + sizeof sizes > sizeof text) return false;
    memcpy(text, sizes, sizeof sizes);
    memcpy(text + sizeof sizes, secret, secret_size);
    memcpy(text + sizeof sizes + secret_size, salt, salt_size);
    sha256(text, sizeof sizes + secret_size + salt_size, question->digest);
    explicit_bzero(text, sizeof text);
    return true;
}

static bool is_answer(entry *entry, const question *question) {
    return atomic_load(&entry->state) == WRITTEN && memcmp(entry->question, question->digest, 32) == 0;
}

static entry *first(const question *question) {
    uint32_t number;
    memcpy(&number, question->digest, sizeof number);
    return table + number % entries;
}

static entry *next(entry *entry) { return entry + 1 == table + entries ? table : entry + 1; }

static bool answer(const question *question, unsigned char *key, size_t size) {
    entry *entry = first(question);
    for (size_t i = 0; i < entries && atomic_load(&entry->state) != FREE; i++, entry = next(entry)) {
        if (!is_answer(entry, question)) continue;
        for (size_t byte = 0; byte < size; byte++) key[byte] = entry->masked[byte] ^ MASK;
        return true;
    }
    return false;
}

static void keep(const question *question, const unsigned char *key, size_t size) {
    entry *entry = first(question);
    for (size_t i = 0; i < entries; i++, entry = next(entry)) {
        uint32_t free = FREE;
        if (!atomic_compare_exchange_strong(&entry->state, &free, WRITING)) continue;
        memcpy(entry->question, question->digest, 32);
        for (size_t byte = 0; byte < size; byte++) entry->masked[byte] = key[byte] ^ MASK;
        atomic_store(&entry->state, WRITTEN);
        return;
    }
}

int PKCS5_PBKDF2_HMAC(const char *secret, int secret_size, const unsigned char *salt, int salt_size, int rounds,
                      const void *hash, int size, unsigned char *key) {
    int (*provided)(const char *, int, const unsigned char *, int, int, const void *, int, unsigned char *);
    *(void **)&provided = dlsym(RTLD_NEXT, "PKCS5_PBKDF2_HMAC");
    int (*size_of_hash)(const void *);
    *(void **)&size_of_hash = dlsym(RTLD_DEFAULT, "EVP_MD_get_size");
    question question;
    bool is_asked = rounds >= LEAST_ROUNDS && secret_size >= 0 && size_of_hash
                    && ask(&question, secret, (size_t)secret_size, salt, (size_t)salt_size,
                           (uint64_t[]){(uint64_t)rounds, (uint64_t)size_of_hash(hash), 0, 0}, (size_t)size);
    if (is_asked && answer(&question, key, (size_t)size)) return 1;
    int result = provided(secret, secret_size, salt, salt_size, rounds, hash, size, key);
    if (is_asked && result == 1) keep(&question, key, (size_t)size);
    return result;
}

int EVP_PBE_scrypt(const char *secret, size_t secret_size, const unsigned char *salt, size_t salt_size, uint64_t n,
                   uint64_t r, uint64_t p, uint64_t memory, unsigned char *key, size_t size) {
    int (*provided)(const char *, size_t, const unsigned char *, size_t, uint64_t, uint64_t, uint64_t, uint64_t,
                    unsigned char *, size_t);
    *(void **)&provided = dlsym(RTLD_NEXT, "EVP_PBE_scrypt");
    question question;
    bool is_asked = key && ask(&question, secret, secret_size, salt, salt_size, (uint64_t[]){n, r, p, memory}, size);
    if (is_asked && answer(&question, key, size)) return 1;
    int result = provided(secret, secret_size, salt, salt_size, n, r, p, memory, key, size);
    if (is_asked && result == 1) keep(&question, key, size);
    return result;
}

// A moment in the middle of opening: the derivation of a key from a secret, which takes longest.

#if __linux__
#define _GNU_SOURCE 1
#endif

#include "CStrongroomFaults.h"
#include <stddef.h>

#if __linux__
#include <dlfcn.h>
#include <openssl/evp.h>
#include <stdatomic.h>
#include <time.h>

static _Thread_local int64_t derivations;
static _Thread_local double seconds_deriving;

int64_t strongroom_faults_derivations(double *seconds) {
    *seconds = seconds_deriving;
    return derivations;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static _Thread_local void (*before_deriving)(void *context);
static _Thread_local void *context_before_deriving;

void strongroom_faults_before_deriving(void (*act)(void *context), void *context) {
    before_deriving = act;
    context_before_deriving = context;
}

static atomic_bool is_cheap;

void strongroom_faults_cheapen_derivations(bool cheapen) { is_cheap = cheapen; }

int EVP_PBE_scrypt(const char *secret, size_t secret_size, const unsigned char *salt, size_t salt_size, uint64_t n,
                   uint64_t r, uint64_t p, uint64_t memory, unsigned char *key, size_t key_size) {
    static int (*provided)(const char *, size_t, const unsigned char *, size_t, uint64_t, uint64_t, uint64_t, uint64_t,
                           unsigned char *, size_t);
    if (!provided) *(void **)&provided = dlsym(RTLD_NEXT, "EVP_PBE_scrypt");
    void (*act)(void *context) = before_deriving;
    before_deriving = NULL;
    if (act) act(context_before_deriving);
    double began = now();
    int result = provided(secret, secret_size, salt, salt_size, is_cheap ? 16 : n, r, p, memory, key, key_size);
    seconds_deriving += now() - began;
    derivations++;
    return result;
}

static _Thread_local int64_t pbkdf2_rounds;

int64_t strongroom_faults_pbkdf2_rounds(void) { return pbkdf2_rounds; }

int PKCS5_PBKDF2_HMAC(const char *secret, int secret_size, const unsigned char *salt, int salt_size, int rounds,
                      const EVP_MD *digest, int key_size, unsigned char *key) {
    static int (*provided)(const char *, int, const unsigned char *, int, int, const EVP_MD *, int, unsigned char *);
    if (!provided) *(void **)&provided = dlsym(RTLD_NEXT, "PKCS5_PBKDF2_HMAC");
    pbkdf2_rounds += rounds;
    return provided(secret, secret_size, salt, salt_size, rounds, digest, key_size, key);
}
#else
int64_t strongroom_faults_pbkdf2_rounds(void) { return -1; }

int64_t strongroom_faults_derivations(double *seconds) { return *seconds = 0, -1; }

void strongroom_faults_before_deriving(void (*act)(void *context), void *context) { (void)act, (void)context; }

void strongroom_faults_cheapen_derivations(bool cheapen) { (void)cheapen; }
#endif

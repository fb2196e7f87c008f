// SQLCipher's defaults are those of the process. Keys that are set meanwhile get them, and what no connection can say
// for itself stays with them: the mask that makes the salt of HMAC keys, and sizes that no key can be set under.

#include "strongroom_formats.h"
#include "strongroom_crypto.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3 *keeper;
static char *standard;      // SQLCipher 4's defaults, as `current` says them
static char *saved;         // those of other code, to be brought back
static int holders;

/// Adds a row of PRAGMA cipher_default_settings, which is a statement.
static int add_statement(void *text, int count, char **values, char **names) {
    (void)names;
    if (count > 0 && values[0]) sqlite3_str_appendall(text, values[0]);
    return 0;
}

/// SQLCipher calls the pragma obsolete whenever it is told a mask, so the usual one isn't said.
static int add_mask(void *text, int count, char **values, char **names) {
    (void)names;
    if (count > 0 && values[0] && strcmp(values[0], "3a") != 0) sqlite3_str_appendf(text, "PRAGMA cipher_hmac_salt_mask = \"x'%s'\";", values[0]);
    return 0;
}

/// The defaults as statements that bring them back; NULL without memory.
static char *current(void) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    int result = sqlite3_exec(keeper, "PRAGMA cipher_default_settings", add_statement, text, NULL);
    if (result == SQLITE_OK) result = sqlite3_exec(keeper, "PRAGMA cipher_hmac_salt_mask", add_mask, text, NULL);
    char *statements = sqlite3_str_finish(text);
    if (result == SQLITE_OK) return statements;
    sqlite3_free(statements);
    return NULL;
}

static bool differs(const char *statements) { return statements && standard && strcmp(statements, standard) != 0; }

static int execute(const char *statements) { return statements ? sqlite3_exec(keeper, statements, NULL, NULL, NULL) : SQLITE_OK; }

static int make_standard(bool has_mask) {
    int result = execute("PRAGMA cipher_default_compatibility = 4; PRAGMA cipher_default_plaintext_header_size = 0");
    return result == SQLITE_OK && has_mask ? execute("PRAGMA cipher_hmac_salt_mask = \"x'3a'\"") : result;
}

/// A SQLite that isn't SQLCipher must not get a key.
static bool is_sqlcipher(void) {
    char *version = NULL;
    bool answers = strongroom_ask(keeper, "PRAGMA cipher_version", &version) == SQLITE_OK && version != NULL;
    sqlite3_free(version);
    return answers;
}

/// Without memory there is nobody to tell: what other code sets next fails, too.
static void bring_back(const char *statements) { (void)execute(statements); }

/// Under sizes that aren't valid no key can be set, and without a key the mask can't be asked for.
static void set_key(void) {
    char *sizes = current();
    if (make_standard(false) == SQLITE_OK && strongroom_key(keeper, "main", "k", 1) == SQLITE_OK) {
        char *now = current(), *mask = now ? strstr(now, "PRAGMA cipher_hmac_salt_mask") : NULL;
        if (!mask || make_standard(true) == SQLITE_OK) standard = current();
        bring_back(mask);
        sqlite3_free(now);
    }
    bring_back(sizes);
    sqlite3_free(sizes);
}

/// The first time: settings of SQLCipher's log that are made before the first key are lost.
static bool open_keeper(void) {
    if (keeper) return true;
    if (sqlite3_open_v2(":memory:", &keeper, strongroom_open_flags, NULL) == SQLITE_OK && is_sqlcipher()) set_key();
    if (standard) return true;
    sqlite3_close_v2(keeper);
    keeper = NULL;
    return false;
}

bool strongroom_defaults_hold(void) {
    bool changed = false;
    pthread_mutex_lock(&lock);
    if (open_keeper()) {
        char *now = current();
        changed = differs(now);
        if (changed) {
            make_standard(strstr(now, "PRAGMA cipher_hmac_salt_mask") != NULL);
            if (!saved) { saved = now; now = NULL; }
        }
        sqlite3_free(now);
        changed = saved != NULL;
    }
    holders++;
    pthread_mutex_unlock(&lock);
    return changed;
}

void strongroom_defaults_release(void) {
    pthread_mutex_lock(&lock);
    if (--holders == 0 && saved) {
        char *now = current();
        // What can't be brought back now is at the next release.
        if (differs(now) || execute(saved) == SQLITE_OK) {
            sqlite3_free(saved);
            saved = NULL;
        }
        sqlite3_free(now);
    }
    pthread_mutex_unlock(&lock);
}

int strongroom_defaults_execute(const char *sql) {
    pthread_mutex_lock(&lock);
    int result = open_keeper() ? sqlite3_exec(keeper, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    pthread_mutex_unlock(&lock);
    return result;
}

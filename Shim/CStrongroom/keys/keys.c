// Keys for SQLCipher.
//
// SQLCipher's defaults belong to the process. Keys get the defaults of the moment when they are set, and keep those
// that no connection can set for itself: the mask for the salt of HMAC keys, and sizes for which no key can be set.

#include "strongroom_keys.h"

#include "../process/ending.h"

#include <pthread.h>
#include <string.h>

bool strongroom_can_take_key(void) {
    enum { enough = 96 << 10 };     // for keys, a page, and a statement
    void *reserve = sqlite3_malloc(enough);
    sqlite3_free(reserve);
    return reserve != NULL;
}

int strongroom_key(sqlite3 *db, const char *schema, const void *spec, int size) {
    return strongroom_can_take_key() ? sqlite3_key_v2(db, schema, spec, size) : SQLITE_NOMEM;
}

int strongroom_attach(sqlite3 *db, const char *path, const char *schema, const void *spec, int size) {
    if (!strongroom_can_take_key()) return SQLITE_NOMEM;
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db, "ATTACH DATABASE ?1 AS ?2 KEY ?3", -1, &statement, NULL);
    if (result != SQLITE_OK) return result;
    result = sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
    if (result == SQLITE_OK) result = sqlite3_bind_text(statement, 2, schema, -1, SQLITE_STATIC);
    if (result == SQLITE_OK) result = sqlite3_bind_text(statement, 3, spec, size, SQLITE_STATIC);
    // Without a key, the database would be attached with the key of the main one.
    if (result == SQLITE_OK) sqlite3_step(statement);
    int finalized = sqlite3_finalize(statement);
    return result != SQLITE_OK ? result : finalized;
}

// MARK: Reading the defaults

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3 *keeper;     // NULL in a SQLite that isn't SQLCipher
static char *standard;      // SQLCipher 4's defaults, as `current` says them
static char *saved;         // those of other code, to be brought back
static int holders;

static const char mask_pragma[] = "PRAGMA cipher_hmac_salt_mask";

/// Appends a row of PRAGMA cipher_default_settings, which is a statement. NULL without memory.
static int add_statement(void *text, int count, char **values, char **names) {
    (void)names;
    if (count == 0 || !values[0]) return 1;
    sqlite3_str_appendall(text, values[0]);
    return 0;
}

/// Returns the statement for the mask. The usual mask is omitted, because SQLCipher logs that the pragma is
/// obsolete.
static int add_mask(void *text, int count, char **values, char **names) {
    (void)names;
    if (count == 0 || !values[0]) return 1;
    if (strcmp(values[0], "3a") != 0) sqlite3_str_appendf(text, "%s = \"x'%s'\";", mask_pragma, values[0]);
    return 0;
}

/// Returns the defaults as statements that restore them. NULL without memory.
static char *current(void) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    int result = sqlite3_exec(keeper, "PRAGMA cipher_default_settings", add_statement, text, NULL);
    if (result == SQLITE_OK) result = sqlite3_exec(keeper, mask_pragma, add_mask, text, NULL);
    if (result == SQLITE_OK) result = sqlite3_str_errcode(text);
    char *statements = sqlite3_str_finish(text);
    if (result == SQLITE_OK) return statements;
    sqlite3_free(statements);
    return NULL;
}

// MARK: Setting the defaults

static int execute(const char *statements) { return sqlite3_exec(keeper, statements, NULL, NULL, NULL); }

static int make_standard(bool has_mask) {
    int result = execute("PRAGMA cipher_default_compatibility = 4; PRAGMA cipher_default_plaintext_header_size = 0");
    return result == SQLITE_OK && has_mask ? execute("PRAGMA cipher_hmac_salt_mask = \"x'3a'\"") : result;
}

static void forget_saved(void) {
    sqlite3_free(saved);
    saved = NULL;
}

/// Restores the defaults. If that fails for lack of memory, the next release does it.
static void bring_back(void) {
    if (saved && execute(saved) == SQLITE_OK) forget_saved();
}

// MARK: The connection that keeps the settings

static int note_row(void *found, int count, char **values, char **names) {
    (void)count, (void)values, (void)names;
    *(bool *)found = true;
    return 0;
}

/// Sets valid sizes: with invalid ones no key can be set, and without a key the mask can't be read.
static int set_key(void) {
    char *sizes = current();
    int result = sizes ? make_standard(false) : SQLITE_NOMEM;
    if (result == SQLITE_OK) result = strongroom_key(keeper, "main", "k", 1);
    char *now = result == SQLITE_OK ? current() : NULL;
    const char *mask = now ? strstr(now, mask_pragma) : NULL;
    if (mask) result = make_standard(true);
    if (now && result == SQLITE_OK) standard = current();
    if (sizes && !saved) saved = sqlite3_mprintf("%s%s", sizes, mask ? mask : "");
    bring_back();
    sqlite3_free(sizes);
    sqlite3_free(now);
    return standard ? SQLITE_OK : result != SQLITE_OK ? result : SQLITE_NOMEM;
}

/// Sets up SQLCipher. `first` is NULL, or SQL to run before the first key. A SQLite that isn't SQLCipher has no
/// settings to keep, and must not get a key.
static int open_keeper(const char *first) {
    if (keeper) return SQLITE_OK;
    bool is_sqlcipher = false;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int result = sqlite3_open_v2(":memory:", &keeper, flags, NULL);
    if (result == SQLITE_OK) result = sqlite3_exec(keeper, "PRAGMA cipher_version", note_row, &is_sqlcipher, NULL);
    if (result == SQLITE_OK && is_sqlcipher && first) result = execute(first);
    if (result == SQLITE_OK && is_sqlcipher) result = set_key();
    if (result == SQLITE_OK && is_sqlcipher) result = strongroom_prepare_end(keeper);
    if (result == SQLITE_OK && is_sqlcipher) return SQLITE_OK;
    sqlite3_close_v2(keeper);
    keeper = NULL;
    return result;
}

static int impose_standard(void) {
    char *now = current();
    if (!now) return SQLITE_NOMEM;
    int result = SQLITE_OK;
    if (strcmp(now, standard) != 0) {
        result = make_standard(strstr(now, mask_pragma) != NULL);
        if (!saved) { saved = now; now = NULL; }
        // A part of it may have been set.
        if (result != SQLITE_OK && holders == 0) bring_back();
    }
    sqlite3_free(now);
    return result;
}

int strongroom_defaults_hold(void) {
    pthread_mutex_lock(&lock);
    int result = open_keeper(NULL);
    if (result == SQLITE_OK && keeper) result = impose_standard();
    if (result == SQLITE_OK) holders++;
    pthread_mutex_unlock(&lock);
    return result;
}

void strongroom_defaults_release(void) {
    pthread_mutex_lock(&lock);
    if (--holders == 0 && saved) {
        char *now = current();
        if (now && strcmp(now, standard) != 0) forget_saved();
        else bring_back();
        sqlite3_free(now);
    }
    pthread_mutex_unlock(&lock);
}

int strongroom_defaults_execute(const char *sql) {
    pthread_mutex_lock(&lock);
    int result = open_keeper(sql);
    // SQLCipher before 4.6.1 discards settings of its log from before the first key.
    if (result == SQLITE_OK) result = keeper ? execute(sql) : SQLITE_MISUSE;
    pthread_mutex_unlock(&lock);
    return result;
}

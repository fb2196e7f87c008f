// Reads of an open connection's own files, and the check that SQLCipher has written a page with a key.

#include "../files/log_format.h"
#include "strongroom_crypto.h"
#include "strongroom_pages.h"

#include <stdlib.h>
#include <string.h>

#if __APPLE__
#include <CommonCrypto/CommonCrypto.h>
#else
#include <openssl/evp.h>
#endif

enum { iv_size = 16, block = 16, longest_page = 65536 };

// MARK: The connection's own files

static int file_size(sqlite3_file *file, int64_t *size) {
    *size = 0;
    if (!file || !file->pMethods) return SQLITE_OK;
    sqlite3_int64 bytes = 0;
    int result = file->pMethods->xFileSize(file, &bytes);
    *size = bytes;
    return result;
}

static int file_read(sqlite3_file *file, void *bytes, int size, int64_t offset) {
    if (!file || !file->pMethods) return SQLITE_IOERR_SHORT_READ;
    return file->pMethods->xRead(file, bytes, size, offset);
}

int strongroom_database_size(sqlite3 *db, const char *schema, int64_t *size) {
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(db, schema, SQLITE_FCNTL_FILE_POINTER, &file);
    return result == SQLITE_OK ? file_size(file, size) : result;
}

int strongroom_database_read(sqlite3 *db, const char *schema, void *bytes, int size, int64_t offset) {
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(db, schema, SQLITE_FCNTL_FILE_POINTER, &file);
    return result == SQLITE_OK ? file_read(file, bytes, size, offset) : result;
}

int strongroom_log_size(sqlite3 *db, int64_t *size) {
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    return result == SQLITE_OK ? file_size(file, size) : result;
}

int strongroom_log_read(sqlite3 *db, void *bytes, int size, int64_t offset) {
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    return result == SQLITE_OK ? file_read(file, bytes, size, offset) : result;
}

// MARK: The write-ahead log

int64_t strongroom_frame_offset(uint32_t frame, int page_size) {
    return log_header + (int64_t)(frame - 1) * (frame_header + page_size) + frame_header;
}

/// The pages of frames that no commit has followed yet.
typedef struct { uint32_t *pages, count, capacity; } pending_frames;

static bool add_pending(pending_frames *pending, uint32_t page) {
    if (pending->count == pending->capacity) {
        uint32_t capacity = pending->capacity ? pending->capacity * 2 : 1024;
        if (capacity < pending->capacity) return false;
        uint32_t *grown = realloc(pending->pages, (size_t)capacity * sizeof *grown);
        if (!grown) return false;
        pending->pages = grown;
        pending->capacity = capacity;
    }
    pending->pages[pending->count++] = page;
    return true;
}

static bool has_salts(const uint8_t *header, const strongroom_log_index *index) {
    return memcmp(header + frame_salts, index->salts, sizeof index->salts) == 0;
}

static int index_frames(sqlite3_file *file, int64_t size, int page_size, strongroom_log_index *index) {
    pending_frames pending = { 0 };
    int result = SQLITE_OK;
    for (uint32_t frame = 1; strongroom_frame_offset(frame, page_size) + page_size <= size; frame++) {
        uint8_t header[frame_header];
        result = file_read(file, header, frame_header, strongroom_frame_offset(frame, page_size) - frame_header);
        if (result != SQLITE_OK || !has_salts(header, index)) break;
        if (!add_pending(&pending, frame_page(header))) { result = SQLITE_NOMEM; break; }
        if (!frame_commits(header)) continue;
        for (uint32_t i = 0; i < pending.count; i++)
            if (pending.pages[i] < index->count) index->frames[pending.pages[i]] = frame - pending.count + 1 + i;
        pending.count = 0;
    }
    free(pending.pages);
    return result;
}

static int read_index(sqlite3 *db, int page_size, uint32_t pages, strongroom_log_index *index) {
    sqlite3_file *file = NULL;
    uint8_t header[log_header];
    int64_t size = 0;
    *index = (strongroom_log_index){ 0 };
    int result = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    if (result == SQLITE_OK) result = file_size(file, &size);
    if (result != SQLITE_OK || size < log_header) return result;
    result = file_read(file, header, log_header, 0);
    if (result != SQLITE_OK) return result;
    memcpy(index->salts, header + log_salts, sizeof index->salts);
    index->frames = calloc((size_t)pages + 1, sizeof *index->frames);
    if (!index->frames) return SQLITE_NOMEM;
    index->count = pages + 1;
    result = index_frames(file, size, page_size, index);
    if (result != SQLITE_OK) strongroom_log_index_free(index);
    return result;
}

int strongroom_log_index_read(sqlite3 *db, int page_size, uint32_t pages, strongroom_log_index *index) {
    enum { most_tries = 100 };
    int result = SQLITE_IOERR_SHORT_READ;
    // Another process may empty a log whose pages are all in the file, between its size and its last frame.
    for (int tries = 0; tries < most_tries && result == SQLITE_IOERR_SHORT_READ; tries++)
        result = read_index(db, page_size, pages, index);
    return result;
}

void strongroom_log_index_free(strongroom_log_index *index) {
    free(index->frames);
    *index = (strongroom_log_index){ 0 };
}

uint32_t strongroom_log_index_frame(const strongroom_log_index *index, uint32_t page) {
    return page < index->count ? index->frames[page] : 0;
}

int strongroom_log_index_is_current(
    sqlite3 *db, const strongroom_log_index *index, int page_size, uint32_t page, bool *current)
{
    uint8_t header[frame_header];
    *current = false;
    uint32_t frame = strongroom_log_index_frame(index, page);
    if (frame == 0) return SQLITE_OK;
    int64_t offset = strongroom_frame_offset(frame, page_size) - frame_header;
    int result = strongroom_log_read(db, header, frame_header, offset);
    // A restarted log may be shorter.
    if (result == SQLITE_IOERR_SHORT_READ) return SQLITE_OK;
    if (result == SQLITE_OK) *current = frame_page(header) == page && has_salts(header, index);
    return result;
}

// MARK: Page format

static int digest_size(int digest) {
    return digest == STRONGROOM_SHA512 ? 64 : digest == STRONGROOM_SHA256 ? 32 : digest == STRONGROOM_SHA1 ? 20 : 0;
}

int strongroom_page_reserve(int hmac_digest) {
    return (iv_size + digest_size(hmac_digest) + block - 1) / block * block;
}

static bool all_zero(const uint8_t *bytes, int size) {
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)size - 1) == 0;
}

static bool decrypt_block(const uint8_t *key, const uint8_t *iv, const uint8_t *in, uint8_t *out) {
#if __APPLE__
    size_t moved = 0;
    int result = CCCrypt(kCCDecrypt, kCCAlgorithmAES, 0, key, 32, iv, in, block, out, block, &moved);
    return result == kCCSuccess && moved == block;
#else
    int moved = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (!context) return false;
    bool done = EVP_DecryptInit_ex(context, EVP_aes_256_cbc(), NULL, key, iv) == 1
        && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        && EVP_DecryptUpdate(context, out, &moved, in, block) == 1 && moved == block;
    EVP_CIPHER_CTX_free(context);
    return done;
#endif
}

static const char magic[iv_size] = "SQLite format 3";

bool strongroom_page_decrypt(
    const strongroom_page_format *format, const uint8_t *page, uint32_t number, int length, uint8_t *clear)
{
    int start = number == 1 ? format->header : 0, moved = 0;
    int end = format->page_size - strongroom_page_reserve(format->hmac_digest);
    if (length < end) end = start + (length - start + block - 1) / block * block;
    if (end <= start) return false;
#if __APPLE__
    size_t written = 0;
    int result = CCCrypt(kCCDecrypt, kCCAlgorithmAES, 0, format->key, 32,
                         page + format->page_size - strongroom_page_reserve(format->hmac_digest), page + start,
                         (size_t)(end - start), clear + start, (size_t)(end - start), &written);
    bool done = result == kCCSuccess;
    moved = (int)written;
#else
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (!context) return false;
    const uint8_t *iv = page + format->page_size - strongroom_page_reserve(format->hmac_digest);
    bool done = EVP_DecryptInit_ex(context, EVP_aes_256_cbc(), NULL, format->key, iv) == 1
        && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        && EVP_DecryptUpdate(context, clear + start, &moved, page + start, end - start) == 1;
    EVP_CIPHER_CTX_free(context);
#endif
    // A plaintext header is part of the page; a salt stands where the magic was.
    if (start > iv_size) memcpy(clear, page, (size_t)start);
    else if (start > 0) memcpy(clear, memcmp(page, magic, iv_size) == 0 ? page : (const uint8_t *)magic, iv_size);
    if (length > end) memset(clear + end, 0, (size_t)(length - end));
    return done && moved == end - start;
}

/// Bytes 16 to 31 of a SQLite header, which the salt replaces: the page size, and three fractions that never
/// change.
bool strongroom_page_decrypts(const strongroom_page_format *format, const uint8_t *page) {
    uint8_t clear[block];
    if (format->header != iv_size) return false;
    int reserve = strongroom_page_reserve(format->hmac_digest);
    if (!decrypt_block(format->key, page + format->page_size - reserve, page + format->header, clear)) return false;
    int size = clear[0] << 8 | clear[1];
    bool has_size = (size == 1 ? longest_page : size) == format->page_size;
    bool plausible = has_size && clear[5] == 64 && clear[6] == 32 && clear[7] == 32;
    strongroom_wipe(clear, sizeof clear);
    return plausible;
}

bool strongroom_page_uses_log(const strongroom_page_format *format, const uint8_t *page) {
    uint8_t clear[block];
    if (format->header > iv_size) return page[19] == 2;
    int reserve = strongroom_page_reserve(format->hmac_digest);
    if (!decrypt_block(format->key, page + format->page_size - reserve, page + iv_size, clear)) return false;
    return clear[3] == 2;
}

static bool has_hmac(strongroom_mac *mac, const strongroom_page_format *format, const uint8_t *page, uint32_t number) {
    int start = number == 1 ? format->header : 0;
    int length = format->page_size - strongroom_page_reserve(format->hmac_digest) + iv_size - start;
    uint8_t end[4], expected[64];
    for (int i = 0; i < 4; i++) end[i] = (uint8_t)(number >> (8 * i));
    int failed = strongroom_mac_compute(mac, format->hmac_key, sizeof format->hmac_key, page + start, (size_t)length,
                                        end, sizeof end, expected);
    return failed == 0 && strongroom_equal(expected, page + start + length, (size_t)digest_size(format->hmac_digest));
}

void strongroom_pages_are_authentic(
    const strongroom_page_format *format, const uint8_t *pages, const uint32_t *numbers, int count, bool *authentic)
{
    bool authenticates = format->hmac_digest != 0;
    strongroom_mac *mac = authenticates ? strongroom_mac_new((strongroom_digest)format->hmac_digest) : NULL;
    for (int i = 0; i < count; i++) {
        const uint8_t *page = pages + (size_t)i * (size_t)format->page_size;
        // SQLite leaves zeros, which have no HMAC, where it skips unused pages as it extends a file.
        if (all_zero(page, format->page_size)) authentic[i] = numbers[i] != 1;
        else if (authenticates) authentic[i] = mac != NULL && has_hmac(mac, format, page, numbers[i]);
        else authentic[i] = numbers[i] != 1 || strongroom_page_decrypts(format, page);
    }
    strongroom_mac_free(mac);
}

bool strongroom_page_is_authentic(const strongroom_page_format *format, const uint8_t *page, uint32_t number) {
    bool authentic = false;
    strongroom_pages_are_authentic(format, page, &number, 1, &authentic);
    return authentic;
}

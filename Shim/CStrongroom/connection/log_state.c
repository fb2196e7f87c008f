// A commit in a write-ahead log becomes visible in two steps. First its frames are written to the log, which the system
// reports to watchers of the file. Then the header of the index in shared memory is written, which causes no event. In
// between there may be a sync, or any pause of the writer. A watcher that was notified of the last frame compares the
// two.

#include "strongroom_log_state.h"

#include "../files/log_format.h"
#include "vfs.h"

#include <string.h>

// The index begins with two copies of its header, which differ while it is being written, or when its writer has died.
// <https://www.sqlite.org/walformat.html#the_wal_index_header>
enum { index_header = 48, index_is_initialized = 12, index_last_frame = 16 };

/// The offset of the page size in the header of a log.
enum { log_page_size = 8 };

/// The number of frames without a commit that count as an unfinished commit: transactions that are too large for
/// memory are written to the log before they end, and must not be read from their beginning each time.
enum { most_frames = 256 };

static strongroom_file *main_database(strongroom_connection *connection) {
    strongroom_file *file = connection->databases;
    while (file != NULL && !file->is_main) file = file->next;
    return file;
}

/// Reads the number of the last readable frame, in the machine's byte order. Returns false while it is unknown.
static bool read_index(const volatile void *index, uint32_t *last_frame) {
    uint8_t copies[2][index_header];
    memcpy(copies, (const void *)index, sizeof copies);
    memcpy(last_frame, copies[0] + index_last_frame, sizeof *last_frame);
    return memcmp(copies[0], copies[1], index_header) == 0 && copies[0][index_is_initialized] != 0;
}

static bool read_log(strongroom_file *log, void *bytes, int size, int64_t offset) {
    sqlite3_file *system = strongroom_system_file(log);
    return system->pMethods->xRead(system, bytes, size, offset) == SQLITE_OK;
}

/// Returns true if a frame that commits follows. Frames of the current log have the salts of its header, others are
/// left of a former log. A restarted log has its salts in the file before they are in the index.
static bool commit_follows(strongroom_file *log, uint32_t last_frame) {
    uint8_t header[log_header], frame[frame_header];
    if (!read_log(log, header, sizeof header, 0)) return false;
    int64_t size = (int64_t)frame_header + big_endian(header + log_page_size);
    for (int64_t number = last_frame; number < (int64_t)last_frame + most_frames; number++) {
        if (!read_log(log, frame, sizeof frame, log_header + number * size)) return false;
        if (memcmp(frame + frame_salts, header + log_salts, salts_size) != 0) return false;
        if (frame_commits(frame)) return true;
    }
    return true;
}

strongroom_log_state strongroom_check_log(strongroom_connection *connection) {
    strongroom_file *database = main_database(connection);
    if (database == NULL || database->log == NULL || database->index == NULL) return STRONGROOM_LOG_ABSENT;
    uint32_t last_frame;
    bool is_known = read_index(database->index, &last_frame);
    return !is_known || commit_follows(database->log, last_frame) ? STRONGROOM_LOG_PENDING : STRONGROOM_LOG_SETTLED;
}

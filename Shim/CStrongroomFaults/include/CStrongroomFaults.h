// Faults for tests: a VFS and replaced functions of the C library, which count, fail and record calls.

#ifndef STRONGROOM_FAULTS_H
#define STRONGROOM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/// Puts the VFS in front of the system's, for all connections opened from now on. Safe to call again.
void strongroom_faults_install(void);

/// Watches for these bytes in whatever is written to any file. Returns a number for the questions below.
int strongroom_faults_watch(const void *bytes, int length);

/// Returns the number of writes that contained the watched bytes. A match across two writes does not count.
int64_t strongroom_faults_sightings(int watch);

/// Copies the name of the file in which the watched bytes were last seen. Empty if they never were.
void strongroom_faults_last_place(int watch, char *buffer, int size);

/// Returns the number of bytes that were written to all files since the VFS was installed.
int64_t strongroom_faults_bytes_written(void);

/// Measures the syncs of files whose path contains `path`, from now on.
void strongroom_faults_measure_syncs(const char *path);

/// Returns the largest number of bytes that were written to such a file between two syncs, or before the first one.
int64_t strongroom_faults_largest_sync(void);

/// A fault of a file.
typedef enum {
    STRONGROOM_FAULT_NONE,
    STRONGROOM_FAULT_FULL,      ///< The write fails with SQLITE_FULL.
    STRONGROOM_FAULT_IO,        ///< The write fails with SQLITE_IOERR_WRITE.
    STRONGROOM_FAULT_TORN,      ///< Half of the write is done, then it fails with SQLITE_IOERR_WRITE.
    STRONGROOM_FAULT_LIE,       ///< The write succeeds, and a byte in the middle is another one.
    STRONGROOM_FAULT_SYNC,      ///< The sync fails with SQLITE_IOERR_FSYNC.
    STRONGROOM_FAULT_READ,      ///< The read fails with SQLITE_IOERR_READ.
    STRONGROOM_FAULT_CHANGE,    ///< Writes, truncations and syncs, counted together, fail with their SQLITE_IOERR.
} strongroom_fault;

/// Fails writes (or syncs) of files whose path contains `path`, after `after` successful ones, until it is cleared.
void strongroom_faults_set(const char *path, strongroom_fault fault, int64_t after);

/// As `strongroom_faults_set`, for one operation only.
void strongroom_faults_set_once(const char *path, strongroom_fault fault, int64_t after);

/// Returns the number of operations that failed by a rule since the VFS was installed.
int64_t strongroom_faults_hits(void);

/// Removes the faults of files whose path contains `path`.
void strongroom_faults_clear(const char *path);

// MARK: Moments

/// A moment inside of SQLite's work.
typedef enum {
    /// A checkpoint has read where the log ends, which another connection changed, and moved nothing yet.
    STRONGROOM_MOMENT_LOG_END_READ,
    /// A transaction has released its locks on a write-ahead log.
    STRONGROOM_MOMENT_TRANSACTION_ENDED,
    /// A write-ahead log was synced. In a commit with `synchronous = FULL`, its frames are in the log, and
    /// the index doesn't name them yet.
    STRONGROOM_MOMENT_LOG_SYNCED,
    /// The header of a write-ahead log was read.
    STRONGROOM_MOMENT_LOG_HEADER_READ,
    /// The size of a file was read, and not returned yet.
    STRONGROOM_MOMENT_SIZE_READ,
} strongroom_moment;

/// Calls `act` once, at the next such moment of a file whose path contains `path`, on the thread that uses the file.
void strongroom_faults_at(strongroom_moment moment, const char *path, void (*act)(void *context), void *context);

// MARK: Turns

/// Calls `act` before a lock or unlock of a database or of its shared memory, or before a mapping of that memory,
/// after `after` of these calls on this thread. The calls of `act` are not counted.
void strongroom_turns_begin(int64_t after, void (*act)(void *context), void *context);

/// Ends the counting, and returns the number of calls.
int64_t strongroom_turns_end(void);

// MARK: Waits

/// Returns how often a connection has slept because another one held a lock, since the VFS was installed.
int64_t strongroom_faults_sleeps(void);

/// Waits until the number of sleeps is greater than `former`. Returns false after 20 seconds.
bool strongroom_faults_await_sleep(int64_t former);

// MARK: Syncs of files that are not SQLite's

/// Returns the number of files and folders that this thread has synced. Negative if the platform doesn't show it.
int64_t strongroom_faults_syncs(void);

/// Fails the syncs of this thread with EIO after `after` successful ones. Negative: none.
void strongroom_faults_fail_syncs(int64_t after);

// MARK: Calls of the system

/// The calls that concern files. Seen on Linux, where the linker lets this program's own functions come first.
typedef enum {
    STRONGROOM_CALL_OPEN,           ///< Of a file; the creation of a folder.
    STRONGROOM_CALL_READ,
    STRONGROOM_CALL_WRITE,
    STRONGROOM_CALL_TRUNCATE,
    STRONGROOM_CALL_SYNC,
    STRONGROOM_CALL_SYNC_FOLDER,
    STRONGROOM_CALL_LOCK,           ///< `fcntl` on any file but the shared memory.
    STRONGROOM_CALL_SHM_LOCK,
    STRONGROOM_CALL_MAP,            ///< Of shared memory.
    STRONGROOM_CALL_ACCESS,
    STRONGROOM_CALL_DELETE,
    STRONGROOM_CALL_RENAME,
    STRONGROOM_CALL_LINK,
    STRONGROOM_CALL_OWNER,
    STRONGROOM_CALL_MODE,
    STRONGROOM_CALL_COUNT,          ///< The number of kinds.
} strongroom_call;

/// Counts the calls of the whole process on files whose path begins with `path`, from 0 on. NULL ends the count.
void strongroom_calls_watch(const char *path);

/// Fails a call on such a file with `error` after `after` of its kind, and all that follow if `lasting`.
void strongroom_calls_fail(strongroom_call call, int64_t after, bool lasting, int error);

/// Returns the number of calls since the watch began.
int64_t strongroom_calls_count(strongroom_call call);

/// Returns the number of calls that failed since the watch began.
int64_t strongroom_calls_failures(void);

// MARK: Traces

typedef enum {
    STRONGROOM_TRACE_WRITE,
    STRONGROOM_TRACE_TRUNCATE,      ///< To the size `offset`.
    STRONGROOM_TRACE_SYNC,          ///< Of a file, or of a folder.
    STRONGROOM_TRACE_CREATE,        ///< Of a file that had no name.
    STRONGROOM_TRACE_FOLDER,        ///< The creation of a folder.
    STRONGROOM_TRACE_DELETE,
    STRONGROOM_TRACE_RENAME,
    STRONGROOM_TRACE_LINK,
    STRONGROOM_TRACE_NOTE,          ///< A number of the program, in `offset`.
} strongroom_trace_kind;

/// One change. The path, the target of a name, and the written bytes follow it.
typedef struct {
    uint32_t kind, path_size, to_size, unused;
    uint64_t file;                  ///< The number of the file in its file system.
    int64_t offset;
    uint64_t size;                  ///< Of the bytes.
} strongroom_trace_record;

/// Records the changes of files that are watched from now on.
void strongroom_trace_begin(void);

/// Notes a number between the changes.
void strongroom_trace_note(int64_t number);

/// Ends the trace. Returns its records, which stay until the next one begins.
const void *strongroom_trace_end(int64_t *size);

// MARK: Kills

/// Kills this process before a change of a file (a write, a truncation, a rename, a removal, a sync), after `count`
/// further ones. Negative: never.
void strongroom_faults_kill_after(int64_t count);

/// Fails a change of a file of this process with EIO after `count` further ones, and all that follow if `lasting`.
/// Negative: none.
void strongroom_faults_fail_after(int64_t count, bool lasting);

/// Returns the number of changes since then. Negative if the platform doesn't show them.
int64_t strongroom_faults_operations(void);

// MARK: Interleavings

/// Calls `act` once, after the next renaming of a file by this thread.
void strongroom_faults_after_renaming(void (*act)(void *context), void *context);

/// Calls `act` once, before the next derivation by scrypt on this thread.
void strongroom_faults_before_deriving(void (*act)(void *context), void *context);

// MARK: Derivations

/// Returns the number of derivations by scrypt of this thread, and sets `seconds` to the time that they took. Negative
/// if the platform doesn't show them.
int64_t strongroom_faults_derivations(double *seconds);

/// From now on, scrypt has the cost 16 in this process, whatever the slot says: for tests that change and open slots
/// hundreds of times. Other programs can't open such slots.
void strongroom_faults_cheapen_derivations(bool cheapen);

/// Returns the number of rounds of PBKDF2 that this thread has computed. Negative if the platform doesn't show them.
int64_t strongroom_faults_pbkdf2_rounds(void);

// MARK: Names and users

/// Refuses this thread hard links and renames that replace nothing, as many file systems do.
void strongroom_faults_refuse_names(bool refusing);

/// Returns the number of names that were refused to this thread. Negative if the platform can't refuse them.
int64_t strongroom_faults_refused_names(void);

/// Kills the process when this thread creates a hard link, or renames without replacing. Returns false if that is not
/// supported.
bool strongroom_faults_die_at_naming(void);

/// Makes the system report that it has no room for watched files. Only on Linux.
void strongroom_faults_refuse_watches(bool refusing);

/// Opens files with the rights of `user` on this thread. Returns false if the process isn't root's.
bool strongroom_faults_use_files_as(uint32_t user);

// MARK: Memory

/// Puts an allocator in front of SQLite's, in a process that has not used SQLite yet. What is freed twice ends the
/// process. Returns a SQLite result code.
int strongroom_faults_install_allocator(void);

/// Refuses an allocation of at least `size` bytes after `after` successful ones, and all that follow if `lasting`.
/// Negative: none.
void strongroom_faults_refuse_memory(int64_t after, int size, bool lasting);

/// Never refuses an allocation of `size` bytes, a multiple of 8 as SQLite asks for it. 0: none is spared.
void strongroom_faults_spare_memory(int size);

/// As `strongroom_faults_refuse_memory`, for the allocations that the program's C code makes by the C library.
void strongroom_faults_refuse_shim_memory(int64_t after, bool lasting);

/// Returns the number of refused allocations of C code.
int64_t strongroom_faults_shim_refusals(void);

/// Returns the number of refused allocations of SQLite.
int64_t strongroom_faults_refusals(void);

/// Returns true if `masked` is in the bytes, each of its bytes combined with `mask` by exclusive or. So a search of the
/// memory of this process does not find itself.
bool strongroom_faults_find_masked(const void *bytes, int64_t count, const void *masked, int64_t length, uint8_t mask);

#endif

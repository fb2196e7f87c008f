// A VFS for tests: sees every byte that SQLite writes, and makes writes fail when told to.

#ifndef STRONGROOM_FAULTS_H
#define STRONGROOM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/// Puts the VFS in front of the system's, for all connections opened from now on. Safe to call again.
void strongroom_faults_install(void);

/// Watches for these bytes in whatever is written to any file. Returns a number for the questions below.
int strongroom_faults_watch(const void *bytes, int length);

/// How many writes contained the watched bytes. A match across two writes does not count.
int64_t strongroom_faults_sightings(int watch);

/// The name of the file that the watched bytes were last seen in; empty when never.
void strongroom_faults_last_place(int watch, char *buffer, int size);

/// How many bytes were written to all files since the VFS was installed.
int64_t strongroom_faults_bytes_written(void);

/// What goes wrong with a file.
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

/// Makes writes (or syncs) fail on files whose path contains `path`, after `after` of them went well, until cleared.
void strongroom_faults_set(const char *path, strongroom_fault fault, int64_t after);

/// The same, for one operation only.
void strongroom_faults_set_once(const char *path, strongroom_fault fault, int64_t after);

/// How many operations failed by a rule since the VFS was installed.
int64_t strongroom_faults_hits(void);

/// Lets everything go well again on files whose path contains `path`.
void strongroom_faults_clear(const char *path);

// MARK: Moments

/// Where SQLite calls out in the middle of its work.
typedef enum {
    /// A checkpoint has read where the log ends, which another connection changed, and moved nothing yet.
    STRONGROOM_MOMENT_LOG_END_READ,
    /// A transaction has given back its locks on a write-ahead log.
    STRONGROOM_MOMENT_TRANSACTION_ENDED,
    /// A write-ahead log was brought to the disk. In a commit with `synchronous = FULL`, its frames are in the log, and
    /// the index doesn't name them yet.
    STRONGROOM_MOMENT_LOG_SYNCED,
} strongroom_moment;

/// Calls `act` once, when a file whose path contains `path` gets there next, on the thread that works on it.
void strongroom_faults_at(strongroom_moment moment, const char *path, void (*act)(void *context), void *context);

// MARK: Turns

/// Calls `act` in front of a lock on a database or its shared memory, of the end of one, or of the mapping of that
/// memory, after this thread came to `after` of them from now on. What `act` does is not counted.
void strongroom_turns_begin(int64_t after, void (*act)(void *context), void *context);

/// Ends that. Returns how many there were.
int64_t strongroom_turns_end(void);

// MARK: Waits

/// How often a connection went to sleep because another one has the lock that it wants, since the VFS was installed.
int64_t strongroom_faults_sleeps(void);

/// Waits until that number is greater than `former`; false when it is not after 20 seconds.
bool strongroom_faults_await_sleep(int64_t former);

// MARK: Syncs of files that are not SQLite's

/// How often this thread had a file or folder synced; negative where that is not seen.
int64_t strongroom_faults_syncs(void);

/// Lets the syncs of this thread fail with EIO after `after` of them went well. Negative: none.
void strongroom_faults_fail_syncs(int64_t after);

// MARK: Calls of the system

/// The calls that concern files. Seen on Linux, where the linker lets this program's own functions come first.
typedef enum {
    STRONGROOM_CALL_OPEN,           ///< Of a file, and the making of a folder.
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
    STRONGROOM_CALL_COUNT,          ///< How many there are.
} strongroom_call;

/// Counts the calls of the whole process on files whose path begins with `path`, from 0 on. NULL ends that.
void strongroom_calls_watch(const char *path);

/// Lets a call on such a file fail with `error` after `after` of its kind, and all that follow if `lasting`.
void strongroom_calls_fail(strongroom_call call, int64_t after, bool lasting, int error);

/// How many calls there were since the watch began.
int64_t strongroom_calls_count(strongroom_call call);

/// How many calls failed since the watch began.
int64_t strongroom_calls_failures(void);

// MARK: Traces

typedef enum {
    STRONGROOM_TRACE_WRITE,
    STRONGROOM_TRACE_TRUNCATE,      ///< To the size `offset`.
    STRONGROOM_TRACE_SYNC,          ///< Of a file, or of a folder.
    STRONGROOM_TRACE_CREATE,        ///< Of a file that had no name.
    STRONGROOM_TRACE_FOLDER,        ///< The making of a folder.
    STRONGROOM_TRACE_DELETE,
    STRONGROOM_TRACE_RENAME,
    STRONGROOM_TRACE_LINK,
    STRONGROOM_TRACE_NOTE,          ///< What the program itself noted, in `offset`.
} strongroom_trace_kind;

/// One change. The path, where a name leads to, and the bytes that were written follow it.
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

/// Has this process killed in front of a change of a file (a write, a truncation, a rename, a removal, a sync), after
/// `count` of them from now on. Negative: never.
void strongroom_faults_kill_after(int64_t count);

/// Has a change of a file of this process fail with EIO, after `count` of them from now on, and if `lasting` all that
/// follow. Negative: none.
void strongroom_faults_fail_after(int64_t count, bool lasting);

/// How many changes there were since then; negative where they are not seen.
int64_t strongroom_faults_operations(void);

// MARK: Interleavings

/// Calls `act` once, after the next renaming of a file by this thread.
void strongroom_faults_after_renaming(void (*act)(void *context), void *context);

/// Calls `act` once, before the next derivation by scrypt on this thread.
void strongroom_faults_before_deriving(void (*act)(void *context), void *context);

// MARK: Derivations

/// How many derivations by scrypt this thread has made, and the seconds that they took; negative where they are not
/// seen.
int64_t strongroom_faults_derivations(double *seconds);

// MARK: Names and users

/// Refuses this thread hard links and renames that replace nothing, as many file systems do.
void strongroom_faults_refuse_names(bool refusing);

/// How many of them were refused to this thread; negative where they can't be.
int64_t strongroom_faults_refused_names(void);

/// Kills the process when this thread creates a hard link, or renames without replacing. Returns false if that is not
/// supported.
bool strongroom_faults_die_at_naming(void);

/// Opens files with the rights of `user` on this thread, which only root can ask for; false where that can't be had.
bool strongroom_faults_use_files_as(uint32_t user);

// MARK: Memory

/// Puts an allocator in front of SQLite's, in a process that has not used SQLite yet. Answers a SQLite result code.
int strongroom_faults_install_allocator(void);

/// Refuses an allocation of at least `size` bytes after `after` of them went well, and all that follow if `lasting`.
/// Negative: none.
void strongroom_faults_refuse_memory(int64_t after, int size, bool lasting);

/// The same, of what the C code of this program asks the C library for.
void strongroom_faults_refuse_shim_memory(int64_t after, bool lasting);

/// How many of those were refused.
int64_t strongroom_faults_shim_refusals(void);

/// How many allocations were refused.
int64_t strongroom_faults_refusals(void);

#endif

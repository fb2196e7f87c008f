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

/// Kills the process where this thread asks for a hard link, or a rename that replaces nothing; false where that can't be had.
bool strongroom_faults_die_at_naming(void);

/// Opens files with the rights of `user` on this thread, which only root can ask for; false where that can't be had.
bool strongroom_faults_use_files_as(uint32_t user);

// MARK: Memory

/// Puts an allocator in front of SQLite's, in a process that has not used SQLite yet. Answers a SQLite result code.
int strongroom_faults_install_allocator(void);

/// Refuses an allocation of at least `size` bytes after `after` of them went well, and all that follow if `lasting`.
/// Negative: none.
void strongroom_faults_refuse_memory(int64_t after, int size, bool lasting);

/// How many allocations were refused.
int64_t strongroom_faults_refusals(void);

#endif

// The questions that the replaced system calls ask before they call the system.

#ifndef system_h
#define system_h

#include "CStrongroomFaults.h"
#include <stddef.h>

/// Returns the errno with which a call on the file fails, 0 for none. `path` is NULL if `file` is given.
int strongroom_faults_before(strongroom_call call, const char *path, int file);

/// Returns true while a call must fail.
bool strongroom_faults_fail(void);

/// Counts a change of a file. Kills the process before it if a test has asked for it. Returns true, with errno set, if
/// the change must fail.
bool strongroom_faults_fail_operation(void);
/// Calls the function that the thread has given for its next renaming.
void strongroom_faults_note_renaming(void);
/// Returns the errno of the sync of a file that is not SQLite's, and of a new name, on this thread; 0 for none.
int strongroom_faults_before_sync(void);
int strongroom_faults_before_naming(int refusal);
/// Notes the number of bytes that a sync of a file of SQLite's writes.
void strongroom_faults_measure_sync(const char *path, int64_t size);

/// Returns the path of an open file if it is in the watched folder. NULL otherwise.
const char *strongroom_faults_watched(const char *path, int file, char *buffer, size_t size);

// Records a change in the trace. `file` is an open descriptor.
void strongroom_trace_write(int file, const void *bytes, size_t size, int64_t offset);
void strongroom_trace_file(strongroom_trace_kind kind, int file, int64_t size);
void strongroom_trace_name(strongroom_trace_kind kind, const char *path, const char *to, int file);
bool strongroom_trace_runs(void);

#endif

// What the system's calls of this program ask before they reach the system.

#ifndef system_h
#define system_h

#include "CStrongroomFaults.h"
#include <stddef.h>

/// The errno that a call on the file fails with, 0 for none. `path` is NULL where `file` says it.
int strongroom_faults_before(strongroom_call call, const char *path, int file);

/// True while a call is to fail.
bool strongroom_faults_fail(void);

/// Counts a change of a file. Kills the process in front of it if that was asked for. Returns true, with errno set, if
/// the change is to fail.
bool strongroom_faults_fail_operation(void);
/// Calls what the thread wants to be called after its next renaming.
void strongroom_faults_note_renaming(void);
/// The errno of the sync of a file that is not SQLite's, and of a new name, on this thread; 0 for none.
int strongroom_faults_before_sync(void);
int strongroom_faults_before_naming(int refusal);

/// The path of an open file if it is in the folder that is watched. NULL otherwise.
const char *strongroom_faults_watched(const char *path, int file, char *buffer, size_t size);

// What happened, for the trace. `file` is an open descriptor.
void strongroom_trace_write(int file, const void *bytes, size_t size, int64_t offset);
void strongroom_trace_file(strongroom_trace_kind kind, int file, int64_t size);
void strongroom_trace_name(strongroom_trace_kind kind, const char *path, const char *to, int file);
bool strongroom_trace_runs(void);

#endif

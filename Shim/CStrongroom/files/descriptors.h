// Operations on the shim's own descriptors.

#ifndef descriptors_h
#define descriptors_h

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Reads up to `size` bytes. Returns their number, fewer at the end of the file, or a negated errno.
ssize_t strongroom_read_at(int descriptor, void *bytes, size_t size, int64_t offset);

/// Returns true if the file still has its name: another process may have removed it meanwhile.
bool strongroom_has_name(int descriptor, const char *path);

/// Returns true if the file system, the system or a sandbox doesn't have the call.
bool strongroom_is_refusal(int error);

#endif

// A stub of calls that Apple declares in headers that Linux has without them. scripts/check/apple includes it first.
#pragma once
#include <stddef.h>

#define RENAME_EXCL 0x00000004
int renamex_np(const char *from, const char *to, unsigned int flags);
int timingsafe_bcmp(const void *b1, const void *b2, size_t len);

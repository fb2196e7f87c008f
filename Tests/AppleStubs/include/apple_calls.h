// A stub of calls that Apple declares in headers that Linux has without them. scripts/check/apple includes it first.
#pragma once
#include <stddef.h>

#define RENAME_EXCL 0x00000004
int renamex_np(const char *from, const char *to, unsigned int flags);
int timingsafe_bcmp(const void *b1, const void *b2, size_t len);

// The name of a member of `struct stat`, and the classes of <pthread/qos.h>, which <pthread.h> includes.
#define st_mtimespec st_mtim
typedef enum {
    QOS_CLASS_BACKGROUND = 0x09,
    QOS_CLASS_UTILITY = 0x11,
    QOS_CLASS_DEFAULT = 0x15,
    QOS_CLASS_USER_INITIATED = 0x19,
} qos_class_t;
int pthread_set_qos_class_self_np(qos_class_t qos_class, int relative_priority);

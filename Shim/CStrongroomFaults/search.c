// A search for bytes that stand in memory in another form.

#include "CStrongroomFaults.h"
#include <string.h>

static bool is_masked(const uint8_t *bytes, const uint8_t *masked, int64_t length, uint8_t mask) {
    for (int64_t i = 0; i < length; i++) {
        if ((bytes[i] ^ mask) != masked[i]) return false;
    }
    return true;
}

bool strongroom_faults_find_masked(const void *bytes, int64_t count, const void *masked, int64_t length, uint8_t mask) {
    const uint8_t *at = bytes, *end = at + count - length + 1;
    int first = *(const uint8_t *)masked ^ mask;
    while (at < end && (at = memchr(at, first, (size_t)(end - at))) != NULL) {
        if (is_masked(at, masked, length, mask)) return true;
        at++;
    }
    return false;
}

// A stub of what Apple's header has beyond that of Linux. As Apple's, it declares memset_s only on demand.
#pragma once
#include_next <string.h>

#if defined(__STDC_WANT_LIB_EXT1__) && __STDC_WANT_LIB_EXT1__ >= 1
int memset_s(void *s, size_t smax, int c, size_t n);
#endif

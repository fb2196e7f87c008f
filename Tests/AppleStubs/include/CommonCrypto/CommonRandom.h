// A stub: what Strongroom uses of CommonCrypto's random numbers.
#pragma once
#include <CommonCrypto/CommonCrypto.h>

CCStatus CCRandomGenerateBytes(void *bytes, size_t count);

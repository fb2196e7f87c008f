// A stub: CommonCrypto's wrapped keys are declared in the stub of its main header.
#pragma once
#include <CommonCrypto/CommonCrypto.h>

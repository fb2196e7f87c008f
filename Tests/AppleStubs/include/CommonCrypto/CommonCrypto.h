// A stub: what Strongroom uses of CommonCrypto, with the types of Apple's headers.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef uint32_t CCAlgorithm, CCHmacAlgorithm, CCOperation, CCOptions, CCPBKDFAlgorithm, CCPseudoRandomAlgorithm,
    CCWrappingAlgorithm;
typedef int32_t CCCryptorStatus, CCStatus;
typedef struct { uint32_t ctx[96]; } CCHmacContext;

enum { kCCSuccess = 0 };
enum { kCCEncrypt = 0, kCCDecrypt = 1 };
enum { kCCAlgorithmAES = 0 };
enum { kCCHmacAlgSHA1 = 0, kCCHmacAlgSHA256 = 2, kCCHmacAlgSHA512 = 4 };
enum { kCCPBKDF2 = 2 };
enum { kCCPRFHmacAlgSHA1 = 1, kCCPRFHmacAlgSHA256 = 3, kCCPRFHmacAlgSHA512 = 5 };
enum { kCCWRAPAES = 1 };

extern const uint8_t *const CCrfc3394_iv;
extern const size_t CCrfc3394_ivLen;

CCCryptorStatus CCCrypt(
    CCOperation op, CCAlgorithm alg, CCOptions options, const void *key, size_t keyLength, const void *iv,
    const void *dataIn, size_t dataInLength, void *dataOut, size_t dataOutAvailable, size_t *dataOutMoved);
void CCHmac(
    CCHmacAlgorithm algorithm, const void *key, size_t keyLength, const void *data, size_t dataLength, void *macOut);
void CCHmacInit(CCHmacContext *ctx, CCHmacAlgorithm algorithm, const void *key, size_t keyLength);
void CCHmacUpdate(CCHmacContext *ctx, const void *data, size_t dataLength);
void CCHmacFinal(CCHmacContext *ctx, void *macOut);
int CCKeyDerivationPBKDF(
    CCPBKDFAlgorithm algorithm, const char *password, size_t passwordLen, const uint8_t *salt, size_t saltLen,
    CCPseudoRandomAlgorithm prf, unsigned rounds, uint8_t *derivedKey, size_t derivedKeyLen);
int CCSymmetricKeyWrap(
    CCWrappingAlgorithm algorithm, const uint8_t *iv, const size_t ivLen, const uint8_t *kek, size_t kekLen,
    const uint8_t *rawKey, size_t rawKeyLen, uint8_t *wrappedKey, size_t *wrappedKeyLen);
int CCSymmetricKeyUnwrap(
    CCWrappingAlgorithm algorithm, const uint8_t *iv, const size_t ivLen, const uint8_t *kek, size_t kekLen,
    const uint8_t *wrappedKey, size_t wrappedKeyLen, uint8_t *rawKey, size_t *rawKeyLen);

typedef uint32_t CC_LONG;
typedef struct { uint32_t count[2], hash[8], wbuf[16]; } CC_SHA256_CTX;

int CC_SHA256_Init(CC_SHA256_CTX *context);
int CC_SHA256_Update(CC_SHA256_CTX *context, const void *data, CC_LONG size);
int CC_SHA256_Final(unsigned char *digest, CC_SHA256_CTX *context);

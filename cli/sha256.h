/* The SHA-256 of a file, computed by OpenSSL's libcrypto. */
#ifndef CLI_SHA256_H
#define CLI_SHA256_H

#include <stdint.h>

/* Writes the digest of the first `size` bytes of an open file as 64 hexadecimal digits. Returns 1, or 0 where the file
 * is shorter or cannot be read. */
int sha256_of(char digest[65], int fd, int64_t size);

#endif

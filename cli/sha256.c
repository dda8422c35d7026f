/* SHA-256 of a file. */
#define _POSIX_C_SOURCE 200809L
#include "sha256.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <unistd.h>

static int add_file(EVP_MD_CTX *context, int fd, int64_t size)
{
    unsigned char bytes[1 << 16];
    for (int64_t at = 0; at < size;) {
        int64_t left = size - at;
        ssize_t got = pread(fd, bytes, left < (int64_t)sizeof bytes ? (size_t)left : sizeof bytes, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || EVP_DigestUpdate(context, bytes, (size_t)got) != 1)
            return 0;
        at += got;
    }
    return 1;
}

int sha256_of(char digest[65], int fd, int64_t size)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int good = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 && add_file(context, fd, size) &&
               EVP_DigestFinal_ex(context, sum, &length) == 1;
    EVP_MD_CTX_free(context);
    for (unsigned i = 0; good && i < length; i++)
        snprintf(digest + 2 * i, 3, "%02x", sum[i]);
    return good;
}

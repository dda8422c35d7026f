/* To be preloaded (LD_PRELOAD): the K-th allocation of the process fails, whoever asks for it: the program, the
 * library, Jansson, OpenBLAS, the C library. NPGNN_NO_MEMORY=K; 0: none. NPGNN_NO_MEMORY_LOG names a file that at the
 * end has the number of allocations and whether one failed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static atomic_long calls, wanted = -1; /* wanted: -1 until the environment is known */

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("NPGNN_NO_MEMORY");
    atomic_store(&calls, 0);
    atomic_store(&wanted, text ? strtol(text, NULL, 10) : 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *log = getenv("NPGNN_NO_MEMORY_LOG");
    char text[64];
    long k = atomic_load(&wanted), count = atomic_load(&calls);
    int file = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (file < 0)
        return;
    int length = snprintf(text, sizeof text, "%ld %s\n", count, k > 0 && count >= k ? "failed" : "passed");
    (void)!write(file, text, (size_t)length);
    close(file);
}

static int fails(void)
{
    long k = atomic_load(&wanted);
    if (k < 0 || atomic_fetch_add(&calls, 1) + 1 != k)
        return 0;
    errno = ENOMEM;
    return 1;
}

#pragma GCC visibility push(default) /* instead of the C library's */

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}

#pragma GCC visibility pop

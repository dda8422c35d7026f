/* The environment of a call: defaults, checked allocation, log messages and the clock. */
#define _POSIX_C_SOURCE 200809L
#include "base/env.h"

#include "base/sized.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/parallel.h"

/* Rows and columns are below 2^31, so that rows * columns never overflows a 64-bit size_t and nobody checks it.
 * npi_resize checks the product with the size of an element. */
_Static_assert(SIZE_MAX >= UINT64_MAX, "size_t must have 64 bits");

/* The default allocator: one function that allocates, resizes and, with size 0, frees. */
static void *resize_malloc(void *user, void *block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

int npi_env_check(const npgnn_env *env, npgnn_error *err)
{
    return env ? npi_sized_check(env, "npgnn_env", err) : 0;
}

npgnn_env npi_env_resolve(const npgnn_env *env)
{
    npgnn_env resolved = {0};
    npi_sized_read(&resolved, sizeof resolved, env, "npgnn_env", NULL);
    if (resolved.threads <= 0)
        resolved.threads = npi_cores();
    if (!resolved.allocator.resize)
        resolved.allocator.resize = resize_malloc;
    return resolved;
}

void *npi_resize(const npgnn_env *env, void *block, size_t count, size_t size, npgnn_error *err)
{
    void *resized = NULL;
    if (count <= PTRDIFF_MAX / size)
        resized = env->allocator.resize(env->allocator.user, block, count ? count * size : 1);
    if (!resized)
        npi_fail(err, NPGNN_E_MEMORY, "out of memory: cannot allocate %zu x %zu bytes", count, size);
    return resized;
}

void *npi_alloc(const npgnn_env *env, size_t count, size_t size, npgnn_error *err)
{
    void *block = npi_resize(env, NULL, count, size, err);
    if (block)
        memset(block, 0, count * size);
    return block;
}

void npi_free(const npgnn_env *env, void *block)
{
    if (block)
        env->allocator.resize(env->allocator.user, block, 0);
}

char *npi_strdup(const npgnn_env *env, const char *text, npgnn_error *err)
{
    size_t size = strlen(text) + 1;
    char *copy = npi_resize(env, NULL, size, 1, err);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

int npi_grow(const npgnn_env *env, void *items_pointer, size_t *capacity, size_t count, size_t size, npgnn_error *err)
{
    if (count < *capacity)
        return 0;
    /* items_pointer is the address of a pointer of any type: reading it as a void ** would break the aliasing rules */
    void *items;
    memcpy(&items, items_pointer, sizeof items);
    size_t wanted = *capacity < 16 ? 16 : *capacity * 2;
    void *grown = npi_resize(env, items, wanted, size, err);
    if (!grown)
        return NPGNN_E_MEMORY;
    memcpy(items_pointer, &grown, sizeof grown);
    *capacity = wanted;
    return 0;
}

size_t npi_memory_limit(const char *path)
{
    char text[32], *end;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return SIZE_MAX;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = '\0';
    errno = 0;
    unsigned long long limit = strtoull(text, &end, 10);
    return end == text || errno != 0 || limit == 0 || limit > SIZE_MAX ? SIZE_MAX : (size_t)limit;
}

size_t npi_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t machine = pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
    size_t limit = npi_memory_limit("/sys/fs/cgroup/memory.max");
    return limit < machine ? limit : machine;
}

void npi_log(const npgnn_env *env, const char *format, ...)
{
    char text[512];
    va_list args;
    if (!env->log)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    env->log(env->user, text);
}

double npi_clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

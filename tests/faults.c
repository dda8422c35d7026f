/* Calls that fail on demand, linked into a copy of the program in place of the C library's (-Wl,--wrap).
 * NPGNN_FAULT=NAME:K makes the K-th call of NAME fail as a full or broken disk makes it fail; NPGNN_FAULT_LOG names a
 * file that then appears. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* X(type, name, parameters, arguments, what a failure returns, errno) */
#define CALLS(X)                                                                                                       \
    X(int, fsync, (int fd), (fd), -1, EIO)                                                                             \
    X(int, rename, (const char *from, const char *to), (from, to), -1, ENOSPC)                                         \
    X(int, link, (const char *from, const char *to), (from, to), -1, ENOSPC)                                           \
    X(int, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), -1, ENOSPC)   \
    X(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL, ENOMEM)

/* Whether this call of `name` is the one that has to fail. */
static int strikes(const char *name)
{
    static long calls;
    const char *fault = getenv("NPGNN_FAULT"), *log = getenv("NPGNN_FAULT_LOG");
    size_t length = strlen(name);
    if (!fault || strncmp(fault, name, length) != 0 || fault[length] != ':' ||
        ++calls != strtol(fault + length + 1, NULL, 10))
        return 0;
    if (log)
        (void)!symlink(name, log);
    return 1;
}

#define WRAP(type, name, parameters, arguments, failure, reason)                                                       \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        if (!strikes(#name))                                                                                           \
            return __real_##name arguments;                                                                            \
        errno = reason;                                                                                                \
        return failure;                                                                                                \
    }
CALLS(WRAP)

/* Only files that are opened for writing count. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    if ((flags & O_ACCMODE) == O_RDONLY || !strikes("open64"))
        return __real_open64(path, flags, mode);
    errno = ENOSPC;
    return -1;
}

/* The stream is closed in any case, as it is when the last write in it fails. */
int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
int __wrap_fclose(FILE *file)
{
    int writes = (fcntl(fileno(file), F_GETFL) & O_ACCMODE) != O_RDONLY, code = __real_fclose(file);
    if (!writes || !strikes("fclose"))
        return code;
    errno = EIO;
    return EOF;
}

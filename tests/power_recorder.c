/* Records what a program does to files, in order, for tests/power_loss.py. Loaded with LD_PRELOAD; POWER_LOG names a
 * folder that gets the file `log` and snapshots of contents. Only files in the folder POWER_WATCH count. A line of the
 * log:
 *
 *     create INODE PATH        a new name
 *     data INODE SNAPSHOT      the content at this moment; what differs from the last sync is not on disk yet
 *     sync INODE SNAPSHOT      fsync or fdatasync of a file
 *     link INODE PATH          another name
 *     rename INODE FROM TO
 *     unlink PATH
 *     folder                   fsync of the folder
 *
 * stdio writes by calls that cannot be intercepted, so contents are looked at before every other call instead. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS /* open and open64 are two functions here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    char path[4096], line[8192];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "%s/log", getenv("POWER_LOG"));
    int fd = NEXT(open64)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || NEXT(write)(fd, line, (size_t)length) != length)
        abort();
    close(fd);
}

static int watched(const char *path)
{
    const char *folder = getenv("POWER_WATCH");
    return folder && getenv("POWER_LOG") && strncmp(path, folder, strlen(folder)) == 0;
}

/* Whether a descriptor is of a watched file; fills its path. */
static int watched_fd(int fd, char path[4096], struct stat *about)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    path[length > 0 ? length : 0] = '\0';
    return watched(path) && fstat(fd, about) == 0;
}

/* "data" or "sync" with the content of a file. */
static void snapshot(const char *word, const char *path, ino_t inode)
{
    static int count;
    char copy[4096], bytes[65536];
    ssize_t got;
    snprintf(copy, sizeof copy, "%s/%d", getenv("POWER_LOG"), ++count);
    int from = NEXT(open64)(path, O_RDONLY | O_CLOEXEC), to = NEXT(open64)(copy, O_WRONLY | O_CREAT | O_EXCL, 0600);
    while (from >= 0 && to >= 0 && (got = read(from, bytes, sizeof bytes)) > 0)
        if (NEXT(write)(to, bytes, (size_t)got) != got)
            abort();
    close(from);
    close(to);
    note("%s %lu %d\n", word, (unsigned long)inode, count);
}

static void snapshot_fd(const char *word, int fd, ino_t inode)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    snapshot(word, link, inode);
}

static ino_t inode_of(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? about.st_ino : 0;
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    int new = flags &O_CREAT &&watched(path) && access(path, F_OK) != 0, fd = NEXT(open64)(path, flags, mode);
    int reason = errno;
    if (new &&fd >= 0)
        note("create %lu %s\n", (unsigned long)inode_of(path), path);
    errno = reason;
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    return open64(path, flags, mode);
}

static int sync_with(int (*sync)(int), int fd)
{
    struct stat about;
    char path[4096];
    int code = sync(fd), reason = errno;
    if (code == 0 && watched_fd(fd, path, &about)) {
        if (S_ISDIR(about.st_mode))
            note("folder\n");
        else
            snapshot_fd("sync", fd, about.st_ino);
    }
    errno = reason;
    return code;
}

int fsync(int fd)
{
    return sync_with(NEXT(fsync), fd);
}

int fdatasync(int fd)
{
    return sync_with(NEXT(fdatasync), fd);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    struct stat about;
    char path[4096];
    ssize_t wrote = NEXT(write)(fd, bytes, size);
    int reason = errno;
    if (wrote > 0 && watched_fd(fd, path, &about) && S_ISREG(about.st_mode))
        snapshot_fd("data", fd, about.st_ino);
    errno = reason;
    return wrote;
}

int ftruncate64(int fd, off64_t size)
{
    struct stat about;
    char path[4096];
    int code = NEXT(ftruncate64)(fd, size), reason = errno;
    if (code == 0 && watched_fd(fd, path, &about))
        snapshot_fd("data", fd, about.st_ino);
    errno = reason;
    return code;
}

int ftruncate(int fd, off_t size)
{
    return ftruncate64(fd, size);
}

int rename(const char *from, const char *to)
{
    ino_t inode = watched(from) ? inode_of(from) : 0;
    if (inode)
        snapshot("data", from, inode);
    int code = NEXT(rename)(from, to), reason = errno;
    if (code == 0 && inode)
        note("rename %lu %s %s\n", (unsigned long)inode, from, to);
    errno = reason;
    return code;
}

static int link_with(int code, const char *to)
{
    int reason = errno;
    if (code == 0 && watched(to)) {
        snapshot("data", to, inode_of(to));
        note("link %lu %s\n", (unsigned long)inode_of(to), to);
    }
    errno = reason;
    return code;
}

int link(const char *from, const char *to)
{
    return link_with(NEXT(link)(from, to), to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    return link_with(NEXT(linkat)(a, from, b, to, flags), to);
}

int unlink(const char *path)
{
    int code = NEXT(unlink)(path), reason = errno;
    if (code == 0 && watched(path))
        note("unlink %s\n", path);
    errno = reason;
    return code;
}

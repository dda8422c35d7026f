/* The partial file of a download: NAME.part, locked, renamed to NAME when it is complete. */
#define _DEFAULT_SOURCE /* flock */
#include "partial_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

static int cannot_write(const char *path)
{
    return print_error("cannot write %s: %s", path, strerror(errno));
}

/* Whether the path still names the open file: the process that held the lock before may have renamed it since. */
static int has_its_name(const partial_file *part)
{
    struct stat named, opened;
    return stat(part->path, &named) == 0 && fstat(part->fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/* Opens and locks the file. Returns 0, EXIT_FAILED after printing why, or -1: try again. */
static int open_locked(partial_file *part)
{
    struct stat status;
    part->fd = open(part->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (part->fd < 0)
        return cannot_write(part->path);
    int failed = 0;
    if (fstat(part->fd, &status) != 0 || !S_ISREG(status.st_mode))
        failed = print_error("%s exists and is not a regular file; remove it", part->path);
    else if (flock(part->fd, LOCK_EX | LOCK_NB) != 0)
        failed = print_error("another process is downloading %s", part->target);
    else if (!has_its_name(part))
        failed = -1;
    if (failed)
        close(part->fd);
    else
        part->have = status.st_size;
    return failed;
}

int partial_open(partial_file *part, const char *folder, const char *name)
{
    int length = snprintf(part->path, sizeof part->path, "%s/%s.part", folder, name);
    if (length < 0 || (size_t)length >= sizeof part->path)
        return print_error("path is too long: %.100s...", folder);
    snprintf(part->target, sizeof part->target, "%.*s", length - (int)strlen(".part"), part->path);
    int status;
    while ((status = open_locked(part)) < 0)
        continue;
    return status;
}

int partial_append(partial_file *part, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t wrote = pwrite(part->fd, from, count, part->have);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return 1;
        part->have += wrote;
        from += wrote;
        count -= (size_t)wrote;
    }
    return 0;
}

int partial_restart(partial_file *part)
{
    part->have = 0;
    return ftruncate(part->fd, 0) == 0 ? 0 : cannot_write(part->path);
}

/* A rename is durable only after the folder was synced. */
static void sync_folder(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    int fd = open(*folder ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

int partial_commit(const partial_file *part)
{
    if (fsync(part->fd) != 0 || rename(part->path, part->target) != 0)
        return cannot_write(part->target);
    sync_folder(part->target);
    return 0;
}

void partial_discard(const partial_file *part)
{
    unlink(part->path);
}

void partial_close(partial_file *part)
{
    close(part->fd);
}

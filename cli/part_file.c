#define _DEFAULT_SOURCE /* flock */
#include "part_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

static int cannot_write(const char *path)
{
    return say_error("cannot write %s: %s", path, strerror(errno));
}

/* Whether the open file still has its name: who held the lock before may have renamed it since. */
static int has_its_name(const part_file *part)
{
    struct stat named, opened;
    return stat(part->path, &named) == 0 && fstat(part->fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/* Opens and locks it once; 0, EXIT_FAILED, or -1: try again. */
static int open_locked(part_file *part)
{
    struct stat status;
    part->fd = open(part->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (part->fd < 0)
        return cannot_write(part->path);
    int failed = 0;
    if (fstat(part->fd, &status) != 0 || !S_ISREG(status.st_mode))
        failed = say_error("%s is in the way: it is not a file", part->path);
    else if (flock(part->fd, LOCK_EX | LOCK_NB) != 0)
        failed = say_error("another program is fetching %s", part->target);
    else if (!has_its_name(part))
        failed = -1;
    if (failed)
        close(part->fd);
    else
        part->have = status.st_size;
    return failed;
}

int part_open(part_file *part, const char *folder, const char *name)
{
    int length = snprintf(part->path, sizeof part->path, "%s/%s.part", folder, name);
    if (length < 0 || (size_t)length >= sizeof part->path)
        return say_error("the path is too long: %.100s...", folder);
    snprintf(part->target, sizeof part->target, "%.*s", length - (int)strlen(".part"), part->path);
    int status;
    while ((status = open_locked(part)) < 0)
        continue;
    return status;
}

int part_append(part_file *part, const void *bytes, size_t count)
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

int part_restart(part_file *part)
{
    part->have = 0;
    return ftruncate(part->fd, 0) == 0 ? 0 : cannot_write(part->path);
}

/* A rename is on disk only when its folder is. */
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

int part_commit(const part_file *part)
{
    if (fsync(part->fd) != 0 || rename(part->path, part->target) != 0)
        return cannot_write(part->target);
    sync_folder(part->target);
    return 0;
}

void part_discard(const part_file *part)
{
    unlink(part->path);
}

void part_close(part_file *part)
{
    close(part->fd);
}

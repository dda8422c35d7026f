/* Atomic replacement of files. On Linux the temporary file has no name until it is complete (O_TMPFILE), so that a
 * process that is killed leaves nothing behind. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "io/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether snprintf ran out of space; sets errno. */
static int too_long(int length)
{
    if (length >= 0 && length < NPI_PATH_SIZE)
        return 0;
    errno = ENAMETOOLONG;
    return 1;
}

/* The folder of a path: "." where it has no slash, "/" where the only one is the first. */
static void folder_of(char folder[NPI_PATH_SIZE], const char *path)
{
    snprintf(folder, NPI_PATH_SIZE, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        snprintf(folder, NPI_PATH_SIZE, ".");
    else
        slash[slash == folder] = '\0';
}

/* ---- where a path leads ---- */

/* N where `path` is /dev/fd/N or /proc/self/fd/N, whatever name its folder goes by; otherwise -1. */
static int own_descriptor(const char *path)
{
    char folder[NPI_PATH_SIZE], real[NPI_PATH_SIZE], own[NPI_PATH_SIZE], *end;
    const char *slash = strrchr(path, '/');
    if (!slash || slash[1] < '0' || slash[1] > '9')
        return -1;
    long number = strtol(slash + 1, &end, 10);
    folder_of(folder, path);
    if (*end || number > 1000000 || !realpath(folder, real) || !realpath("/proc/self/fd", own))
        return -1;
    return strcmp(real, own) == 0 ? (int)number : -1;
}

enum { MOST_LINKS = 40 }; /* as many as Linux follows */

/* Fills out->target. *descriptor is the descriptor of this process that the path leads to, or -1. */
static int follow_links(npi_atomic *out, int *descriptor, const char *path)
{
    if (too_long(snprintf(out->target, sizeof out->target, "%s", path)))
        return -1;
    for (int links = 0; links < MOST_LINKS; links++) {
        /* Before the link is read: Linux shows descriptors as links to files, which could then be replaced under
         * whoever passed them to us. */
        *descriptor = own_descriptor(out->target);
        if (*descriptor >= 0)
            return 0;
        char link[NPI_PATH_SIZE], folder[NPI_PATH_SIZE];
        ssize_t length = readlink(out->target, link, sizeof link - 1);
        if (length < 0) /* no link, or nothing there yet: this is the end */
            return errno == EINVAL || errno == ENOENT ? 0 : -1;
        link[length] = '\0';
        folder_of(folder, out->target);
        if (too_long(link[0] == '/' ? snprintf(out->target, sizeof out->target, "%s", link)
                                    : snprintf(out->target, sizeof out->target, "%s/%s", folder, link)))
            return -1;
    }
    errno = ELOOP;
    return -1;
}

/* Decides between replacing and writing in place. status->st_mode is 0 where there is nothing yet. */
static int find_target(npi_atomic *out, int *descriptor, struct stat *status, const char *path)
{
    out->file = NULL;
    out->temporary[0] = '\0';
    *descriptor = -1;
    /* This comes first, for here the system refuses to follow links that others left in /tmp. */
    int exists = stat(path, status) == 0;
    if ((!exists && errno != ENOENT) || follow_links(out, descriptor, path) != 0)
        return -1;
    if (!exists)
        status->st_mode = 0;
    out->in_place = *descriptor >= 0 || (exists && !S_ISREG(status->st_mode));
    if (exists && S_ISDIR(status->st_mode)) {
        errno = EISDIR;
        return -1;
    }
    /* A rename would not ask whether the file itself may be written. */
    return exists && *descriptor < 0 ? access(path, W_OK) : 0;
}

/* ---- the temporary file ---- */

/* A name in the folder of `path` that another process is unlikely to use: PATH.PID.TRY. */
static int temporary_name(char name[NPI_PATH_SIZE], const char *path, unsigned try)
{
    return too_long(snprintf(name, NPI_PATH_SIZE, "%s.%ld.%u", path, (long)getpid(), try)) ? -1 : 0;
}

enum { TRIES = 1000 };

/* Creates a temporary file, without a name where the file system supports it. Returns its descriptor or -1. */
static int create_temporary(npi_atomic *out, mode_t mode)
{
#ifdef O_TMPFILE
    char folder[NPI_PATH_SIZE];
    folder_of(folder, out->target);
    /* name_temporary needs /proc; errors other than "not supported" would hit a named file too */
    if (access("/proc/self/fd", F_OK) == 0) {
        int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
        if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
            return fd;
    }
#endif
    for (unsigned try = 0; try < TRIES; try++) {
        if (temporary_name(out->temporary, out->target, try))
            break;
        int fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            break;
    }
    out->temporary[0] = '\0'; /* it is somebody else's */
    return -1;
}

/* A temporary file with the permissions, owner and group of the file that it is going to replace, as far as we may give
 * them. It starts with no more permissions than that file has, so that nobody can open it in between. */
static int open_temporary(npi_atomic *out, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    int fd = create_temporary(out, old->st_mode ? mode : 0666);
    if (fd >= 0 && old->st_mode) {
        if (fchown(fd, old->st_uid, old->st_gid) != 0)
            errno = 0; /* only root may give files away */
        fchmod(fd, mode);
    }
    return fd;
}

/* Gives an unnamed temporary file a name. */
static int name_temporary(npi_atomic *out)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(out->file));
    for (unsigned try = 0; try < TRIES; try++) {
        if (temporary_name(out->temporary, out->target, try))
            break;
        if (linkat(AT_FDCWD, link, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    out->temporary[0] = '\0';
    return -1;
}

static void remove_temporary(npi_atomic *out)
{
    if (out->temporary[0])
        unlink(out->temporary);
    out->temporary[0] = '\0';
}

int npi_atomic_open(npi_atomic *out, const char *path)
{
    int descriptor, fd;
    struct stat old;
    if (find_target(out, &descriptor, &old, path) != 0)
        return -1;
    if (descriptor >= 0)
        fd = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    else if (out->in_place)
        fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    else
        fd = open_temporary(out, &old);
    if (fd < 0)
        return -1;
    out->file = fdopen(fd, "wb");
    if (out->file)
        return 0;
    int reason = errno;
    close(fd);
    remove_temporary(out);
    errno = reason;
    return -1;
}

void npi_atomic_abort(npi_atomic *out)
{
    if (!out->file)
        return;
    fclose(out->file);
    remove_temporary(out);
    out->file = NULL;
}

int npi_atomic_check(const char *path)
{
    npi_atomic out;
    int descriptor;
    struct stat old;
    if (find_target(&out, &descriptor, &old, path) != 0)
        return -1;
    if (descriptor >= 0)
        return fcntl(descriptor, F_GETFL) < 0 ? -1 : 0;
    if (out.in_place)
        return 0;
    int fd = open_temporary(&out, &old);
    if (fd < 0)
        return -1;
    close(fd);
    remove_temporary(&out);
    return 0;
}

int npi_atomic_in_place(const char *path)
{
    npi_atomic out;
    int descriptor;
    struct stat old;
    return find_target(&out, &descriptor, &old, path) == 0 && out.in_place;
}

/* ---- commit ---- */

/* Writes all data to the disk, where there is one. */
static int flush_to_disk(npi_atomic *out)
{
    /* an earlier write may have failed and left nothing to flush; ferror remembers that, but not the reason */
    int lost = ferror(out->file);
    if (fflush(out->file) != 0)
        return -1;
    if (fsync(fileno(out->file)) != 0 && !(out->in_place && (errno == EINVAL || errno == EROFS || errno == ENOTSUP)))
        return -1; /* pipes and terminals have no disk */
    errno = EIO;
    return lost ? -1 : 0;
}

int npi_atomic_previous_path(char previous[NPI_PATH_SIZE], const char *path)
{
    npi_atomic out;
    int descriptor;
    if (follow_links(&out, &descriptor, path) != 0)
        return -1;
    return too_long(snprintf(previous, NPI_PATH_SIZE, "%s.prev", out.target)) ? -1 : 0;
}

/* Links TARGET to TARGET.prev, by way of a third name, so that at every moment a file exists under each of the two
 * names that had one. */
static int keep_previous(const char *target)
{
    char previous[NPI_PATH_SIZE], step[NPI_PATH_SIZE];
    if (npi_atomic_previous_path(previous, target) || temporary_name(step, previous, 0))
        return -1;
    unlink(step);
    if (link(target, step) != 0) {
        if (errno == ENOENT)
            return 0;
        /* a file system without hard links: for a moment only TARGET.prev exists */
        return errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK ? rename(target, previous) : -1;
    }
    int failed = rename(step, previous), reason = errno;
    unlink(step); /* rename leaves it where both names were links to one file */
    errno = reason;
    return failed;
}

/* A rename is on disk only after fsync of the folder. Where folders cannot be synced, nothing more can be done. */
static int sync_folder(const char *path)
{
    char folder[NPI_PATH_SIZE];
    folder_of(folder, path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int failed = fsync(fd) != 0 && errno != EINVAL && errno != EOPNOTSUPP && errno != EROFS, reason = errno;
    close(fd);
    errno = reason;
    return failed ? -1 : 0;
}

static int commit(npi_atomic *out, int keep)
{
    int failed = flush_to_disk(out) != 0;
    /* the temporary file gets its name last: a process that is killed between naming and renaming leaves it behind */
    if (!failed && !out->in_place)
        failed = (keep && keep_previous(out->target) != 0) || (!out->temporary[0] && name_temporary(out) != 0) ||
                 rename(out->temporary, out->target) != 0;
    int reason = errno;
    if (!failed)
        out->temporary[0] = '\0';
    if (fclose(out->file) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    out->file = NULL;
    if (!failed && !out->in_place && sync_folder(out->target) != 0) {
        failed = 1;
        reason = errno;
    }
    if (!failed)
        return 0;
    remove_temporary(out);
    errno = reason;
    return -1;
}

int npi_atomic_commit(npi_atomic *out)
{
    return commit(out, 0);
}

int npi_atomic_replace(npi_atomic *out)
{
    return commit(out, 1);
}

/* Atomic replacement of files. On Linux the temporary file has no name until it is complete (O_TMPFILE), so that a
 * process that is killed leaves nothing behind. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "io/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---- the temporary file ---- */

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

/* A name in the folder of `path` that another process is unlikely to use: PATH.PID.TRY. */
static int temporary_name(char name[NPI_PATH_SIZE], const char *path, unsigned try)
{
    return too_long(snprintf(name, NPI_PATH_SIZE, "%s.%ld.%u", path, (long)getpid(), try)) ? -1 : 0;
}

enum { TRIES = 1000 };

/* Creates a named temporary file with the permissions of the umask. Returns its descriptor, or -1 with errno. */
static int create_named(npi_atomic *out)
{
    for (unsigned try = 0; try < TRIES; try++) {
        if (temporary_name(out->temporary, out->path, try))
            return -1;
        int fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Creates a temporary file, without a name where the file system supports it. name_temporary needs /proc to name it. */
static int create(npi_atomic *out)
{
    out->temporary[0] = '\0';
#ifdef O_TMPFILE
    char folder[NPI_PATH_SIZE];
    folder_of(folder, out->path);
    /* errors other than "not supported" would hit a named file too: report them */
    if (access("/proc/self/fd", F_OK) == 0) {
        int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
        if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
            return fd;
    }
#endif
    return create_named(out);
}

/* Gives an unnamed temporary file a name. Returns 0, or -1 with errno. */
static int name_temporary(npi_atomic *out)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(out->file));
    for (unsigned try = 0; try < TRIES; try++) {
        if (temporary_name(out->temporary, out->path, try))
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

int npi_atomic_open(npi_atomic *out, const char *path, npgnn_error *err)
{
    int fd = -1;
    if (!too_long(snprintf(out->path, sizeof out->path, "%s", path)))
        fd = create(out);
    out->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (out->file)
        return 0;
    npi_fail_errno(err, "write", path);
    if (fd >= 0) {
        close(fd);
        remove_temporary(out);
    }
    return NPGNN_E_IO;
}

void npi_atomic_abort(npi_atomic *out)
{
    if (!out->file)
        return;
    fclose(out->file);
    remove_temporary(out);
    out->file = NULL;
}

/* ---- commit ---- */

/* Writes all data to the disk. Returns 0, or -1 with errno. */
static int flush_to_disk(FILE *file)
{
    /* an earlier write may have failed and left nothing to flush; ferror remembers that, but not the reason */
    int lost = ferror(file);
    if (fflush(file) != 0 || fsync(fileno(file)) != 0)
        return -1;
    errno = EIO;
    return lost ? -1 : 0;
}

int npi_atomic_previous_path(char previous[NPI_PATH_SIZE], const char *path)
{
    return too_long(snprintf(previous, NPI_PATH_SIZE, "%s.prev", path)) ? -1 : 0;
}

/* Links PATH to PATH.prev, by way of a third name, so that at every moment a file exists under each of the two names
 * that had one. Returns 0, or -1 with errno. */
static int keep_previous(const char *path)
{
    char previous[NPI_PATH_SIZE], step[NPI_PATH_SIZE];
    if (npi_atomic_previous_path(previous, path) || temporary_name(step, previous, 0))
        return -1;
    unlink(step);
    if (link(path, step) != 0) {
        if (errno == ENOENT)
            return 0;
        /* a file system without hard links: for a moment only PATH.prev exists */
        return errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK ? rename(path, previous) : -1;
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

static int commit(npi_atomic *out, int keep, npgnn_error *err)
{
    /* the temporary file gets its name last: a process that is killed between naming and renaming leaves it behind */
    int failed = flush_to_disk(out->file) != 0 || (keep && keep_previous(out->path) != 0) ||
                 (!out->temporary[0] && name_temporary(out) != 0) || rename(out->temporary, out->path) != 0;
    int reason = errno;
    if (!failed)
        out->temporary[0] = '\0';
    if (fclose(out->file) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    out->file = NULL;
    if (!failed && sync_folder(out->path) != 0) {
        failed = 1;
        reason = errno;
    }
    if (!failed)
        return 0;
    remove_temporary(out);
    errno = reason;
    return npi_fail_errno(err, "write", out->path);
}

int npi_atomic_commit(npi_atomic *out, npgnn_error *err)
{
    return commit(out, 0, err);
}

int npi_atomic_replace(npi_atomic *out, npgnn_error *err)
{
    return commit(out, 1, err);
}

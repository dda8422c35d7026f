#define _POSIX_C_SOURCE 200809L
#include "io/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Creates a file that nobody else has, with the permissions that the user's umask gives. Returns its descriptor or -1. */
static int create_temporary(char *name, size_t size, const char *path)
{
    for (unsigned try = 0; try < 1000; try++) {
        int length = snprintf(name, size, "%s.%ld.%u", path, (long)getpid(), try);
        if (length < 0 || (size_t)length >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

int npi_atomic_open(npi_atomic *out, const char *path, npgnn_error *err)
{
    int fd = create_temporary(out->temporary, sizeof out->temporary, path);
    if (fd < 0)
        return npi_fail_errno(err, "write", path);
    snprintf(out->path, sizeof out->path, "%s", path);
    out->file = fdopen(fd, "wb");
    if (!out->file) {
        npi_fail_errno(err, "write", path);
        close(fd);
        unlink(out->temporary);
        return NPGNN_E_IO;
    }
    return 0;
}

/* A rename is on disk only when its folder is. */
static void sync_folder(const char *path)
{
    char folder[4096];
    char *slash;
    int fd;
    snprintf(folder, sizeof folder, "%s", path);
    slash = strrchr(folder, '/');
    if (!slash)
        snprintf(folder, sizeof folder, ".");
    else
        slash[slash == folder] = '\0';
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

int npi_atomic_commit(npi_atomic *out, npgnn_error *err)
{
    /* a write that failed earlier may have left nothing to flush: the stream remembers it, though not why */
    int lost = ferror(out->file);
    int failed = fflush(out->file) != 0 || fsync(fileno(out->file)) != 0;
    int reason = failed ? errno : EIO;
    failed = failed || lost;
    if (fclose(out->file) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    out->file = NULL;
    if (!failed && rename(out->temporary, out->path) != 0) {
        failed = 1;
        reason = errno;
    }
    if (failed) {
        unlink(out->temporary);
        errno = reason;
        return npi_fail_errno(err, "write", out->path);
    }
    sync_folder(out->path);
    return 0;
}

void npi_atomic_abort(npi_atomic *out)
{
    if (!out->file)
        return;
    fclose(out->file);
    unlink(out->temporary);
    out->file = NULL;
}

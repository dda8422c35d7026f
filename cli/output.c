#define _POSIX_C_SOURCE 200809L
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cancel.h"
#include "say.h"

static int cannot_write(const char *path)
{
    return say_error("cannot write %s: %s", path, strerror(errno));
}

/* Pipes and devices (/dev/stdout, a shell's >(...)) cannot be renamed over: they are written in place. */
static int is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

int output_open(cli_output *out, const char *path)
{
    out->path = path;
    out->temporary[0] = '\0';
    out->file = stdout;
    if (strcmp(path, "-") == 0)
        return 0;
    if (is_special(path)) {
        out->file = fopen(path, "w");
        return out->file ? 0 : cannot_write(path);
    }
    int length = snprintf(out->temporary, sizeof out->temporary, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof out->temporary)
        return say_error("the path is too long: %.100s...", path);
    int fd = mkstemp(out->temporary);
    if (fd < 0)
        return cannot_write(path);
    cancel_unfinished(out->temporary);
    mode_t mask = umask(0); /* mkstemp makes files private; results are as public as any file of the user */
    umask(mask);
    out->file = fchmod(fd, 0666 & ~mask) == 0 ? fdopen(fd, "w") : NULL;
    if (out->file)
        return 0;
    cannot_write(path);
    close(fd);
    unlink(out->temporary);
    cancel_unfinished(NULL);
    return EXIT_FAILED;
}

int output_check(const char *path)
{
    cli_output out;
    int code = output_open(&out, path);
    if (code == 0)
        output_abort(&out);
    return code;
}

/* Everything on disk, and the stream closed. Returns 0, or -1 with errno: a write that failed earlier may have left nothing to flush,
 * and the stream remembers it, though not why. */
static int finish(cli_output *out)
{
    int lost = ferror(out->file);
    int failed = fflush(out->file) != 0 || (out->temporary[0] && fsync(fileno(out->file)) != 0);
    int reason = failed ? errno : EIO;
    failed = failed || lost;
    if (fclose(out->file) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    errno = reason;
    return failed ? -1 : 0;
}

int output_commit(cli_output *out)
{
    if (out->file == stdout)
        return output_flush_stdout();
    int good = finish(out) == 0 && (!out->temporary[0] || rename(out->temporary, out->path) == 0);
    if (!good) {
        cannot_write(out->path);
        if (out->temporary[0])
            unlink(out->temporary);
    }
    cancel_unfinished(NULL);
    return good ? 0 : EXIT_FAILED;
}

void output_abort(cli_output *out)
{
    if (out->file == stdout)
        return;
    fclose(out->file);
    if (out->temporary[0])
        unlink(out->temporary);
    cancel_unfinished(NULL);
}

int output_make_folders(const char *path)
{
    char above[4096];
    int length = snprintf(above, sizeof above, "%s", path);
    if (length < 0 || (size_t)length >= sizeof above)
        return say_error("the path is too long: %.100s...", path);
    for (char *slash = above; *slash && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        mkdir(above, 0777); /* it may be there; what really fails, the last one tells */
        *slash = '/';
    }
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    return say_error("cannot make the folder %s: %s", path, strerror(errno));
}

int output_flush_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    if (errno == EPIPE)
        return EXIT_FAILED;
    return cannot_write("to standard output");
}

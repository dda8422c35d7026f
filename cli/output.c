/* Output files that are written completely or not at all: to a temporary file, which is then renamed. */
#define _POSIX_C_SOURCE 200809L
#include "output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cancel.h"
#include "message.h"

static int cannot_write(const char *path)
{
    return print_error("cannot write %s: %s", path, strerror(errno));
}

int output_open(cli_output *out, const char *path)
{
    out->path = path;
    out->file = stdout;
    if (strcmp(path, "-") == 0)
        return 0;
    fflush(stdout); /* the path may lead there too */
    if (npi_atomic_open(&out->target, path) != 0)
        return cannot_write(path);
    out->file = out->target.file;
    if (out->target.temporary[0])
        cancel_unfinished(out->target.temporary);
    return 0;
}

int output_check(const char *path)
{
    return strcmp(path, "-") == 0 || npi_atomic_check(path) == 0 ? 0 : cannot_write(path);
}

int output_is_stream(const char *path)
{
    return strcmp(path, "-") == 0 || npi_atomic_in_place(path);
}

int output_commit(cli_output *out)
{
    if (out->file == stdout)
        return output_flush_stdout();
    int code = npi_atomic_commit(&out->target) == 0 ? 0 : cannot_write(out->path);
    cancel_unfinished(NULL);
    return code;
}

void output_abort(cli_output *out)
{
    if (out->file == stdout)
        return;
    npi_atomic_abort(&out->target);
    cancel_unfinished(NULL);
}

int output_make_folders(const char *path)
{
    char above[4096];
    int length = snprintf(above, sizeof above, "%s", path);
    if (length < 0 || (size_t)length >= sizeof above)
        return print_error("path is too long: %.100s...", path);
    for (char *slash = above; *slash && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        mkdir(above, 0777); /* may exist; another failure makes the last mkdir fail too */
        *slash = '/';
    }
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    return print_error("cannot create folder %s: %s", path, strerror(errno));
}

int output_flush_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    if (errno == EPIPE)
        return EXIT_FAILED;
    return cannot_write("to standard output");
}

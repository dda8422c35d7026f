/* Writes a file completely or not at all: to a temporary file in the same folder, fsync, rename, fsync of the folder.
 *
 *   the path leads to                       what happens
 *   nothing, or a regular file              the temporary file takes its place and its permissions
 *   a symbolic link                         the file at its end is replaced; the link stays
 *   a device or FIFO                        written in place, for it cannot be replaced
 *   a descriptor of this process            written in place, after what was written to it before
 *     (/dev/fd/1 and links to it)
 *
 * Opening a FIFO waits for a reader. A signal whose handler was installed without SA_RESTART ends the wait with EINTR.
 *
 * Functions return 0, or -1 with errno. The program compiles this file too, so it calls nothing but the system. */
#ifndef NPI_IO_ATOMIC_H
#define NPI_IO_ATOMIC_H

#include <stdio.h>

#include "io/path.h"

typedef struct npi_atomic {
    FILE *file;                    /* the caller writes to this */
    int in_place;                  /* the target is written to instead of being replaced */
    char target[NPI_PATH_SIZE];    /* the path with the links at its end followed */
    char temporary[NPI_PATH_SIZE]; /* "" while the temporary file has no name, or there is none */
} npi_atomic;

int npi_atomic_open(npi_atomic *out, const char *path);

/* Gives the file its final name. On failure, also of an earlier write, removes the temporary file. */
int npi_atomic_commit(npi_atomic *out);

/* The same, but keeps the previous file as TARGET.prev. */
int npi_atomic_replace(npi_atomic *out);

/* The path of the previous file. */
int npi_atomic_previous_path(char previous[NPI_PATH_SIZE], const char *path);

/* Discards the temporary file. */
void npi_atomic_abort(npi_atomic *out);

/* Whether npi_atomic_open is likely to succeed. Writes nothing, and does not open a FIFO, whose reader would see its
 * end. */
int npi_atomic_check(const char *path);

/* Whether the path would be written in place (1) or replaced (0). */
int npi_atomic_in_place(const char *path);

#endif

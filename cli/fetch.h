/* Getting a file that is known by its size and checksum, from the net or from a folder. It is written to NAME.part, continued
 * where an earlier attempt was cut off, and takes its name only when every byte is right: what has that name stays until then. */
#ifndef CLI_FETCH_H
#define CLI_FETCH_H

#include <stddef.h>
#include <stdint.h>

typedef struct fetch_file {
    const char *name; /* without a folder */
    int64_t size;
    const char *sha256; /* 64 hexadecimal digits */
} fetch_file;

typedef struct fetch_job fetch_job;
struct fetch_job {
    const fetch_file *file;
    const char *source;                                            /* an address, or a folder */
    const char *folder;                                            /* where the file belongs; it exists */
    int fresh;                                                     /* do not continue what an earlier attempt left */
    int patience;                                                  /* seconds without data before giving up */
    void (*show)(void *user, const fetch_job *job, int64_t bytes); /* so many bytes are there; often */
    void *user;
};

/* Whether a source is an address, begins with http:// or https://, rather than a folder. */
int fetch_is_address(const char *source);

/* 1 when the file is in the folder and right. */
int fetch_is_there(const fetch_file *file, const char *folder);

/* Returns 0, EXIT_FAILED after having said why, or the status of a signal that stopped it. */
int fetch_run(const fetch_job *job);

/* ---- the data sets that are known ---- */

typedef struct fetch_set {
    const char *name, *about;
    const char *home;   /* where the files come from unless the user names a mirror */
    const char *folder; /* where they belong, below the data folder */
    const fetch_file *files;
    int count;
} fetch_set;

extern const fetch_set fetch_sets[];
extern const int fetch_set_count;

/* The set with this name, or NULL. */
const fetch_set *fetch_find(const char *name, size_t length);

#endif

/* Downloads a file whose size and checksum are known, from a URL or a folder. The bytes go to NAME.part. A download
 * that was interrupted is continued. NAME.part is renamed to NAME only after its checksum was verified; until then an
 * older NAME stays. */
#ifndef CLI_DOWNLOAD_H
#define CLI_DOWNLOAD_H

#include <stddef.h>
#include <stdint.h>

typedef struct known_file {
    const char *name; /* without a folder */
    int64_t size;
    const char *sha256; /* 64 hexadecimal digits */
} known_file;

typedef struct download_job download_job;
struct download_job {
    const known_file *file;
    const char *source;                                               /* a URL or a folder, without the file's name */
    const char *folder;                                               /* where the file is stored; it exists */
    int fresh;                                                        /* 1: do not continue an interrupted download */
    int timeout;                                                      /* seconds without data before giving up */
    void (*show)(void *user, const download_job *job, int64_t bytes); /* called often, with the bytes stored so far */
    void *user;
};

/* Whether a source is a URL (http:// or https://) rather than a folder. */
int download_is_url(const char *source);

/* Whether the file is in the folder, with the right size and checksum. */
int download_is_complete(const known_file *file, const char *folder);

/* Returns 0, EXIT_FAILED after printing why, or the exit status of a signal that stopped it. */
int download_run(const download_job *job);

#endif

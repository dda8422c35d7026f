/* A file that is being downloaded: NAME.part, locked against other processes, then renamed to NAME. */
#ifndef CLI_PARTIAL_FILE_H
#define CLI_PARTIAL_FILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct partial_file {
    char path[4096], target[4096];
    int fd;
    int64_t have; /* bytes stored so far */
} partial_file;

/* Opens FOLDER/NAME.part, with the bytes that an earlier attempt left. Returns 0, or EXIT_FAILED after printing why:
 * also where another process holds it. */
int partial_open(partial_file *part, const char *folder, const char *name);

/* Appends bytes. Returns 0, or EXIT_FAILED with errno set. */
int partial_append(partial_file *part, const void *bytes, size_t count);

/* Empties the file. Returns 0, or EXIT_FAILED after printing why. */
int partial_restart(partial_file *part);

/* Renames the file to NAME, durably. Returns 0, or EXIT_FAILED after printing why. */
int partial_commit(const partial_file *part);

/* Removes the file. */
void partial_discard(const partial_file *part);
void partial_close(partial_file *part);

#endif

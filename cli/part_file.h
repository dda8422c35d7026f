/* A file on its way: NAME.part, locked against other programs, then renamed to NAME. */
#ifndef CLI_PART_FILE_H
#define CLI_PART_FILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct part_file {
    char path[4096], target[4096];
    int fd;
    int64_t have; /* bytes so far */
} part_file;

/* FOLDER/NAME.part, with what an earlier attempt left of it. Returns 0, or EXIT_FAILED after having said why: also where another
 * program is at it. */
int part_open(part_file *part, const char *folder, const char *name);

/* Adds bytes; 0, or EXIT_FAILED with errno set. */
int part_append(part_file *part, const void *bytes, size_t count);

/* Forgets what is there. 0, or EXIT_FAILED after having said why. */
int part_restart(part_file *part);

/* Gives the file its name, on disk; 0, or EXIT_FAILED after having said why. */
int part_commit(const part_file *part);

/* Removes it: nothing of it is of use. */
void part_discard(const part_file *part);
void part_close(part_file *part);

#endif

/* A folder of the test's own, and whole files in it. The test defines _XOPEN_SOURCE 700 and has make_folder and
 * remove_folder run around it. */
#ifndef NPI_TESTS_FOLDER_H
#define NPI_TESTS_FOLDER_H

#include <dirent.h>

#include "check.h"

static char folder[64];

static inline const char *path_of(const char *name)
{
    static char path[2][512];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

typedef struct content {
    unsigned char *bytes;
    size_t size;
} content;

static inline content read_whole(const char *path)
{
    content c = {calloc(1 << 20, 1), 0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    c.size = fread(c.bytes, 1, 1 << 20, file);
    assert_true(c.size < 1 << 20);
    fclose(file);
    return c;
}

static inline void write_whole(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* How many files there are. */
static inline int entries(void)
{
    DIR *dir = opendir(folder);
    int count = 0;
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2;
}

static inline void empty_folder(void)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            remove(path_of(entry->d_name));
    closedir(dir);
}

/* In memory where that is possible: a disk that is synced a thousand times takes minutes. */
static inline int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/npgnn-test-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    empty_folder();
    return rmdir(folder);
}

#endif

/* replay PATH...: runs the target that it is linked with over files, and over every file in folders. */
#define _DEFAULT_SOURCE /* scandir, alphasort */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static int count;

static void replay_file(const char *path, FILE *file)
{
    unsigned char *bytes = NULL;
    size_t size = 0, room = 0;
    for (int byte; (byte = fgetc(file)) != EOF;) {
        if (size == room) {
            room = room ? 2 * room : 4096;
            bytes = realloc(bytes, room);
            fuzz_check(bytes);
        }
        bytes[size++] = (unsigned char)byte;
    }
    /* a block of just that size: the sanitizers then see a read behind its end */
    unsigned char *exact = malloc(size ? size : 1);
    fuzz_check(exact);
    for (size_t i = 0; i < size; i++)
        exact[i] = bytes[i];
    free(bytes);
    printf("%s\n", path); /* the last one named is at fault when the target ends the program */
    fflush(stdout);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    count++;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Returns 0 where there is no such folder: a target without findings has none. */
static int replay_folder(const char *path)
{
    struct dirent **entries;
    int entry_count = scandir(path, &entries, is_visible, alphasort);
    for (int i = 0; i < entry_count; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        FILE *file = fopen(inner, "rb");
        fuzz_check(file);
        replay_file(inner, file);
        fclose(file);
        free(entries[i]);
    }
    if (entry_count >= 0)
        free(entries);
    return entry_count >= 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (replay_folder(argv[i]))
            continue;
        FILE *file = fopen(argv[i], "rb");
        if (!file)
            continue;
        replay_file(argv[i], file);
        fclose(file);
    }
    printf("%d cases\n", count);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* replay [-m N] PATH...: runs the target that it is linked with over files, and over every file in folders; with -m,
 * also over N mutations of each, by field (mutate.h), the same ones every time. */
#define _DEFAULT_SOURCE /* scandir, alphasort */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "mutate.h"

enum {
    MOST_BYTES = 1 << 18,
    CHAIN = 12
}; /* of a mutated file; mutations of mutations before it begins with the file again */

static int count, mutations;

#pragma weak LLVMFuzzerCustomMutator

/* What libFuzzer would do with bytes, in small. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    static fuzz_dice dice = {7};
    dice.state = dice.state * 6364136223846793005u + 1442695040888963407u;
    size_t at = size > 0 ? (size_t)(dice.state >> 40) % size : 0, what = (size_t)(dice.state >> 33) % 3;
    if (size == 0 || (what == 2 && size < most)) {
        if (size >= most)
            return size;
        memmove(data + at + 1, data + at, size - at);
        data[at] = (uint8_t)(dice.state >> 50);
        return size + 1;
    }
    if (what == 1 && size > 1) {
        memmove(data + at, data + at + 1, size - at - 1);
        return size - 1;
    }
    data[at] ^= (uint8_t)(1u << (dice.state >> 60) % 8);
    return size;
}

static void run(const uint8_t *bytes, size_t size)
{
    /* a block of just that size: the sanitizers then see a read behind its end */
    uint8_t *exact = malloc(size ? size : 1);
    fuzz_check(exact);
    if (size > 0)
        memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    count++;
}

/* Writes the file of the mutation that is tried, for the case that it ends the program: NPGNN_FUZZ_KEEP names it. */
static void keep(const uint8_t *bytes, size_t size)
{
    const char *path = getenv("NPGNN_FUZZ_KEEP");
    FILE *file = path ? fopen(path, "wb") : NULL;
    if (!file)
        return;
    fwrite(bytes, 1, size, file);
    fclose(file);
}

static void mutate(const uint8_t *bytes, size_t size)
{
    uint8_t *work = malloc(MOST_BYTES);
    size_t used = 0;
    fuzz_check(work);
    for (int i = 0; size <= MOST_BYTES && i < mutations; i++) {
        if (i % CHAIN == 0) {
            memcpy(work, bytes, size);
            used = size;
        }
        used = LLVMFuzzerCustomMutator(work, used, MOST_BYTES, (unsigned)i * 2654435761u);
        fuzz_check(used <= MOST_BYTES);
        keep(work, used);
        run(work, used);
    }
    free(work);
}

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
    printf("%s\n", path); /* the last one named is at fault when the target ends the program */
    fflush(stdout);
    run(bytes, size);
    if (mutations > 0 && LLVMFuzzerCustomMutator)
        mutate(bytes, size);
    free(bytes);
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
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "-m") == 0) {
        mutations = (int)strtol(argv[2], NULL, 10);
        first = 3;
    }
    for (int i = first; i < argc; i++) {
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

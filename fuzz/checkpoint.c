/* Checkpoints. The case is not the file but what is done to one that a small training has just saved: where it is cut,
 * and which bytes are changed, three bytes a change. The checksum is put right afterwards; it would stop nearly every
 * case at the door. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "fuzz.h"

static void make_trainer(npgnn_graph **graph, npgnn_trainer **trainer, fuzz_case *c)
{
    static const npgnn_pair edges[3] = {{0, 1}, {1, 2}, {2, 3}};
    static const float features[8] = {1, 0, 0, 1, 1, 1, 0, 2};
    static const char *const small[][2] = {{"hidden", "2"},      {"latent-size", "1"}, {"decoder-hidden", "2"},
                                           {"output-size", "1"}, {"iterations", "9"},  {"keep-best", "off"}};
    npgnn_options options = {.size = sizeof options};
    fuzz_check(npgnn_options_preset(&options, NULL, &c->err) == 0);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        fuzz_check(npgnn_options_set(&options, small[i][0], small[i][1], &c->err) == 0);
    fuzz_check(npgnn_graph_from_arrays(graph, edges, features, 4, 3, 2, &c->env, &c->err) == 0);
    fuzz_check(npgnn_trainer_new(trainer, *graph, NULL, &options, &c->env, &c->err) == 0);
    fuzz_check(npgnn_trainer_step(NULL, *trainer, &c->err) == 0);
}

static unsigned char *read_file(size_t *size, const char *path, fuzz_case *c)
{
    unsigned char *bytes = NULL;
    npi_stream *stream = NULL;
    fuzz_check(npi_stream_open(&stream, path, &c->env, &c->err) == 0);
    fuzz_check(npi_stream_read_all(&bytes, size, stream, SIZE_MAX / 4, &c->err) == 0);
    npi_stream_close(stream);
    return bytes;
}

/* Returns the size that is left. */
static size_t change(unsigned char *bytes, size_t size, const uint8_t *data, size_t data_size)
{
    if (data_size >= 2 && data[0] + 256U * data[1] > 0)
        size = (data[0] + 256U * data[1]) % (size + 1);
    for (size_t i = 2; size > 0 && i + 3 <= data_size; i += 3)
        bytes[(data[i] + 256U * data[i + 1]) % size] = data[i + 2];
    if (size >= sizeof(uint64_t)) {
        uint64_t sum = npi_hash_bytes(NPI_HASH_START, bytes, size - sizeof sum);
        memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
    }
    return size;
}

static void write_file(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    fuzz_check(file != NULL);
    fuzz_check(fwrite(bytes, 1, size, file) == size);
    fuzz_check(fclose(file) == 0);
}

/* What was taken over can be gone on with; what was refused changed nothing. */
static void check_restored(fuzz_case *c, npgnn_trainer *trainer, int code, const unsigned char *before, size_t size)
{
    char path[4096];
    size_t after_size;
    if (code == 0) {
        fuzz_code(c, npgnn_trainer_step(NULL, trainer, &c->err));
        return;
    }
    fuzz_check(npgnn_trainer_save(trainer, fuzz_path(path, "after"), &c->err) == 0);
    unsigned char *after = read_file(&after_size, path, c);
    fuzz_check(size == after_size && memcmp(before, after, size) == 0);
    npi_free(&c->env, after);
    fuzz_check(unlink(path) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    char path[4096];
    size_t whole;
    npgnn_options options = {.size = sizeof options};
    npgnn_graph *graph = NULL;
    npgnn_trainer *trainer = NULL;
    fuzz_begin(&c, data, size);
    make_trainer(&graph, &trainer, &c);
    fuzz_check(npgnn_trainer_save(trainer, fuzz_path(path, "checkpoint"), &c.err) == 0);
    unsigned char *before = read_file(&whole, path, &c), *changed = read_file(&whole, path, &c);
    write_file(path, changed, change(changed, whole, data, size));
    fuzz_code(&c, npgnn_checkpoint_options(&options, path, &c.env, &c.err));
    check_restored(&c, trainer, fuzz_code(&c, npgnn_trainer_restore(trainer, path, &c.err)), before, whole);
    fuzz_check(unlink(path) == 0);
    npi_free(&c.env, before);
    npi_free(&c.env, changed);
    npgnn_trainer_free(trainer);
    npgnn_graph_free(graph);
    fuzz_end(&c);
    return 0;
}

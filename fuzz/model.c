/* Model files. Whatever was read is written and read again to the same bytes, and can embed the nodes of a graph. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "store/modelfile.h"

static unsigned char *save(size_t *size, const npgnn_model *model, const char *path, fuzz_case *c)
{
    unsigned char *bytes = NULL;
    npi_stream *stream = NULL;
    fuzz_check(npgnn_model_save(model, path, &c->err) == 0);
    fuzz_check(npi_stream_open(&stream, path, &c->env, &c->err) == 0);
    fuzz_check(npi_stream_read_all(&bytes, size, stream, SIZE_MAX / 4, &c->err) == 0);
    npi_stream_close(stream);
    return bytes;
}

static void check_written(fuzz_case *c, const npgnn_model *model)
{
    char path[4096];
    size_t size, again_size;
    npgnn_model *again = NULL;
    unsigned char *bytes = save(&size, model, fuzz_path(path, "model"), c);
    fuzz_check(npgnn_model_load(&again, path, &c->env, &c->err) == 0);
    unsigned char *again_bytes = save(&again_size, again, path, c);
    fuzz_check(size == again_size && memcmp(bytes, again_bytes, size) == 0);
    fuzz_check(unlink(path) == 0);
    npgnn_model_free(again);
    npi_free(&c->env, bytes);
    npi_free(&c->env, again_bytes);
}

static void check_use(fuzz_case *c, const npgnn_model *model)
{
    enum { NODES = 3, WIDEST = 64 };
    static const npgnn_pair edges[2] = {{0, 1}, {1, 2}};
    float features[NODES * WIDEST], embedding[NODES * WIDEST];
    npgnn_model_info info = {.size = sizeof info};
    npgnn_options options = {.size = sizeof options};
    npgnn_graph *graph = NULL;
    npgnn_model_describe(&info, model, NULL);
    npgnn_model_options(&options, model, NULL);
    if (info.columns > WIDEST || options.output_size > WIDEST)
        return;
    for (int i = 0; i < NODES * info.columns; i++)
        features[i] = (float)(i % 3);
    fuzz_check(npgnn_graph_from_arrays(&graph, edges, features, NODES, 2, info.columns, &c->env, &c->err) == 0);
    fuzz_code(c, npgnn_model_embed(embedding, model, graph, &c->env, &c->err));
    npgnn_graph_free(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    npgnn_model *model = NULL;
    fuzz_begin(&c, data, size);
    npi_stream *stream = fuzz_stream(&c, "model", data, size);
    if (stream && fuzz_code(&c, npi_model_read(&model, stream, &c.err)) == 0) {
        check_written(&c, model);
        check_use(&c, model);
    }
    npgnn_model_free(model);
    npi_stream_close(stream);
    fuzz_end(&c);
    return 0;
}

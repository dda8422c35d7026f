/* Files of models learnt across graphs. Whatever was read is written and read again to the same bytes, and predicts
 * finite scores on a graph. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "model/model.h"
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
    unsigned char *bytes = save(&size, model, fuzz_path(path, "process"), c);
    fuzz_check(npgnn_model_load(&again, path, &c->env, &c->err) == 0);
    unsigned char *again_bytes = save(&again_size, again, path, c);
    fuzz_check(size == again_size && memcmp(bytes, again_bytes, size) == 0);
    fuzz_check(unlink(path) == 0);
    npgnn_model_free(again);
    npi_free(&c->env, bytes);
    npi_free(&c->env, again_bytes);
}

/* A ring with chords has enough links to set some aside. Files whose numbers could overflow are refused. */
static void check_use(fuzz_case *c, const npgnn_model *model)
{
    enum { NODES = 12, PAIRS = 3 };
    static const npgnn_pair pairs[PAIRS] = {{0, 1}, {2, 7}, {11, 5}};
    npgnn_pair edges[2 * NODES];
    npgnn_prediction predictions[PAIRS];
    npgnn_graph *graph = NULL;
    for (int32_t i = 0; i < NODES; i++) {
        edges[2 * i] = (npgnn_pair){i, (i + 1) % NODES};
        edges[2 * i + 1] = (npgnn_pair){i, (i + 3) % NODES};
    }
    c->most += (size_t)1 << 26; /* the memory of a predictor does not depend on the size of the file */
    fuzz_check(npgnn_graph_from_arrays(&graph, edges, NULL, NODES, 2 * NODES, 0, &c->env, &c->err) == 0);
    if (fuzz_code(c, npgnn_predict(predictions, model, graph, pairs, PAIRS, NULL, &c->env, &c->err)) == 0)
        for (int i = 0; i < PAIRS; i++)
            fuzz_check(predictions[i].probability >= 0 && predictions[i].probability <= 1);
    npgnn_graph_free(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    npgnn_model *model = NULL;
    fuzz_begin(&c, data, size);
    npi_stream *stream = fuzz_stream(&c, "process", data, size);
    if (stream && fuzz_code(&c, npi_model_read(&model, stream, &c.err)) == 0 && model->kind == &npi_process_kind) {
        check_written(&c, model);
        check_use(&c, model);
    }
    npgnn_model_free(model);
    npi_stream_close(stream);
    fuzz_end(&c);
    return 0;
}

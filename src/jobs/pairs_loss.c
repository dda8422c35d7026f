/* The all-pairs loss for embeddings of the caller's own. */
#include <string.h>

#include "base/parallel.h"
#include "graph/graph.h"
#include "linalg/dense.h"
#include "linalg/elementwise.h"
#include "model/options.h"
#include "model/pairs.h"

struct npgnn_pairs_loss {
    npgnn_env env;
    const npgnn_graph *graph;
    npi_pairs *pairs;
    npi_pairs_loss weights;
    uint64_t seed;
    int64_t count; /* of the numbers in U */
    real *u, *du;  /* (count) where the library's number type is not the caller's */
};

/* The public arrays are float; so is `real`, but for the build that checks gradients. */
#define SAME_TYPE (sizeof(real) == sizeof(float))

int npgnn_pairs_loss_new(npgnn_pairs_loss **out, const npgnn_graph *graph, int columns, int pairs_per_node,
                         npgnn_likelihood likelihood, uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    resolved.stop = NULL; /* a loss is a number: there is no way to say that it is none */
    if (graph->n < 1 || columns < 1 || columns > NPI_MAX_WIDTH || pairs_per_node < 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the loss needs nodes, 1 to %d columns, and no negative number of pairs",
                        NPI_MAX_WIDTH);
    npgnn_pairs_loss *loss = npi_alloc(&resolved, 1, sizeof *loss, err);
    if (!loss)
        return NPGNN_E_MEMORY;
    loss->env = resolved;
    loss->graph = graph;
    loss->weights = npi_pairs_loss_make(likelihood, &graph->a, graph->side);
    loss->seed = seed;
    loss->count = (int64_t)graph->n * columns;
    npi_partition rows = npi_partition_whole(graph->n);
    int code = npi_pairs_new(&loss->pairs, &rows, columns, pairs_per_node, graph->side, &resolved, err);
    if (code == 0 && !SAME_TYPE) {
        loss->u = npi_alloc(&resolved, (size_t)loss->count, sizeof *loss->u, err);
        loss->du = npi_alloc(&resolved, (size_t)loss->count, sizeof *loss->du, err);
        code = loss->u && loss->du ? 0 : NPGNN_E_MEMORY;
    }
    if (code)
        npgnn_pairs_loss_free(loss);
    else
        *out = loss;
    return code;
}

double npgnn_pairs_loss_run(float *gradient, npgnn_pairs_loss *loss, const float *embedding, uint32_t draw)
{
    const real *u = SAME_TYPE ? (const real *)(const void *)embedding : loss->u;
    real *du = SAME_TYPE ? (real *)(void *)gradient : loss->du;
    for (int64_t i = 0; !SAME_TYPE && i < loss->count; i++)
        loss->u[i] = embedding[i];
    if (du)
        npi_zero(du, loss->count, loss->env.threads);
    const npi_adj edges = {.a = loss->graph->a};
    double value = npi_pairs_run(loss->pairs, du, u, &edges, &loss->weights, 1, loss->seed, draw);
    for (int64_t i = 0; !SAME_TYPE && gradient && i < loss->count; i++)
        gradient[i] = (float)loss->du[i];
    return value;
}

void npgnn_pairs_loss_free(npgnn_pairs_loss *loss)
{
    if (!loss)
        return;
    npgnn_env env = loss->env;
    npi_pairs_free(loss->pairs);
    npi_free(&env, loss->u);
    npi_free(&env, loss->du);
    npi_free(&env, loss);
}

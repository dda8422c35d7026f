/* Divides a graph for `npgnn adapt`: a first subgraph to train on and a second one to adapt to, some of whose links are
 * held out as the test set. The subgraphs have no node in common or, where the graph grows, the second contains the
 * first. */
#include "jobs/transfer_split.h"

#include <string.h>

/* A split whose training graph is a fraction of the nodes and the links among them. */
static int cut_nodes(npgnn_split **out, const npgnn_graph *graph, double fraction, uint64_t seed, const npgnn_env *env,
                     npgnn_error *err)
{
    npgnn_split_options options = npi_split_defaults(NPGNN_FEW_SHOT);
    options.train_nodes = fraction;
    options.seed = seed;
    return npgnn_split_new(out, graph, &options, env, err);
}

/* A split that holds out a fraction of the links as the test set. */
static int cut_links(npgnn_split **out, const npgnn_graph *graph, double test, uint64_t seed, const npgnn_env *env,
                     npgnn_error *err)
{
    npgnn_split_options options = npi_split_defaults(NPGNN_TRANSDUCTIVE);
    options.test = test;
    options.val = 0;
    options.seed = seed;
    return npgnn_split_new(out, graph, &options, env, err);
}

/* The second subgraph: a fraction of the nodes of `graph`, with some links held out. */
static int cut_second(npi_transfer_split *parts, const npgnn_graph *graph, double fraction, double test, uint64_t seed,
                      const npgnn_env *env, npgnn_error *err)
{
    int all = fraction > 1 - 1e-9; /* 1 but for rounding: nothing to cut */
    int code = all ? 0 : cut_nodes(&parts->cut, graph, fraction, seed, env, err);
    if (!code)
        code = cut_links(&parts->second, all ? graph : parts->cut->train, test, seed, env, err);
    return code;
}

/* The subgraph of the nodes that are not in the training graph of a split. */
static int complement(npgnn_graph **out, const npgnn_split *split, const npgnn_env *env, npgnn_error *err)
{
    const npgnn_graph *graph = split->graph;
    int32_t count = 0;
    int32_t *nodes = npi_resize(env, NULL, (size_t)graph->n, sizeof *nodes, err);
    if (!nodes)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < graph->n; i++)
        if (split->role[i] != NPI_NODE_TRAIN)
            nodes[count++] = i;
    int code = npi_graph_induce(out, graph, nodes, count, err);
    npi_free(env, nodes);
    return code;
}

int npi_transfer_split_new(npi_transfer_split *out, const npgnn_graph *graph, const npgnn_transfer_options *options,
                           uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    double train = options->train_nodes, context = options->context_nodes;
    if (!(train > 0 && train < 1 && context > 0 && context <= 1))
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "training nodes (%g) and context nodes (%g) must be fractions of the nodes: above 0, at most 1",
                        train, context);
    if (options->grow && !(train < context))
        return npi_fail(err, NPGNN_E_ARGUMENT, "a graph that grows has fewer nodes in training (%g) than later (%g)",
                        train, context);
    if (!options->grow && train + context > 1 + 1e-9)
        return npi_fail(
            err, NPGNN_E_ARGUMENT,
            "training nodes (%g) and context nodes (%g) must not add up to more than 1: they have no node in "
            "common",
            train, context);

    npi_transfer_split parts = {0};
    int code = 0;
    if (options->grow) {
        /* the first subgraph is chosen from the known links of the second: it cannot have a test link */
        code = cut_second(&parts, graph, context, options->test, seed, env, err);
        if (!code)
            code = cut_nodes(&parts.first, parts.second->train, train / context, seed, env, err);
    } else {
        code = cut_nodes(&parts.first, graph, train, seed, env, err);
        if (!code)
            code = complement(&parts.rest, parts.first, env, err);
        if (!code)
            code = cut_second(&parts, parts.rest, context / (1 - train), options->test, seed, env, err);
    }
    if (code)
        npi_transfer_split_free(&parts);
    else
        *out = parts;
    return code;
}

int npi_transfer_split_whole(npi_transfer_split *out, const npgnn_graph *graph, const npgnn_transfer_options *options,
                             uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    npi_transfer_split parts = {0};
    int code = cut_links(&parts.second, graph, options->test, seed, env, err);
    if (!code)
        *out = parts;
    return code;
}

void npi_transfer_split_free(npi_transfer_split *parts)
{
    npgnn_split_free(parts->first);
    npgnn_split_free(parts->second);
    npgnn_split_free(parts->cut);
    npgnn_graph_free(parts->rest);
    memset(parts, 0, sizeof *parts);
}

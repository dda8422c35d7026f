/* Splits a graph for `npgnn adapt`: a first part to train on and a second one to adapt to, some of whose links are held out as the
 * test set. The parts have no node in common or, where the graph grows, the second contains the first. */
#include "jobs/transfer_split.h"

#include <string.h>

/* A split whose training part is a share of the nodes and the links among them. */
static int cut_nodes(npgnn_split **out, const npgnn_graph *graph, double share, uint64_t seed, const npgnn_env *env,
                     npgnn_error *err)
{
    npgnn_split_options options = npi_split_defaults(NPGNN_FEW_SHOT);
    options.train_nodes = share;
    options.seed = seed;
    return npgnn_split_new(out, graph, &options, env, err);
}

static int cut_links(npgnn_split **out, const npgnn_graph *graph, double test, uint64_t seed, const npgnn_env *env,
                     npgnn_error *err)
{
    npgnn_split_options options = npi_split_defaults(NPGNN_TRANSDUCTIVE);
    options.test = test;
    options.val = 0;
    options.seed = seed;
    return npgnn_split_new(out, graph, &options, env, err);
}

/* The part of the graph that `split` keeps from training. */
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

/* 1 where a share is all there is, but for what a double cannot hold. */
static int is_all(double share)
{
    return share > 1 - 1e-9;
}

/* `share` of the nodes of `graph`; all of them need no cut. */
static int second_part(npi_transfer_split *parts, const npgnn_graph *graph, double share, double test, uint64_t seed,
                       const npgnn_env *env, npgnn_error *err)
{
    int code = is_all(share) ? 0 : cut_nodes(&parts->cut, graph, share, seed, env, err);
    if (!code)
        code = cut_links(&parts->second, parts->cut ? parts->cut->train : graph, test, seed, env, err);
    return code;
}

static int cut_apart(npi_transfer_split *parts, const npgnn_graph *graph, const npgnn_transfer_options *o,
                     uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    int code = cut_nodes(&parts->first, graph, o->train_nodes, seed, env, err);
    if (!code)
        code = complement(&parts->rest, parts->first, env, err);
    if (!code)
        code = second_part(parts, parts->rest, o->context_nodes / (1 - o->train_nodes), o->test, seed, env, err);
    return code;
}

/* The first part comes from the known links of the second: it cannot have one that is tested. */
static int cut_growing(npi_transfer_split *parts, const npgnn_graph *graph, const npgnn_transfer_options *o,
                       uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    int code = second_part(parts, graph, o->context_nodes, o->test, seed, env, err);
    if (!code)
        code = cut_nodes(&parts->first, parts->second->train, o->train_nodes / o->context_nodes, seed, env, err);
    return code;
}

static int check_shares(const npgnn_transfer_options *o, npgnn_error *err)
{
    double train = o->train_nodes, context = o->context_nodes;
    if (!(train > 0 && train < 1 && context > 0 && context <= 1))
        return npi_fail(err, NPGNN_E_ARGUMENT, "training nodes (%g) and context nodes (%g) must be shares of the nodes",
                        train, context);
    if (o->grow && !(train < context))
        return npi_fail(err, NPGNN_E_ARGUMENT, "a graph that grows has fewer nodes in training (%g) than later (%g)",
                        train, context);
    if (!o->grow && train + context > 1 + 1e-9)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "training nodes (%g) and context nodes (%g) are more than all: they have none in common", train,
                        context);
    return 0;
}

int npi_transfer_split_new(npi_transfer_split *out, const npgnn_graph *graph, const npgnn_transfer_options *options,
                           uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    npi_transfer_split parts = {0};
    int code = check_shares(options, err);
    if (!code)
        code = (options->grow ? cut_growing : cut_apart)(&parts, graph, options, seed, env, err);
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

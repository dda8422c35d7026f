/* Decides whether a rehearsal is needed, what it holds out (HELD_OUT_NODES of the nodes or HELD_OUT_EDGES of the
 * links), and the options of the rehearsal and of the training proper after it. */
#include "train/rehearsal.h"

#include "base/hash.h"

#define HELD_OUT_NODES 0.2 /* of the known nodes, where links of new nodes are predicted */
#define HELD_OUT_EDGES 0.1 /* of the known edges otherwise */

int npi_rehearsal_dispensable(const npgnn_options *options)
{
    return !options->keep_best;
}

int npi_rehearsal_wanted(const npgnn_options *options, const npgnn_split *split)
{
    int has_validation = split && split->count[NPGNN_SET_VAL] > 0;
    return !has_validation && (options->calibrate || !npi_rehearsal_dispensable(options));
}

int npi_rehearsal_split(npgnn_split **out, const npgnn_graph *graph, const npgnn_split *split,
                        const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_error why = {0};
    int new_nodes = split && split->role;
    /* non-links of the kind that the split itself has: the authors' protocols draw them from all pairs */
    int paper = split && (split->protocol == NPGNN_PAPER_INDUCTIVE || split->protocol == NPGNN_PAPER_FEW_SHOT);
    int random = split && split->protocol == NPGNN_RANDOM_LINKS;
    npgnn_split_options held = npi_split_defaults(paper       ? NPGNN_PAPER_INDUCTIVE
                                                  : new_nodes ? NPGNN_INDUCTIVE
                                                  : random    ? NPGNN_RANDOM_LINKS
                                                              : NPGNN_TRANSDUCTIVE);
    held.test = 0;
    held.val = new_nodes ? HELD_OUT_NODES : HELD_OUT_EDGES;
    held.seed = npi_hash_mix(options->seed + 1); /* not that of the split, whose non-links would come again */
    int code = npgnn_split_new(out, split ? split->train : graph, &held, env, &why);
    if (code == NPGNN_E_ARGUMENT && held.protocol == NPGNN_TRANSDUCTIVE) { /* every link is the only one of a node */
        held.protocol = NPGNN_RANDOM_LINKS;
        code = npgnn_split_new(out, split ? split->train : graph, &held, env, &why);
    }
    if (code == NPGNN_E_ARGUMENT) /* the caller asked for options that need this split, not for the split itself */
        return npi_fail(
            err, code,
            "keep-best needs held-out links, and none can be held out here (%.400s); to train without, turn "
            "keep-best off",
            why.text);
    if (code && err)
        *err = why;
    return code;
}

npgnn_options npi_rehearsal_options(const npgnn_options *asked)
{
    npgnn_options options = *asked;
    options.keep_best = !npi_rehearsal_dispensable(asked);
    return options;
}

npgnn_options npi_rehearsal_proper(const npgnn_options *asked, const npi_findings *found)
{
    npgnn_options options = *asked;
    if (asked->lr_horizon == 0)
        options.lr_horizon = asked->iterations; /* the learning rate falls as it did in the rehearsal */
    if (asked->keep_best)
        options.iterations = found->iterations;
    options.keep_best = 0; /* nothing is held out any more to tell what is best */
    options.patience = 0;
    return options;
}

#include "train/rehearsal.h"

#include "evidence/evidence.h"

#define HELD_OUT_NODES 0.2 /* of the known nodes, where new nodes are what is predicted */
#define HELD_OUT_EDGES 0.1 /* of the known edges otherwise */

int npi_rehearsal_wanted(const npgnn_options *options, const npgnn_split *split)
{
    return (options->keep_best || options->fit_prior) && !(split && split->count[NPGNN_SET_VAL] > 0);
}

/* The caller did not ask for this split, but for options that need it. */
static int blame_options(int code, npgnn_error *err)
{
    npgnn_error inner;
    if (!err || code != NPGNN_E_ARGUMENT)
        return code;
    inner = *err;
    return npi_fail(err, code,
                    "keep-best and fit-prior validate on links that are held out, and here none can be; both off, it "
                    "trains without: %.400s",
                    inner.text);
}

int npi_rehearsal_split(npgnn_split **out, const npgnn_graph *graph, const npgnn_split *split,
                        const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_split_options held;
    int new_nodes = split && split->protocol != NPGNN_TRANSDUCTIVE;
    npgnn_split_options_default(&held, new_nodes ? NPGNN_INDUCTIVE : NPGNN_TRANSDUCTIVE);
    held.test = 0;
    held.val = new_nodes ? HELD_OUT_NODES : HELD_OUT_EDGES;
    held.seed = options->seed;
    return blame_options(npgnn_split_new(out, split ? split->train : graph, &held, env, err), err);
}

npgnn_options npi_rehearsal_options(const npgnn_options *asked)
{
    npgnn_options options = *asked;
    options.keep_best = 1;
    return options;
}

npgnn_options npi_rehearsal_settle(const npgnn_options *asked, const npgnn_options *found, int iterations)
{
    npgnn_options settled = *asked;
    if (asked->fit_prior) {
        npi_weights weights = npi_weights_of(found);
        npi_weights_store(&settled, &weights);
    }
    settled.fit_prior = 0;
    if (asked->lr_horizon == 0)
        settled.lr_horizon = asked->iterations;
    if (asked->keep_best)
        settled.iterations = iterations;
    settled.keep_best = 0;
    settled.patience = 0;
    return settled;
}

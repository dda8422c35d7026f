/* Training, with whatever validation the options need.
 *
 * Options may ask for things that only held-out links can tell: which iteration was best, what each part of a score weighs. Where a
 * split has no validation links (few-shot, or no split at all), a first training holds some of the known links out and finds
 * out; a second one, on everything that is known, uses what it found. */
#include "api/fit.h"

#include "model/evidence.h"
#include "model/model.h"

#define HELD_OUT_NODES 0.2 /* of the known nodes, where new nodes are what is predicted */
#define HELD_OUT_EDGES 0.1 /* of the known edges otherwise */

static int run_trainer(npgnn_trainer **out, const npgnn_graph *graph, const npgnn_split *split,
                       const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_trainer *trainer = NULL;
    int code = npgnn_trainer_new(&trainer, graph, split, options, env, err);
    if (!code)
        code = npgnn_trainer_run(trainer, err);
    if (code) {
        npgnn_trainer_free(trainer);
        return code;
    }
    *out = trainer;
    return 0;
}

static int wants_validation(const npgnn_options *options, const npgnn_split *split)
{
    return (options->keep_best || options->fit_prior) && !(split && split->count[NPGNN_SET_VAL] > 0);
}

/* Holds links of `known` out in the way that those of `split` are. */
static int hold_out(npgnn_split **out, const npgnn_graph *known, const npgnn_split *split, const npgnn_options *options,
                    const npgnn_env *env, npgnn_error *err)
{
    npgnn_split_options held;
    int new_nodes = split && split->protocol != NPGNN_TRANSDUCTIVE;
    npgnn_split_options_default(&held, new_nodes ? NPGNN_INDUCTIVE : NPGNN_TRANSDUCTIVE);
    held.test = 0;
    held.val = new_nodes ? HELD_OUT_NODES : HELD_OUT_EDGES;
    held.seed = options->seed;
    return npgnn_split_new(out, known, &held, env, err);
}

/* What a training on a part found, in place of the wish to find it. */
static void take_over(npgnn_options *options, const npgnn_model *model)
{
    if (options->fit_prior) {
        npi_weights weights = npi_weights_of(&model->options);
        npi_weights_store(options, &weights);
    }
    options->fit_prior = 0;
    if (options->lr_horizon == 0)
        options->lr_horizon = options->iterations;
    if (options->keep_best)
        options->iterations = model->info.iterations;
    options->keep_best = 0;
    options->patience = 0;
}

int npgnn_options_settle(npgnn_options *options, const npgnn_graph *graph, const npgnn_split *split,
                         const npgnn_env *env, npgnn_error *err)
{
    if (!wants_validation(options, split))
        return 0;
    const npgnn_graph *known = split ? split->train : graph;
    npgnn_split *inner = NULL;
    npgnn_trainer *trainer = NULL;
    npgnn_model *model = NULL;
    npgnn_options first = *options;
    first.keep_best = 1;
    int code = hold_out(&inner, known, split, options, env, err);
    if (!code)
        code = run_trainer(&trainer, known, inner, &first, env, err);
    if (!code)
        code = npgnn_trainer_model(&model, trainer, err);
    if (!code)
        take_over(options, model);
    npgnn_model_free(model);
    npgnn_trainer_free(trainer);
    npgnn_split_free(inner);
    return code;
}

int npi_fit(npgnn_trainer **out, const npgnn_graph *graph, const npgnn_split *split, const npgnn_options *options,
            const npgnn_env *env, npgnn_error *err)
{
    npgnn_options chosen;
    npgnn_options_preset(&chosen, NULL, NULL);
    if (options)
        chosen = *options;
    int code = npgnn_options_settle(&chosen, graph, split, env, err);
    return code ? code : run_trainer(out, graph, split, &chosen, env, err);
}

int npgnn_fit(npgnn_model **out, const npgnn_graph *graph, const npgnn_options *options, const npgnn_env *env,
              npgnn_error *err)
{
    npgnn_trainer *trainer = NULL;
    int code = npi_fit(&trainer, graph, NULL, options, env, err);
    if (!code)
        code = npgnn_trainer_model(out, trainer, err);
    npgnn_trainer_free(trainer);
    return code;
}

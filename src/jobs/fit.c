/* Training, with whatever validation it needs.
 *
 * Some things only held-out links can tell: which iteration was best, what each part of a score weighs, what a score means as a
 * probability. Where a split has no validation links (few-shot, or no split at all), a first training holds some of the known
 * links out and finds out; a second one, on everything that is known, uses what it found. */
#include "jobs/fit.h"

#include "model/model.h"
#include "train/rehearsal.h"

static int has_validation(const npgnn_split *split)
{
    return split && split->count[NPGNN_SET_VAL] > 0;
}

static int run_trainer(npgnn_model **out, npgnn_progress *last, const npgnn_graph *graph, const npgnn_split *split,
                       const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_trainer *trainer = NULL;
    npgnn_model *model = NULL;
    int code = npgnn_trainer_new(&trainer, graph, split, options, env, err);
    if (!code)
        code = npgnn_trainer_run(trainer, err);
    if (!code)
        code = npgnn_trainer_model(&model, trainer, err);
    if (!code && last)
        npgnn_trainer_progress(last, trainer);
    npgnn_trainer_free(trainer);
    if (!code && has_validation(split))
        code = npgnn_model_calibrate(model, split, env, err);
    if (code)
        npgnn_model_free(model);
    else
        *out = model;
    return code;
}

static int wants_validation(const npgnn_options *options)
{
    return options->keep_best || options->fit_prior;
}

/* What the first model found, in place of the wish to find it. */
static void take_over(npgnn_options *options, const npgnn_model *first)
{
    *options = npi_rehearsal_settle(options, &first->options, first->info.iterations);
}

/* Trains on a part of what is known. *first stays NULL where the graph is too small for that and the options can do without. */
static int fit_first(npgnn_model **first, const npgnn_graph *known, const npgnn_split *split,
                     const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_split *inner = NULL;
    npgnn_options wished = *options;
    npgnn_error why = {0};
    wished.keep_best = wants_validation(options);
    int code = npi_rehearsal_split(&inner, known, split, options, env, &why);
    if (code == NPGNN_E_ARGUMENT && !wants_validation(options))
        return 0;
    if (!code)
        code = run_trainer(first, NULL, known, inner, &wished, env, &why);
    npgnn_split_free(inner);
    if (code && err)
        *err = why;
    return code;
}

int npgnn_options_settle(npgnn_options *options, const npgnn_graph *graph, const npgnn_split *split,
                         const npgnn_env *env, npgnn_error *err)
{
    npgnn_model *first = NULL;
    if (!wants_validation(options) || has_validation(split))
        return 0;
    int code = fit_first(&first, split ? split->train : graph, split, options, env, err);
    if (!code)
        take_over(options, first);
    npgnn_model_free(first);
    return code;
}

/* The second training has more links, so that its scores are not quite those that the first one's calibration was fitted to. */
static void take_calibration(npgnn_model *model, const npgnn_model *first)
{
    model->info.calibrated = first->info.calibrated;
    model->calibration = first->calibration;
}

int npi_fit(npgnn_model **out, npgnn_progress *last, const npgnn_graph *graph, const npgnn_split *split,
            const npgnn_options *options, int calibrate, const npgnn_env *env, npgnn_error *err)
{
    npgnn_options chosen;
    npgnn_model *first = NULL;
    int code = 0;
    npgnn_options_preset(&chosen, NULL, NULL);
    if (options)
        chosen = *options;
    if (!has_validation(split) && (calibrate || wants_validation(&chosen)))
        code = fit_first(&first, split ? split->train : graph, split, &chosen, env, err);
    if (first)
        take_over(&chosen, first);
    if (!code)
        code = run_trainer(out, last, graph, split, &chosen, env, err);
    if (!code && first)
        take_calibration(*out, first);
    npgnn_model_free(first);
    return code;
}

int npgnn_fit(npgnn_model **out, const npgnn_graph *graph, const npgnn_options *options, const npgnn_env *env,
              npgnn_error *err)
{
    return npi_fit(out, NULL, graph, NULL, options, 1, env, err);
}

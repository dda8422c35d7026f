/* The training loop of the baselines that are trained with Adam. */
#include "baselines/learner.h"

#include <math.h>
#include <string.h>

int npi_learner_new(npi_learner *out, const npi_task *task, const char *who, npi_sizes size, double rate,
                    npgnn_error *err)
{
    const npgnn_graph *train = task->split->train;
    npi_learner learner = {.task = task, .who = who};
    npgnn_options options = {.size = sizeof options};
    npgnn_options_preset(&options, NULL, NULL); /* for Adam's constants */
    options.learning_rate = rate;
    options.input_scale = 1;
    int code = npi_method_check_features(train, who, err);
    if (!code)
        code = npi_features_transpose(train->x, err);
    if (!code)
        code = npi_params_new(&learner.params, size, task->env, err);
    if (!code)
        code = npi_params_new(&learner.gradient, size, task->env, err);
    if (!code)
        code = npi_adam_new(&learner.adam, learner.params.count, &options, task->env, err);
    if (code)
        npi_learner_free(&learner);
    else
        *out = learner;
    return code;
}

void npi_learner_free(npi_learner *learner)
{
    if (!learner->task)
        return;
    npi_params_free(learner->task->env, &learner->params);
    npi_params_free(learner->task->env, &learner->gradient);
    npi_adam_free(learner->task->env, &learner->adam);
}

static int iterate(npi_learner *learner, npi_learner_fn *step, void *method, npgnn_error *err)
{
    npi_params *gradient = &learner->gradient;
    memset(gradient->block, 0, gradient->count * sizeof *gradient->block);
    step(learner, method);
    if (!isfinite(learner->progress.loss) ||
        !npi_adam_step(&learner->adam, &learner->params, gradient, learner->task->env->threads))
        return npi_fail(err, NPGNN_E_DIVERGED, "%s diverged at iteration %d: its features may need to be normalised",
                        learner->who, learner->progress.iteration + 1);
    return 0;
}

int npi_learner_run(npi_learner *learner, npgnn_eval_run *run, npi_learner_fn *step, void *method, int iterations,
                    npgnn_error *err)
{
    double start = npi_clock_seconds();
    int code = 0;
    learner->progress = npi_method_begin(iterations);
    npi_params_init(&learner->params, learner->task->options->seed, 1);
    while (!code && learner->progress.iteration < iterations) {
        code = iterate(learner, step, method, err);
        if (!code)
            code = npi_method_advance(&learner->progress, start, learner->task->env, err);
    }
    run->iterations = run->best_iteration = learner->progress.iteration;
    run->train_seconds = learner->progress.seconds;
    return code;
}

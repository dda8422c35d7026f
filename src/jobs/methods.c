#include "jobs/methods.h"

#include <stdio.h>
#include <string.h>

#include "baselines/cosine.h"
#include "baselines/deepwalk.h"
#include "baselines/neighbors.h"
#include "baselines/sage.h"
#include "baselines/spectral.h"
#include "baselines/vgae.h"
#include "jobs/fit.h"
#include "jobs/test_set.h"
#include "model/model.h"

/* ---- the model itself ---- */

static int run_npgnn(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    const npgnn_predict_options how = {.size = sizeof how, .samples = -1, .link_rate = task->link_rate};
    npgnn_model *model = NULL;
    npgnn_progress last = {.size = sizeof last};
    double start = npi_clock_seconds();
    int code = npi_fit(&model, &last, task->split->graph, task->split, task->options, task->env, err);
    run->train_seconds = npi_clock_seconds() - start;
    if (!code) {
        run->iterations = last.iteration;
        run->best_iteration = model->info.iterations;
        run->val_auc = model->info.val_auc;
        run->val_ap = model->info.val_ap;
        if (model->scorer.calibrated)
            run->calibration.link_rate = task->link_rate;
        code = npi_test_set_predict(score, task->probability, model, task->graph, task->pairs, task->count, &how,
                                    task->env, err);
    }
    npgnn_model_free(model);
    return code;
}

/* The model with z at the context's mean, whatever the options say. */
static int run_conditional(float *score, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    npgnn_options options = *task->options;
    npi_task conditional = *task;
    options.latent = 1;
    options.sample_latent = 0;
    conditional.options = &options;
    return run_npgnn(score, run, &conditional, err);
}

/* ---- the table ---- */

static const struct {
    const char *name, *help;
    npi_method_fn *run;
} methods[] = {
    {"npgnn", "the model", run_npgnn},
    {"cnp", "the model as a conditional neural process: no draws of z, no KL term", run_conditional},
    {"cosine", "cosine similarity of the features, without training", npi_cosine_run},
    {"vgae", "variational graph auto-encoder (Kipf and Welling 2016)", npi_vgae_method},
    {"gae", "graph auto-encoder: the same without noise", npi_gae_method},
    {"sage", "GraphSAGE, unsupervised (Hamilton et al. 2017)", npi_sage_method},
    {"sc", "spectral embedding of the training graph", npi_spectral_method},
    {"deepwalk", "embeddings from random walks (Perozzi et al. 2014)", npi_deepwalk_method},
    {"common-neighbors", "number of common neighbours", npi_common_neighbors_method},
    {"adamic-adar", "common neighbours, each weighted by 1 / log(degree)", npi_adamic_adar_method},
    {"resource-allocation", "common neighbours, each weighted by 1 / degree", npi_resource_allocation_method},
    {"katz", "number of walks between two nodes, longer walks weighted less", npi_katz_method},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

int npgnn_method_info(const char **name, const char **help, int index)
{
    if (index < 0 || index >= METHODS)
        return 0;
    *name = methods[index].name;
    *help = methods[index].help;
    return 1;
}

int npi_method_is_model(const char *name)
{
    npi_method_fn *run = npi_method_find(name, NULL);
    return run == run_npgnn || run == run_conditional;
}

npi_method_fn *npi_method_find(const char *name, npgnn_error *err)
{
    char known[256] = "";
    for (int i = 0; i < METHODS; i++) {
        size_t used = strlen(known);
        if (strcmp(methods[i].name, name ? name : "npgnn") == 0)
            return methods[i].run;
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", methods[i].name);
    }
    npi_fail(err, NPGNN_E_ARGUMENT, "there is no method \"%s\": take one of %s", name, known);
    return NULL;
}

/* The trained model as an object: creating, copying, describing and freeing it. */
#include "model/model.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/sized.h"
#include "model/options.h"

/* What is not known of a model unless its training says so. */
static void forget_accuracy(npgnn_model_info *info)
{
    info->val_auc = info->val_ap = (double)NAN;
    for (int i = 0; i < 2; i++)
        info->hidden_links_auc[i] = info->hidden_nodes_auc[i] = (double)NAN;
}

int npi_model_new(npgnn_model **out, const npgnn_options *options, int32_t f, const npgnn_env *env, npgnn_error *err)
{
    npi_sizes size = npi_sizes_of(options, f);
    int code = npi_options_check(options, err);
    if (code)
        return code;
    npgnn_model *model = npi_alloc(env, 1, sizeof *model, err);
    if (!model)
        return NPGNN_E_MEMORY;
    model->env = *env;
    model->kind = &npi_network_kind;
    model->options = *options;
    if (size.d > 0 && !(model->q = npi_alloc(env, 2 * (size_t)size.d, sizeof *model->q, err)))
        code = NPGNN_E_MEMORY;
    if (!code)
        code = npi_params_new(&model->params, size, env, err);
    if (code) {
        npgnn_model_free(model);
        return code;
    }
    model->info.columns = f;
    model->info.parameters = (int64_t)model->params.count;
    forget_accuracy(&model->info);
    snprintf(model->info.version, sizeof model->info.version, "%s", npgnn_version());
    *out = model;
    return 0;
}

int npi_model_from_process(npgnn_model **out, npi_process *process, const npgnn_env *env, npgnn_error *err)
{
    npgnn_model *model = npi_alloc(env, 1, sizeof *model, err);
    if (!model)
        return NPGNN_E_MEMORY;
    model->env = *env;
    model->kind = &npi_process_kind;
    model->options.size = sizeof model->options;
    npgnn_options_preset(&model->options, NULL, NULL);
    model->process = *process;
    memset(process, 0, sizeof *process);
    model->info.size = sizeof model->info;
    model->info.parameters = (int64_t)(model->process.params.count + model->process.change.count +
                                       npi_projection_count(&model->process.projection));
    model->scorer.calibration = npi_calibration_unfitted(NPGNN_WEIGHTED, 0.5); /* scores are log-odds at even odds */
    forget_accuracy(&model->info);
    model->info.across_graphs = 1;
    snprintf(model->info.version, sizeof model->info.version, "%s", npgnn_version());
    *out = model;
    return 0;
}

int npi_process_refuse(const char *what, npgnn_error *err)
{
    return npi_fail(err, NPGNN_E_ARGUMENT,
                    "a model learnt across graphs %s: train a network for that, with the preset default", what);
}

int npi_model_copy(npgnn_model **out, const npgnn_model *model, const npgnn_env *env, npgnn_error *err)
{
    npgnn_model *copy = NULL;
    assert(model->kind == &npi_network_kind);
    int code = npi_model_new(&copy, &model->options, model->info.columns, env, err);
    if (code)
        return code;
    copy->info = model->info;
    copy->scorer = model->scorer;
    copy->columns = npi_names_share(model->columns);
    copy->encoding = npi_encoding_share(model->encoding);
    memcpy(copy->params.block, model->params.block, model->params.count * sizeof *model->params.block);
    if (model->q)
        memcpy(copy->q, model->q, 2 * (size_t)model->params.size.d * sizeof *model->q);
    *out = copy;
    return 0;
}

uint64_t npi_network_hash(uint64_t hash, const npgnn_model *model)
{
    hash = npi_hash_bytes(hash, model->params.block, model->params.count * sizeof(real));
    return model->q ? npi_hash_bytes(hash, model->q, 2 * (size_t)model->params.size.d * sizeof *model->q) : hash;
}

uint64_t npi_process_hash(uint64_t hash, const npgnn_model *model)
{
    const npi_process *p = &model->process;
    size_t columns = (size_t)p->columns;
    hash = npi_hash_bytes(hash, p->params.block, p->params.count * sizeof(real));
    hash = npi_hash_bytes(hash, p->mean, columns * sizeof *p->mean);
    hash = npi_hash_bytes(hash, p->deviation, columns * sizeof *p->deviation);
    if (p->z)
        hash = npi_hash_bytes(hash, p->z, 2 * (size_t)p->params.size.d * sizeof *p->z);
    hash = npi_hash_bytes(hash, p->projection.weight, npi_projection_count(&p->projection) * sizeof(real));
    return npi_hash_bytes(hash, p->change.block, p->change.count * sizeof(real));
}

uint64_t npi_model_hash(const npgnn_model *model)
{
    const npi_calibration *c = &model->scorer.calibration;
    uint64_t hash = npi_hash_bytes(NPI_HASH_START, c->slope, sizeof c->slope);
    hash = npi_hash_bytes(hash, c->knot, sizeof c->knot);
    hash = npi_hash_bytes(hash, &c->offset, sizeof c->offset);
    return model->kind->hash(hash, model);
}

void npi_model_uncalibrate(npgnn_model *model)
{
    npgnn_model_info *info = &model->info;
    model->scorer.calibrated = 0;
    info->link_rate = npi_link_rate(info->train_nodes, info->train_edges);
    model->scorer.calibration = npi_calibration_unfitted(model->options.likelihood, info->link_rate);
}

int npgnn_model_describe(npgnn_model_info *info, const npgnn_model *model, npgnn_error *err)
{
    npgnn_model_info complete = model->info;
    complete.calibrated = model->scorer.calibrated;
    return npi_sized_write(info, &complete, sizeof complete, "npgnn_model_info", err);
}

int npgnn_model_options(npgnn_options *options, const npgnn_model *model, npgnn_error *err)
{
    npgnn_options own = model->options;
    if (model->kind->embedding_width > 0)
        own.output_size = model->kind->embedding_width;
    return npi_sized_write(options, &own, sizeof own, "npgnn_options", err);
}

const char *npgnn_model_column_name(const npgnn_model *model, int32_t column)
{
    return model->columns ? npi_names_get(model->columns, column) : NULL;
}

int npgnn_model_table(npgnn_table_column *out, const npgnn_model *model, int32_t index)
{
    return npi_encoding_describe(out, model->encoding, index);
}

const char *npgnn_model_encoding(const npgnn_model *model)
{
    return model->encoding ? model->encoding->text : NULL;
}

void npi_network_free_parameters(npgnn_model *model)
{
    npi_params_free(&model->env, &model->params);
    npi_free(&model->env, model->q);
}

void npi_process_free_parameters(npgnn_model *model)
{
    npi_process_free(&model->env, &model->process);
}

void npgnn_model_free(npgnn_model *model)
{
    if (!model)
        return;
    npgnn_env env = model->env;
    model->kind->free_parameters(model);
    npi_names_free(model->columns);
    npi_encoding_free(model->encoding);
    npi_free(&env, model);
}

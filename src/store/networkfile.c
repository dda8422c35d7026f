/* Files of networks: safetensors (docs/use/formats.md) with
 *
 *   tensors    the parameters, then the distribution of z: z_mean (d), z_log_sigma (d)
 *   metadata   options, info (where the model comes from), scorer (its calibration) and, where features have names,
 *              columns; where they were made from a table, encoding
 *
 * A file is refused unless it has exactly the tensors that its options ask for, with finite values. */
#include "store/networkfile.h"

#include <math.h>
#include <string.h>

#include "store/info.h"
#include "store/inputs.h"
#include "store/scorer.h"

#define FORMAT_VERSION "1"

/* ---- the tensors of a model: its parameters, then the distribution of z ---- */

enum { Z_MEAN = NPI_TENSORS, Z_LOG_SIGMA, TENSORS };

static void list_tensors(npi_safetensor tensors[TENSORS], const npi_params *params)
{
    int32_t d = params->size.d, has_z = d > 0;
    for (int i = 0; i < NPI_TENSORS; i++) {
        npi_tensor t = npi_params_tensor(params, i);
        tensors[i] = (npi_safetensor){t.name, "F32", t.rows, t.cols};
    }
    tensors[Z_MEAN] = (npi_safetensor){"z_mean", "F32", has_z, d};
    tensors[Z_LOG_SIGMA] = (npi_safetensor){"z_log_sigma", "F32", has_z, d};
}

/* Copies a tensor out of the model, and into it. The model has z as q (2, d): mean and log sigma. */
static void tensor_read(float *out, const npgnn_model *model, int index)
{
    int d = model->params.size.d;
    if (index < NPI_TENSORS)
        npi_params_read(out, &model->params, index);
    else
        for (int c = 0; c < d; c++)
            out[c] = (float)model->q[(index - Z_MEAN) * d + c];
}

static void tensor_write(npgnn_model *model, int index, const float *in)
{
    int d = model->params.size.d;
    if (index < NPI_TENSORS)
        npi_params_write(&model->params, index, in);
    else
        for (int c = 0; c < d; c++)
            model->q[(index - Z_MEAN) * d + c] = (real)in[c];
}

/* ---- writing ---- */

char *npi_network_header(const npgnn_model *model)
{
    npi_safetensor tensors[TENSORS];
    json_t *metadata = json_pack("{s:s, s:s, s:s}", "format", NPI_NETWORK_FORMAT, "format_version", FORMAT_VERSION,
                                 "npgnn_version", model->info.version);
    int failed = npi_safetensors_put_json(metadata, "options", npi_safetensors_pack_options(&model->options));
    failed |= npi_safetensors_put_json(metadata, "info", npi_info_json(&model->info));
    failed |= npi_inputs_put(metadata, model);
    failed |= npi_safetensors_put_json(metadata, "scorer", npi_model_scorer_json(&model->scorer));
    list_tensors(tensors, &model->params);
    if (!failed)
        return npi_safetensors_make_header(metadata, tensors, TENSORS);
    json_decref(metadata);
    return NULL;
}

int npi_network_write_tensors(FILE *file, const npgnn_model *model, npgnn_error *err)
{
    npi_safetensor tensors[TENSORS];
    size_t largest = 0;
    list_tensors(tensors, &model->params);
    for (int i = 0; i < TENSORS; i++)
        if (npi_safetensor_bytes(&tensors[i]) > largest)
            largest = npi_safetensor_bytes(&tensors[i]);
    float *values = npi_alloc(&model->env, largest, 1, err);
    if (!values)
        return NPGNN_E_MEMORY;
    for (int i = 0; i < TENSORS; i++) {
        tensor_read(values, model, i);
        fwrite(values, 1, npi_safetensor_bytes(&tensors[i]), file); /* npi_atomic_commit reports a failure */
    }
    npi_free(&model->env, values);
    return 0;
}

/* ---- reading ---- */

static int read_tensors(npgnn_model *model, const npi_safetensors *r)
{
    npi_range at[TENSORS];
    npi_safetensor tensors[TENSORS];
    list_tensors(tensors, &model->params);
    int code = npi_safetensors_locate(at, r, tensors, TENSORS);
    for (int i = 0; !code && i < TENSORS; i++) {
        size_t bytes = at[i].end - at[i].begin;
        float *values = bytes > 0 ? npi_alloc(&model->env, bytes, 1, r->err) : NULL;
        if (bytes > 0 && !values)
            return NPGNN_E_MEMORY;
        if (bytes > 0)
            memcpy(values, r->data + at[i].begin, bytes); /* they need not be aligned in the file */
        for (size_t v = 0; !code && v < bytes / sizeof *values; v++)
            if (!isfinite(values[v]))
                code = npi_fail_at(r->err, NPGNN_E_FORMAT, r->path, 0, "tensor %s has a value that is not finite",
                                   tensors[i].name);
        if (!code && bytes > 0)
            tensor_write(model, i, values);
        npi_free(&model->env, values);
    }
    return code;
}

/* The file must be long enough for the parameters that its options ask for; checked before memory is allocated for
 * them. */
static int check_size(const npgnn_options *options, int32_t columns, const npi_safetensors *r)
{
    npi_params shape = {.size = npi_sizes_of(options, columns)};
    npi_safetensor tensors[TENSORS];
    size_t bytes = 0;
    /* W2 has columns + d rows: their number must be below 2^31, and the file must be able to hold them */
    if (columns < 1 || (size_t)columns > r->data_size / sizeof(float) || columns > INT32_MAX - shape.size.d)
        return npi_safetensors_refuse(r, "it is too short for its options");
    list_tensors(tensors, &shape);
    for (int i = 0; i < TENSORS; i++)
        bytes += npi_safetensor_bytes(&tensors[i]);
    return bytes <= r->data_size ? 0 : npi_safetensors_refuse(r, "it is too short for its options");
}

int npi_network_read(npgnn_model **out, const npi_safetensors *r, const npgnn_env *env)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_model_info info = {.size = sizeof info};
    npgnn_model *model = NULL;
    int code = npi_safetensors_check_format(r, NPI_NETWORK_FORMAT, FORMAT_VERSION);
    if (!code)
        code = npi_safetensors_read_options(&options, r, "options");
    if (!code)
        code = npi_info_read(&info, r);
    if (!code)
        code = check_size(&options, info.columns, r);
    if (!code)
        code = npi_model_new(&model, &options, info.columns, env, r->err);
    if (!code) {
        info.parameters = model->info.parameters;
        model->info = info;
        npi_model_uncalibrate(model); /* sets a link rate, which holds where the file has none */
        if (info.link_rate > 0 && info.link_rate < 1)
            model->info.link_rate = info.link_rate;
        json_t *object = npi_safetensors_get_json(r, "scorer");
        if (!npi_model_scorer_parse(&model->scorer, object))
            code = npi_safetensors_refuse(r, "its scorer is damaged");
        json_decref(object);
    }
    if (!code)
        code = npi_inputs_read(model, r);
    if (!code)
        code = read_tensors(model, r);
    if (code) {
        npgnn_model_free(model);
        return code;
    }
    *out = model;
    return 0;
}

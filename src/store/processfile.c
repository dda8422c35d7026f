#include "store/processfile.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/columns.h"
#include "store/info.h"
#include "store/inputs.h"
#include "store/scorer.h"

#define FORMAT_VERSION "1"
#define MAX_BOUND 1e30
#define MAX_WEIGHT 1e12 /* of a projection: products of two of them are summed up */

enum { MEAN = NPI_PROCESS_TENSOR_COUNT, DEVIATION, Z, CHANGE, PROJECTION, AROUND, TENSORS, MOST_LATENT = 256 };

static void list_tensors(npi_safetensor tensors[TENSORS], const npi_process *p)
{
    for (int i = 0; i < NPI_PROCESS_TENSOR_COUNT; i++) {
        npi_process_tensor t = npi_process_params_tensor(&p->params, i);
        tensors[i] = (npi_safetensor){t.name, "F32", t.rows, t.cols};
    }
    tensors[MEAN] = (npi_safetensor){"mean", "F32", 1, p->columns};
    tensors[DEVIATION] = (npi_safetensor){"deviation", "F32", 1, p->columns};
    tensors[Z] = (npi_safetensor){"z", "F32", p->z ? 2 : 0, p->params.size.d};
    tensors[CHANGE] = (npi_safetensor){"change", "F32", p->z ? 1 : 0, (int32_t)p->change.count};
    tensors[PROJECTION] = (npi_safetensor){"projection", "F32", p->projection.f, p->projection.width};
    tensors[AROUND] = (npi_safetensor){"projection_around", "F32", p->projection.f, p->projection.width};
}

/* ---- writing ---- */

/* A number or, where it is NaN, null. */
static json_t *auc_json(double auc)
{
    return isnan(auc) ? json_null() : json_real(auc);
}

char *npi_process_header(const npgnn_model *model)
{
    npi_safetensor tensors[TENSORS];
    npi_process_sizes size = model->process.params.size;
    json_t *metadata = json_pack("{s:s, s:s, s:s}", "format", NPI_PROCESS_FORMAT, "format_version", FORMAT_VERSION,
                                 "npgnn_version", model->info.version);
    json_t *sizes =
        json_pack("{s:i, s:i, s:i, s:i, s:i}", "columns", size.e, "feature_columns", model->process.feature_columns,
                  "hidden", size.h, "latent", size.d, "steps", model->info.iterations);
    int failed = 0;
    if (model->process.projection.width > 0)
        failed |= json_object_set_new(sizes, "projection", json_integer(model->process.projection.width));
    failed |= npi_safetensors_put_json(metadata, "process", sizes);
    if (model->info.train_nodes > 0) { /* what it was fitted to, and how */
        const npgnn_model_info *info = &model->info;
        failed |= npi_safetensors_put_json(
            metadata, "tuning",
            json_pack("{s:b, s:[o, o], s:[o, o]}", "kept", info->tuned, "hidden_links",
                      auc_json(info->hidden_links_auc[0]), auc_json(info->hidden_links_auc[1]), "hidden_nodes",
                      auc_json(info->hidden_nodes_auc[0]), auc_json(info->hidden_nodes_auc[1])));
        failed |= npi_safetensors_put_json(metadata, "options", npi_safetensors_pack_options(&model->options));
        failed |= npi_safetensors_put_json(metadata, "info", npi_info_json(&model->info));
        failed |= npi_safetensors_put_json(metadata, "scorer", npi_model_scorer_json(&model->scorer));
        failed |= npi_inputs_put(metadata, model);
    }
    list_tensors(tensors, &model->process);
    if (!failed)
        return npi_safetensors_make_header(metadata, tensors, TENSORS);
    json_decref(metadata);
    return NULL;
}

static void write_reals(FILE *file, const real *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float value = (float)values[i];
        fwrite(&value, sizeof value, 1, file);
    }
}

int npi_process_write_tensors(FILE *file, const npgnn_model *model, npgnn_error *err)
{
    const npi_process *p = &model->process;
    (void)err;
    write_reals(file, p->params.block, p->params.count); /* the tensors, in the order of the block */
    fwrite(p->mean, sizeof *p->mean, (size_t)p->columns, file);
    fwrite(p->deviation, sizeof *p->deviation, (size_t)p->columns, file);
    if (p->z) {
        write_reals(file, p->z, 2 * (size_t)p->params.size.d);
        write_reals(file, p->change.block, p->change.count);
        write_reals(file, p->projection.weight, npi_projection_count(&p->projection));
    }
    return 0;
}

/* ---- reading ---- */

/* Copies a tensor, which need not be aligned in the file. E_FORMAT for a number that is not finite. */
static int read_floats(float *out, const npi_safetensors *file, npi_range at, const char *name)
{
    size_t count = (at.end - at.begin) / sizeof *out;
    memcpy(out, file->data + at.begin, count * sizeof *out);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(out[i]))
            return npi_fail_at(file->err, NPGNN_E_FORMAT, file->path, 0, "tensor %s has a value that is not finite",
                               name);
    return 0;
}

/* The same into reals, through values (at least as many). */
static int read_reals(real *out, float *values, const npi_safetensors *file, npi_range at, const char *name)
{
    int code = read_floats(values, file, at, name);
    for (size_t i = 0; !code && i < (at.end - at.begin) / sizeof *values; i++)
        out[i] = (real)values[i];
    return code;
}

static int read_tensors(npi_process *p, const npi_safetensors *file, const npgnn_env *env)
{
    npi_safetensor tensors[TENSORS];
    npi_range at[TENSORS];
    list_tensors(tensors, p);
    int code = npi_safetensors_locate(at, file, tensors, TENSORS);
    size_t most = p->params.count > p->change.count ? p->params.count : p->change.count;
    size_t projected = npi_projection_count(&p->projection);
    most = projected > most ? projected : most;
    float *values = code ? NULL : npi_alloc(env, most, sizeof *values, file->err);
    if (!code && !values)
        code = NPGNN_E_MEMORY;
    for (int i = 0; !code && i < NPI_PROCESS_TENSOR_COUNT; i++)
        code = read_reals(npi_process_params_tensor(&p->params, i).values, values, file, at[i], tensors[i].name);
    if (!code && p->z)
        code = read_reals(p->z, values, file, at[Z], "z");
    for (int c = 0; !code && p->z && c < p->params.size.d; c++)
        if (!(p->z[p->params.size.d + c] > 0))
            code = npi_safetensors_refuse(file, "a precision of its z is not positive");
    if (!code && p->z)
        code = read_reals(p->change.block, values, file, at[CHANGE], "change");
    if (!code && projected > 0)
        code = read_reals(p->projection.weight, values, file, at[PROJECTION], "projection");
    if (!code && projected > 0)
        code = read_reals(p->projection.around, values, file, at[AROUND], "projection_around");
    for (size_t i = 0; !code && i < projected; i++)
        if (fabs((double)p->projection.weight[i]) > MAX_WEIGHT)
            code = npi_safetensors_refuse(file, "its projection is so large that scores would not be finite");
    if (!code)
        code = read_floats(p->mean, file, at[MEAN], "mean");
    if (!code)
        code = read_floats(p->deviation, file, at[DEVIATION], "deviation");
    for (int c = 0; !code && c < p->columns; c++)
        if (!(p->deviation[c] > 0))
            code = npi_safetensors_refuse(file, "a unit of its evidence is not positive");
    /* sums of float must stay finite for any evidence; the process that comes with the library has a bound of 3e11 */
    if (!code && !(npi_process_bound(p) < MAX_BOUND))
        code = npi_safetensors_refuse(file, "its weights are so large that scores would not be finite");
    npi_free(env, values);
    return code;
}

/* Whether tuning was kept, and what it was worth. */
static int read_tuning(npgnn_model_info *info, const npi_safetensors *file)
{
    json_t *object = npi_safetensors_get_json(file, "tuning");
    const struct {
        const char *name;
        double *auc; /* (2) */
    } measured[] = {{"hidden_links", info->hidden_links_auc}, {"hidden_nodes", info->hidden_nodes_auc}};
    const json_t *kept = json_object_get(object, "kept");
    int sound = json_is_boolean(kept);
    info->tuned = json_is_true(kept);
    for (int i = 0; i < 4; i++) {
        const json_t *value = json_array_get(json_object_get(object, measured[i / 2].name), (size_t)i % 2);
        sound &= json_is_number(value) || json_is_null(value);
        measured[i / 2].auc[i % 2] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    json_decref(object);
    return sound ? 0 : npi_safetensors_refuse(file, "what its tuning was worth is missing or damaged");
}

/* What a process was fitted to, and how. */
static int read_origin(npgnn_model *model, const npi_safetensors *file)
{
    int code = npi_safetensors_read_options(&model->options, file, "options");
    if (!code)
        code = npi_info_read(&model->info, file);
    if (!code)
        code = read_tuning(&model->info, file);
    if (!code && !(model->info.link_rate > 0 && model->info.link_rate < 1))
        code = npi_safetensors_refuse(file, "its link rate is missing or damaged");
    json_t *object = npi_safetensors_get_json(file, "scorer");
    if (!code && !npi_model_scorer_parse(&model->scorer, object))
        code = npi_safetensors_refuse(file, "its scorer is damaged");
    json_decref(object);
    if (!code && model->process.projection.width > 0)
        code = npi_inputs_read(model, file);
    return code;
}

/* Allocates what tuning adds, with a projection of f columns to `width`. */
static int make_tuned(npi_process *p, int32_t f, int width, const npi_safetensors *file, const npgnn_env *env)
{
    if (width < 0 || width > NPI_REDUCED_WIDTH || (width > 0 && (f < 1 || (size_t)f > file->data_size / sizeof(float))))
        return npi_safetensors_refuse(file, "the size of its projection is missing or damaged");
    int code = npi_process_make_tuned(p, width > 0 ? NPI_ALL_COLUMNS : NPI_COLUMNS, env, file->err);
    return code || width == 0 ? code : npi_projection_new(&p->projection, f, width, env, file->err);
}

/* Returns 0 where there is no such member, or where it is not an int. (json_unpack would allocate.) */
static int read_int(int *out, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < INT_MIN || number > INT_MAX)
        return 0;
    *out = (int)number;
    return 1;
}

int npi_process_read(npgnn_model **out, const npi_safetensors *file, const npgnn_env *env)
{
    npi_process_sizes size = {0};
    npgnn_model_info info = {.size = sizeof info};
    int feature_columns = 0, steps = 0, width = 0;
    int code = npi_safetensors_check_format(file, NPI_PROCESS_FORMAT, FORMAT_VERSION);
    if (code)
        return code;
    json_t *object = npi_safetensors_get_json(file, "process");
    if (!read_int(&size.e, object, "columns") || !read_int(&feature_columns, object, "feature_columns") ||
        !read_int(&size.h, object, "hidden") || !read_int(&size.d, object, "latent") ||
        !read_int(&steps, object, "steps") ||
        (json_object_get(object, "projection") && !read_int(&width, object, "projection")) || size.h < 1 ||
        size.h > NPI_HEAD_MOST || size.d < 1 || size.d > MOST_LATENT || steps < 0)
        code = npi_safetensors_refuse(file, "its sizes are missing or damaged");
    else if (size.e != NPI_COLUMNS || feature_columns != NPI_FEATURE_COLUMNS)
        code = npi_fail_at(file->err, NPGNN_E_FORMAT, file->path, 0,
                           "the process reads %d columns of evidence; this version computes %d", size.e, NPI_COLUMNS);
    json_decref(object);
    npi_process process = {0};
    npgnn_model *model = NULL;
    int fitted = npi_safetensors_get_text(file, "info") != NULL; /* to a graph */
    if (!code)
        code = npi_process_new(&process, size, feature_columns, env, file->err);
    if (!code && fitted)
        code = npi_info_read(&info, file);
    if (!code && fitted)
        code = read_tuning(&info, file);
    if (!code && info.tuned)
        code = make_tuned(&process, info.columns, width, file, env);
    if (!code)
        code = read_tensors(&process, file, env);
    if (!code)
        code = npi_model_from_process(&model, &process, env, file->err);
    if (!code) {
        model->info.iterations = steps;
        snprintf(model->info.version, sizeof model->info.version, "%s",
                 npi_safetensors_get_text(file, "npgnn_version"));
    }
    if (!code && fitted)
        code = read_origin(model, file);
    npi_process_free(env, &process);
    if (code)
        npgnn_model_free(model);
    else
        *out = model;
    return code;
}

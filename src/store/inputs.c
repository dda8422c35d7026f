#include "store/inputs.h"

#include <string.h>

/* NULL when memory is out. */
static json_t *columns_json(const npi_names *columns)
{
    json_t *array = json_array();
    int failed = 0;
    for (int32_t i = 0; i < npi_names_count(columns); i++)
        failed |= json_array_append_new(array, json_string(npi_names_get(columns, i)));
    if (!failed)
        return array;
    json_decref(array);
    return NULL;
}

int npi_inputs_put(json_t *metadata, const npgnn_model *model)
{
    int failed = 0;
    if (model->columns)
        failed |= npi_safetensors_put_json(metadata, "columns", columns_json(model->columns));
    if (model->encoding)
        failed |= json_object_set_new(metadata, "encoding", json_string(model->encoding->text));
    return failed;
}

/* The names of the feature columns, where the model has them: one per column, all different. */
static int read_columns(npgnn_model *model, const npi_safetensors *r)
{
    if (!npi_safetensors_get_text(r, "columns"))
        return 0;
    json_t *array = npi_safetensors_get_json(r, "columns");
    size_t count = json_is_array(array) ? json_array_size(array) : 0;
    int32_t place = 0;
    int code = count == (size_t)model->info.columns ? npi_names_new(&model->columns, &model->env, r->err)
                                                    : npi_safetensors_refuse(r, "its column names are damaged");
    for (size_t i = 0; !code && i < count; i++) {
        json_t *name = json_array_get(array, i);
        const char *text = json_is_string(name) ? json_string_value(name) : "";
        code = npi_names_add(&place, model->columns, text, strlen(text), r->err);
        if (!code && (!*text || (size_t)place != i))
            code = npi_safetensors_refuse(r, "its column names are damaged");
    }
    json_decref(array);
    return code;
}

/* How the features were made from a table, where they were: into as many columns as the model has. */
static int read_encoding(npgnn_model *model, const npi_safetensors *r)
{
    const char *text = npi_safetensors_get_text(r, "encoding");
    int code = text ? npi_encoding_parse(&model->encoding, text, r->path, &model->env, r->err) : 0;
    if (!code && text && model->encoding->width != model->info.columns)
        code = npi_safetensors_refuse(r, "its encoding is of another number of columns");
    return code;
}

int npi_inputs_read(npgnn_model *model, const npi_safetensors *r)
{
    int code = read_columns(model, r);
    return code ? code : read_encoding(model, r);
}

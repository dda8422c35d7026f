/* Loads a saved model and the graph that it is applied to. */
#include "saved_model.h"

#include <string.h>

#include "message.h"

int saved_model_load_graph(npgnn_graph **graph, const npgnn_model *model, const data_settings *data,
                           const npgnn_env *env)
{
    data_settings prepared = *data;
    npgnn_model_info info = {.size = sizeof info};
    npgnn_model_describe(&info, model, NULL);
    if (info.columns > 0) { /* other models take any features, as they are encoded by themselves */
        prepared.load.encoding = npgnn_model_encoding(model) ? npgnn_model_encoding(model) : "raw";
        if (data->load.normalize > info.normalize || data->load.binarize > info.binarize)
            return print_error("--%s: the model was trained without it, and needs features like those of its training",
                               data->load.normalize > info.normalize ? "normalize" : "binarize");
        prepared.load.normalize = info.normalize;
        prepared.load.binarize = info.binarize;
    }
    if (!info.across_graphs) {
        if ((data->load.weighted || data->load.weight) && !info.weighted)
            return print_error("--%s: the model was trained without weights; leave it out, or train with weights",
                               data->load.weight ? "weight" : "weighted");
        prepared.load.weighted = info.weighted;
    }
    return data_load(graph, &prepared, env);
}

int saved_model_open(npgnn_model **model, const char *path, const npgnn_env *env, npgnn_error *err)
{
    if (strcmp(path, "universal") == 0)
        return npgnn_model_universal(model, env, err);
    return npgnn_model_load(model, path, env, err);
}

/* Replaces *model by a copy whose latent variable is encoded from the graph `name`. */
static int encode_context(npgnn_model **model, const char *name, const data_settings *data, const npgnn_env *env)
{
    npgnn_model *adapted = NULL;
    npgnn_graph *context = NULL;
    npgnn_error err = {0};
    data_settings context_data = {.name = name, .load = data->load};
    context_data.load.edges = context_data.load.features = context_data.load.target_features =
        NULL; /* these files belong to DATA */
    int status = saved_model_load_graph(&context, *model, &context_data, env);
    if (status == 0 && npgnn_model_adapt(&adapted, *model, context, env, &err) != 0)
        status = print_error("%s: %s", name, err.text);
    npgnn_graph_free(context);
    if (status == 0) {
        npgnn_model_free(*model);
        *model = adapted;
    }
    return status;
}

int saved_model_load(npgnn_model **model, npgnn_graph **graph, const saved_model_settings *settings,
                     const npgnn_env *env)
{
    npgnn_error err = {0};
    int status = 0;
    if (saved_model_open(model, settings->path, env, &err) != 0)
        return print_error("%s", err.text);
    npgnn_model_info info = {.size = sizeof info};
    npgnn_model_describe(&info, *model, NULL);
    if (info.across_graphs)
        data_note_unweighted(&settings->data, settings->path, env);
    if (settings->context)
        status = encode_context(model, settings->context, &settings->data, env);
    return status ? status : saved_model_load_graph(graph, *model, &settings->data, env);
}

void saved_model_warn(const npgnn_model *model, const char *path)
{
    npgnn_model_info info = {.size = sizeof info};
    npgnn_model_describe(&info, model, NULL);
    if (!info.calibrated && !info.across_graphs)
        print_warning("%s is not calibrated; use its probabilities for ranking only", path);
}

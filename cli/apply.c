#include "apply.h"

#include "say.h"

int apply_load(npgnn_graph **graph, const npgnn_model *model, const cli_settings *given, const char *data)
{
    npgnn_env env = {.size = sizeof env, .threads = given->threads};
    npgnn_model_info info = {.size = sizeof info};
    cli_settings settings = *given;
    npgnn_model_describe(&info, model, NULL);
    settings.load.normalize = info.normalize;
    settings.load.binarize = info.binarize;
    settings.load.weighted = info.weighted;
    return settings_load(graph, &settings, data, &env);
}

/* *model becomes the one whose z is encoded from the context. The files of --edges and --features are those of DATA alone. */
static int take_context(npgnn_model **model, const cli_settings *given)
{
    npgnn_env env = {.size = sizeof env, .threads = given->threads};
    npgnn_model *adapted = NULL;
    npgnn_graph *context = NULL;
    npgnn_error err = {0};
    cli_settings settings = *given;
    settings.load.edges = settings.load.features = NULL;
    int status = apply_load(&context, *model, &settings, given->context);
    if (status == 0 && npgnn_model_adapt(&adapted, *model, context, &env, &err) != 0)
        status = say_error("%s: %s", given->context, err.text);
    npgnn_graph_free(context);
    if (status == 0) {
        npgnn_model_free(*model);
        *model = adapted;
    }
    return status;
}

int apply_model(npgnn_model **out, const cli_settings *settings)
{
    npgnn_env env = {.size = sizeof env, .threads = settings->threads};
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    if (npgnn_model_load(&model, settings->operands[0], &env, &err) != 0)
        return say_error("%s", err.text);
    int status = settings->context ? take_context(&model, settings) : 0;
    if (status == 0)
        *out = model;
    else
        npgnn_model_free(model);
    return status;
}

void apply_warn(const npgnn_model *model, const cli_settings *settings)
{
    npgnn_model_info info = {.size = sizeof info};
    npgnn_model_describe(&info, model, NULL);
    if (!info.calibrated)
        say_error("%s holds no calibration: its probabilities order pairs, but take them with care",
                  settings->operands[0]);
}

/* npgnn info: what a graph or a model is. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "progress.h"
#include "report.h"
#include "say.h"
#include "settings.h"

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static int is_model(const char *name)
{
    return name && (ends_with(name, ".safetensors") || ends_with(name, ".npgnn"));
}

/* ---- a graph ---- */

static json_t *graph_json(const npgnn_graph_info *info, const char *dataset)
{
    return json_pack("{s:s, s:i, s:I, s:b, s:i, s:I, s:b, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:o}", "dataset",
                     dataset, "nodes", info->nodes, "edges", (json_int_t)info->edges, "weighted", info->weighted,
                     "features", info->columns, "nonzeros", (json_int_t)info->nonzeros, "features_dense",
                     info->features_dense, "isolated", info->isolated, "featureless", info->featureless, "max_degree",
                     info->max_degree, "classes", info->classes, "input_edges", (json_int_t)info->input_edges,
                     "merged_duplicates", (json_int_t)info->merged_duplicates, "merged_reverse",
                     (json_int_t)info->merged_reverse, "dropped_self_loops", (json_int_t)info->dropped_self_loops,
                     "fingerprint", report_hash(info->fingerprint));
}

static void print_graph(const npgnn_graph_info *info)
{
    double cells = (double)info->nodes * info->columns;
    printf("nodes          %" PRId32 "\n", info->nodes);
    printf("  no edge      %" PRId32 "\n", info->isolated);
    printf("  no feature   %" PRId32 "\n", info->featureless);
    printf("edges          %" PRId64 " undirected%s, at most %" PRId32 " at a node\n", info->edges,
           info->weighted ? " with weights" : "", info->max_degree);
    printf("  as read      %" PRId64 "\n", info->input_edges);
    printf("  duplicates   %" PRId64 " merged\n", info->merged_duplicates);
    printf("  both ways    %" PRId64 " merged\n", info->merged_reverse);
    printf("  self loops   %" PRId64 " dropped\n", info->dropped_self_loops);
    printf("features       %" PRId32 ", %.3g %% not zero, stored %s\n", info->columns,
           cells > 0 ? 100 * (double)info->nonzeros / cells : 0, info->features_dense ? "dense" : "sparse");
    printf("classes        %" PRId32 "\n", info->classes);
    printf("fingerprint    %016" PRIx64 "\n", info->fingerprint);
}

static int info_graph(const cli_settings *settings, const npgnn_env *env)
{
    npgnn_graph *graph = NULL;
    npgnn_graph_info info = {.size = sizeof info};
    if (settings_load(&graph, settings, settings->operands[0], env) != 0)
        return EXIT_FAILED;
    npgnn_graph_describe(&info, graph, NULL);
    npgnn_graph_free(graph);
    if (settings->json)
        return report_write(graph_json(&info, settings_dataset(settings, settings->operands[0])), settings->json);
    print_graph(&info);
    return EXIT_DONE;
}

/* ---- a model ---- */

static json_t *weights_json(const npgnn_model *model)
{
    json_t *object = json_object();
    const char *name;
    double weight;
    for (int i = 0; npgnn_model_weight(&name, &weight, model, i); i++)
        json_object_set_new(object, name, json_real(weight));
    return object;
}

static json_t *model_json(const npgnn_model *model, const npgnn_model_info *info, const npgnn_options *options)
{
    return json_pack("{s:i, s:I, s:i, s:i, s:I, s:b, s:b, s:o, s:o, s:b, s:f, s:o, s:s, s:o, s:o, s:o}", "features",
                     info->columns, "parameters", (json_int_t)info->parameters, "iterations", info->iterations,
                     "train_nodes", info->train_nodes, "train_edges", (json_int_t)info->train_edges, "normalize",
                     info->normalize, "binarize", info->binarize, "val_auc", report_real(info->val_auc), "val_ap",
                     report_real(info->val_ap), "calibrated", info->calibrated, "link_rate", info->link_rate, "weights",
                     weights_json(model), "version", info->version, "fingerprint", report_hash(info->fingerprint),
                     "context", report_hash(info->context_fingerprint), "config", report_options(options));
}

static void print_options(const npgnn_options *options)
{
    npgnn_option_info info;
    char value[64];
    for (int i = 0; npgnn_options_info(&info, i); i++)
        if (npgnn_options_get(value, sizeof value, options, info.key, NULL) == 0)
            printf("  %-18s %s\n", info.key, value);
}

/* What training found to weigh: that of the embeddings, and whatever else is not 0. */
static void print_weights(const npgnn_model *model)
{
    const char *name;
    double weight;
    printf("weights\n");
    for (int i = 0; npgnn_model_weight(&name, &weight, model, i); i++)
        if (weight != 0 || strcmp(name, "own") == 0)
            printf("  %-18s %.4g\n", name, weight);
}

static void print_model(const npgnn_model *model, const npgnn_model_info *info, const npgnn_options *options)
{
    const char *preparation = info->binarize ? (info->normalize ? "binarized, normalized" : "binarized")
                                             : (info->normalize ? "normalized" : "as they are");
    printf("parameters     %" PRId64 "\n", info->parameters);
    printf("features       %" PRId32 ", %s\n", info->columns, preparation);
    printf("trained on     %" PRId32 " nodes, %" PRId64 " edges\n", info->train_nodes, info->train_edges);
    printf("iterations     %d\n", info->iterations);
    if (!isnan(info->val_auc))
        printf("validation     AUC %.2f, AP %.2f\n", 100 * info->val_auc, 100 * info->val_ap);
    printf("probabilities  %s, for a link rate of %.3g\n", info->calibrated ? "calibrated" : "not calibrated",
           info->link_rate);
    print_weights(model);
    printf("graph          %016" PRIx64 "\n", info->fingerprint);
    if (info->context_fingerprint != info->fingerprint)
        printf("latent from    %016" PRIx64 "\n", info->context_fingerprint);
    printf("written by     npgnn %s\n", info->version);
    printf("options\n");
    print_options(options);
}

static int info_model(const cli_settings *settings, const npgnn_env *env)
{
    npgnn_model *model = NULL;
    npgnn_model_info info = {.size = sizeof info};
    npgnn_options options = {.size = sizeof options};
    npgnn_error err = {0};
    if (npgnn_model_load(&model, settings->operands[0], env, &err) != 0)
        return say_error("%s", err.text);
    npgnn_model_describe(&info, model, NULL);
    npgnn_model_options(&options, model, NULL);
    int status = EXIT_DONE;
    if (settings->json)
        status = report_write(model_json(model, &info, &options), settings->json);
    else
        print_model(model, &info, &options);
    npgnn_model_free(model);
    return status;
}

static int run(const cli_settings *settings)
{
    npgnn_env env = {.size = sizeof env, .threads = settings->threads};
    return is_model(settings->operands[0]) ? info_model(settings, &env) : info_graph(settings, &env);
}

const cli_command cmd_info = {
    .args =
        {
            .name = "info",
            .usage = "DATA|MODEL [OPTION...]",
            .summary = "What is in a graph or in a model file.",
            .description =
                "Prints what is in a graph: nodes, edges, features, and what was merged or dropped while reading. "
                "For a model file (its name ends with .safetensors or .npgnn): what it was trained on, how well "
                "it did, and its options.",
            .examples = "  npgnn info synthetic:nodes=500,seed=7\n"
                        "  npgnn info model.safetensors --json -\n",
            .operands = {"DATA|MODEL"},
            .groups = {settings_data_group, settings_common_group},
        },
    .defaults = {.seed = 1},
    .run = run,
};

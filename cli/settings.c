/* The option tables that commands share, and what follows from their values. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "settings.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "public_datasets.h"

const char *cli_program = "npgnn";

/* ---- the graph ---- */

#define AT(member) offsetof(data_settings, member)
const arg_option data_options[] = {
    OPTION("edges", 0, ARG_TEXT, AT(load.edges), "FILE", "Read the edges from FILE. DATA may then be omitted.",
           .once = 1),
    OPTION("features", 0, ARG_TEXT, AT(load.features), "FILE", "Read the node features from FILE.", .once = 1),
    OPTION_DATA_DIR(AT(load.data_dir)),
    OPTION("normalize", 0, ARG_FLAG, AT(load.normalize), NULL,
           "Divide each feature row by the sum of its absolute values."),
    OPTION("binarize", 0, ARG_FLAG, AT(load.binarize), NULL, "Replace every non-zero feature with 1."),
    OPTION("weighted", 0, ARG_FLAG, AT(load.weighted), NULL, "Use edge weights (third column, or matrix values)."),
    OPTION(
        "source", 0, ARG_TEXT, AT(load.source), "COLUMN",
        "Column of the edge file with the first node of an edge: a name in its header, or a number from 1 (default: by "
        "its name, else the first)."),
    OPTION("target", 0, ARG_TEXT, AT(load.target), "COLUMN", "Column with the second node (default: the second)."),
    OPTION("weight", 0, ARG_TEXT, AT(load.weight), "COLUMN", "Column with the weight of an edge; implies --weighted."),
    OPTION("time", 0, ARG_TEXT, AT(load.time), "COLUMN", "Column with the time of an edge: a number or a date."),
    OPTION("id", 0, ARG_TEXT, AT(load.id), "COLUMN", "Column of the feature file with the node ids."),
    OPTION(
        "column", 0, ARG_PAIR, AT(kinds), "COLUMN:KIND",
        "Read a feature column as number, category, flag, date, text or raw (a number that is not scaled), whatever it "
        "looks like. *:KIND means all columns. May be repeated."),
    OPTION("ignore", 0, ARG_PAIR, AT(ignored), "COLUMN", "Leave a feature column out. May be repeated."),
    OPTION("data-header", 0, ARG_CHOICE, AT(header), "auto|yes|no",
           "Whether the first line of the edge and feature files is a header (default auto: by what is in it)."),
    OPTION("skip-bad-rows", 0, ARG_FLAG, AT(load.skip_bad_rows), NULL,
           "Leave out rows that cannot be used, and count them, instead of stopping at the first."),
    OPTION("bipartite", 0, ARG_FLAG, AT(load.bipartite), NULL,
           "Sources and targets are two kinds of nodes, such as users and items: their ids have nothing in common, and "
           "links "
           "are predicted across only."),
    OPTION("target-features", 0, ARG_TEXT, AT(load.target_features), "FILE",
           "With --bipartite, the features of the targets; --features are those of the sources."),
    OPTIONS_END,
};
#undef AT

int data_load(npgnn_graph **graph, const data_settings *data, const npgnn_env *env)
{
    npgnn_load_options options = data->load;
    npgnn_error err = {0};
    const char *kinds[ARG_MAX_PAIRS], *ignored[ARG_MAX_PAIRS];
    for (int i = 0; i < data->kinds.count; i++)
        kinds[i] = data->kinds.item[i].value;
    for (int i = 0; i < data->ignored.count; i++)
        ignored[i] = data->ignored.item[i].value;
    options.size = sizeof options;
    options.header = (npgnn_header)data->header;
    options.kinds = kinds;
    options.kind_count = data->kinds.count;
    options.ignored = ignored;
    options.ignored_count = data->ignored.count;
    int code = npgnn_load(graph, data->name, &options, env, &err);
    if (code == NPGNN_E_IO && data->name && public_dataset_find(data->name, strlen(data->name)))
        return print_error("%s; to download it, run: npgnn fetch %s", err.text, data->name);
    return code ? print_error("%s", err.text) : 0;
}

const char *data_name(const data_settings *data)
{
    return data->name ? data->name : data->load.edges;
}

/* ---- common options ---- */

#define AT(member) offsetof(common_settings, member)
const arg_option common_options[] = {
    OPTION_THREADS(AT(threads)),
    OPTION_QUIET(AT(quiet)),
    OPTION("json", 0, ARG_TEXT, AT(json), "FILE|-", "Write the results as JSON to FILE (-: standard output).", 0, 0,
           "-"),
    OPTIONS_END,
};
#undef AT

int common_threads(const common_settings *common)
{
    if (common->threads > 0)
        return common->threads;
#if defined(__linux__)
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0)
        return CPU_COUNT(&cores);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

npgnn_env common_env(const common_settings *common)
{
    return (npgnn_env){.size = sizeof(npgnn_env), .threads = common_threads(common)};
}

int common_json_on_stdout(const common_settings *common)
{
    return common->json && strcmp(common->json, "-") == 0;
}

/* ---- the model and its training ---- */

int model_settings_change(model_settings *model, const char *command)
{
    npgnn_error err = {0};
    for (int i = 0; i < model->changes.count; i++)
        if (npgnn_options_set(&model->options, model->changes.item[i].key, model->changes.item[i].value, &err) != 0)
            return print_usage_error(command, "%s", err.text);
    return 0;
}

/* ---- the command line ---- */

/* Applies the preset and the changes to it. */
static int model_settings_apply(model_settings *model, const cli_command *command)
{
    const char *name = command->args.name;
    npgnn_error err = {0};
    model->universal = model->preset && strcmp(model->preset, UNIVERSAL) == 0;
    if (model->universal && !command->takes_universal)
        return print_usage_error(name, "there is nothing to train with the preset " UNIVERSAL
                                       ": use it as MODEL, as in 'npgnn predict " UNIVERSAL " DATA'");
    if (model->universal && model->changes.count > 0)
        return print_usage_error(name, "--%s has no effect: the preset " UNIVERSAL " is not trained",
                                 model->changes.item[0].key);
    model->options.size = sizeof model->options;
    if (npgnn_options_preset(&model->options, model->universal ? NULL : model->preset, &err) != 0)
        return print_usage_error(name, "%s", err.text);
    model->options.seed = 1;
    return model_settings_change(model, name);
}

int settings_parse(void *settings, const cli_command *command, int argc, char **argv)
{
    const arg_command *args = &command->args;
    int code = arg_parse(settings, args, argc, argv);
    for (int g = 0; code == 0 && g < ARG_MAX_GROUPS; g++)
        if (args->groups[g].options == model_options)
            code = model_settings_apply((void *)((char *)settings + args->groups[g].offset), command);
    return code;
}

#define _GNU_SOURCE /* sched_getaffinity */
#include "settings.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fetch.h"
#include "say.h"

static const arg_option data_options[] = {
    SETTING("edges", 0, ARG_TEXT, load.edges, "FILE", "Read the edges from FILE; DATA may then be left out."),
    SETTING("features", 0, ARG_TEXT, load.features, "FILE", "Read the features of the nodes from FILE."),
    SETTING("data-dir", 0, ARG_TEXT, load.data_dir, "DIR",
            "Where names of data sets are looked up (default: $NPGNN_DATA, then the user's cache folder)."),
    SETTING("normalize", 0, ARG_FLAG, load.normalize, NULL, "Divide each feature row by its sum of magnitudes."),
    SETTING("binarize", 0, ARG_FLAG, load.binarize, NULL, "Turn every feature that is not zero into 1."),
    SETTING("weighted", 0, ARG_FLAG, load.weighted, NULL, "Use the weights of the edges (third column, values)."),
};

static const arg_option common_options[] = {
    SETTING_THREADS,
    SETTING("quiet", 'q', ARG_FLAG, quiet, NULL, "Print no progress and no notices."),
    SETTING("json", 0, ARG_TEXT, json, "FILE|-", "Write the results as JSON to FILE; - is standard output.", 0, 0, "-"),
};

const arg_group *settings_data_group(void)
{
    static const arg_group group = GROUP("Data", data_options);
    return &group;
}

const arg_group *settings_common_group(void)
{
    static const arg_group group = GROUP("Common options", common_options);
    return &group;
}

static int available_cores(void)
{
#if defined(__linux__)
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0)
        return CPU_COUNT(&cores);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int settings_change(cli_settings *settings, const arg_command *command)
{
    npgnn_error err = {0};
    for (int i = 0; i < settings->changes.count; i++)
        if (npgnn_options_set(&settings->model, settings->changes.item[i].key, settings->changes.item[i].value, &err) !=
            0)
            return say_usage(command->name, "%s", err.text);
    return 0;
}

int settings_finish(cli_settings *settings, const arg_command *command)
{
    npgnn_error err = {0};
    settings->model.size = sizeof settings->model;
    settings->load.size = sizeof settings->load;
    if (npgnn_options_preset(&settings->model, settings->preset, &err) != 0)
        return say_usage(command->name, "%s", err.text);
    settings->model.seed = settings->seed;
    if (settings->threads == 0)
        settings->threads = available_cores();
    return settings_change(settings, command);
}

int settings_load(npgnn_graph **graph, const cli_settings *settings, const char *data, const npgnn_env *env)
{
    npgnn_error err = {0};
    int code = npgnn_load(graph, data, &settings->load, env, &err);
    if (code == NPGNN_E_IO && data && fetch_find(data, strlen(data)))
        return say_error("%s; npgnn fetch %s gets it", err.text, data);
    return code ? say_error("%s", err.text) : 0;
}

const char *settings_dataset(const cli_settings *settings, const char *data)
{
    return data ? data : settings->load.edges;
}

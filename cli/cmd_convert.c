/* npgnn convert: a graph of any format as a folder of plain files. */
#include <inttypes.h>
#include <stdio.h>

#include "progress.h"
#include "say.h"
#include "settings.h"

static int save(const npgnn_graph *graph, const cli_settings *settings)
{
    npgnn_graph_info info = {.size = sizeof info};
    npgnn_error err = {0};
    if (npgnn_graph_save(graph, settings->output, &err) != 0)
        return say_error("%s", err.text);
    npgnn_graph_describe(&info, graph, NULL);
    if (!settings->quiet)
        fprintf(stderr,
                "npgnn: wrote %s: %" PRId32 " nodes, %" PRId64 " edges, %" PRId32 " features; fingerprint %016" PRIx64
                "\n",
                settings->output, info.nodes, info.edges, info.columns, info.fingerprint);
    return EXIT_DONE;
}

static int run(const cli_settings *settings)
{
    npgnn_graph *graph = NULL;
    cli_progress progress;
    if (!settings->output)
        return say_usage("convert", "convert needs -o FOLDER: where to write the graph");
    if (progress_open(&progress, settings) != 0)
        return EXIT_FAILED;
    npgnn_env env = progress_env(&progress, settings);
    int status = settings_load(&graph, settings, settings->operands[0], &env);
    if (status == 0)
        status = save(graph, settings);
    int closed = progress_close(&progress);
    npgnn_graph_free(graph);
    return status ? status : closed;
}

static const arg_option options[] = {
    SETTING("output", 'o', ARG_TEXT, output, "FOLDER", "The folder to write, which must not be there yet (required)."),
    SETTING("quiet", 'q', ARG_FLAG, quiet, NULL, "Print no notices."),
};

static const arg_group *own_group(void)
{
    static const arg_group group = GROUP("Options", options);
    return &group;
}

const cli_command cmd_convert = {
    .args =
        {
            .name = "convert",
            .usage = "DATA -o FOLDER [OPTION...]",
            .summary = "Write a graph of any format as a folder of plain files.",
            .description =
                "Reads DATA and writes it as a folder: edges.tsv, features.mtx (or features.npy, where most of "
                "them are not zero), labels.tsv, and the names of nodes and of feature columns in nodes.txt "
                "and columns.txt. The folder is DATA for every command, and gives the same graph. It appears "
                "whole or not at all.",
            .examples = "  npgnn convert amazon_photo.npz -o photo\n"
                        "  npgnn convert --edges links.jsonl --features words.csv -o my-graph\n",
            .operands = {"DATA"},
            .groups = {own_group, settings_data_group},
        },
    .run = run,
};

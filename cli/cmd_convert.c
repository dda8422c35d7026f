/* npgnn convert: writes a graph of any format as a folder of plain files, or as one file for large graphs. */
#include <inttypes.h>

#include "message.h"
#include "progress.h"
#include "settings.h"

typedef struct convert_settings {
    data_settings data;
    common_settings common;
    const char *output;
} convert_settings;

static int run(void *given)
{
    const convert_settings *settings = given;
    npgnn_graph *graph = NULL;
    npgnn_graph_info info = {.size = sizeof info};
    npgnn_error err = {0};
    cli_progress progress;
    if (!settings->output)
        return print_usage_error("convert",
                                 "missing option -o OUT: the folder, or the file OUT.npg, to write the graph to");
    progress_open(&progress, settings->common.quiet, NULL, 0);
    npgnn_env env = progress_env(&progress, &settings->common);
    int status = data_load(&graph, &settings->data, &env);
    if (status == 0 && npgnn_graph_save(graph, settings->output, &err) != 0)
        status = print_error("%s", err.text);
    if (status == 0 && !settings->common.quiet) {
        npgnn_graph_describe(&info, graph, NULL);
        print_note("wrote %s: %" PRId32 " node%s, %" PRId64 " edge%s, %" PRId32 " feature%s; fingerprint %016" PRIx64,
                   settings->output, info.nodes, PLURAL(info.nodes), info.edges, PLURAL(info.edges), info.columns,
                   PLURAL(info.columns), info.fingerprint);
    }
    npgnn_graph_free(graph);
    return status;
}

#define AT(member) offsetof(convert_settings, member)
static const arg_option options[] = {
    OPTION("output", 'o', ARG_TEXT, AT(output), "OUT",
           "Folder to write, which must not exist yet; or file, if OUT ends with .npg (required)."),
    OPTION_QUIET(AT(common.quiet)),
    OPTIONS_END,
};

const cli_command cmd_convert = {
    .args =
        {
            .name = "convert",
            .usage = "DATA -o OUT [OPTION...]",
            .summary = "Write a graph of any format as a folder of plain files, or as one file for large graphs.",
            .description =
                "Reads DATA and writes it as a folder: edges.tsv, features.mtx (or features.npy where most features "
                "are non-zero), labels.tsv, the names of nodes and feature columns in nodes.txt and columns.txt, how a "
                "table became features in encoding.json, and the sides of a two-sided graph in sides.txt. If OUT ends "
                "with .npg, it is a single file, which is mapped into memory instead of being read: a graph of ten "
                "million nodes opens in about a second, and processes that use it share one copy. Every command "
                "accepts either as DATA and reads the same graph from it. OUT is written completely or not at all.",
            .examples = "  npgnn convert amazon_photo.npz -o photo\n"
                        "  npgnn convert --edges links.jsonl --features words.csv -o my-graph\n"
                        "  npgnn convert my-graph -o my-graph.npg\n",
            .operands = {DATA_OPERAND(AT(data.name))},
            .groups = {{"Options", options, 0}, DATA_GROUP(AT(data))},
        },
    .defaults = &(const convert_settings){.output = NULL},
    .size = sizeof(convert_settings),
    .run = run,
};

/* npgnn embed: writes the node embeddings for other programs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "output.h"
#include "saved_model.h"

typedef enum { FORMAT_NPY, FORMAT_TSV, FORMAT_WORD2VEC, FORMAT_BY_NAME } embed_format;
#define FORMAT_NAMES "npy|tsv|word2vec"

typedef struct embed_settings {
    saved_model_settings model;
    common_settings common;
    const char *output;
    int format; /* an embed_format; FORMAT_BY_NAME: as the name of the file says */
} embed_settings;

typedef struct embeddings {
    const npgnn_graph *graph;
    float *values; /* (nodes, size), row-major */
    int32_t nodes;
    int size;
} embeddings;

/* ---- the formats ---- */

/* NumPy's file format, version 1, little-endian. */
static void write_npy(FILE *file, const embeddings *e)
{
    char header[128];
    int length = snprintf(header, sizeof header,
                          "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRId32 ", %d), }", e->nodes, e->size);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10; /* the header ends at a multiple of 64 bytes */
    fwrite("\x93NUMPY\1\0", 1, 8, file);
    putc(padded & 255, file);
    putc(padded >> 8, file);
    fprintf(file, "%-*s\n", padded - 1, header);
    fwrite(e->values, sizeof *e->values, (size_t)e->nodes * (size_t)e->size, file);
}

/* Whitespace in a name becomes _, since the text formats have no quotes. */
static void write_name(FILE *file, const char *name, char separator)
{
    for (; *name; name++)
        putc(*name == separator || *name == '\n' || *name == '\t' ? '_' : *name, file);
}

static void write_text(FILE *file, const embeddings *e, char separator)
{
    char buffer[12];
    for (int32_t i = 0; i < e->nodes; i++) {
        write_name(file, npgnn_graph_name(e->graph, i, buffer), separator);
        for (int c = 0; c < e->size; c++)
            fprintf(file, "%c%.9g", separator, (double)e->values[(size_t)i * (size_t)e->size + (size_t)c]);
        putc('\n', file);
    }
}

/* ---- files ---- */

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* An .npy file has no place for names: those of its rows go to FILE.names. */
static int write_names_file(const embeddings *e, const char *path)
{
    char names[4096], buffer[12];
    cli_output out;
    int length = snprintf(names, sizeof names, "%s.names", path);
    if (length < 0 || (size_t)length >= sizeof names)
        return print_error("path is too long: %.100s...", path);
    if (output_open(&out, names) != 0)
        return EXIT_FAILED;
    for (int32_t i = 0; i < e->nodes; i++) {
        write_name(out.file, npgnn_graph_name(e->graph, i, buffer), '\n');
        putc('\n', out.file);
    }
    return output_commit(&out);
}

static int write_embeddings(const embeddings *e, const embed_settings *settings)
{
    const char *path = settings->output;
    int to_file = strcmp(path, "-") != 0;
    embed_format format = (embed_format)settings->format;
    cli_output out;
    if (format == FORMAT_BY_NAME)
        format = ends_with(path, ".npy")                              ? FORMAT_NPY
                 : ends_with(path, ".vec") || ends_with(path, ".w2v") ? FORMAT_WORD2VEC
                                                                      : FORMAT_TSV;
    if (format == FORMAT_NPY && !output_is_stream(path) && write_names_file(e, path) != 0)
        return EXIT_FAILED;
    if (output_open(&out, path) != 0)
        return EXIT_FAILED;
    if (format == FORMAT_NPY) {
        write_npy(out.file, e);
    } else {
        if (format == FORMAT_WORD2VEC)
            fprintf(out.file, "%" PRId32 " %d\n", e->nodes, e->size);
        write_text(out.file, e, format == FORMAT_TSV ? '\t' : ' ');
    }
    if (output_commit(&out) != 0)
        return EXIT_FAILED;
    if (!settings->common.quiet && to_file)
        print_note("wrote %s: %" PRId32 " embedding%s of size %d", path, e->nodes, PLURAL(e->nodes), e->size);
    return EXIT_DONE;
}

/* ---- the command ---- */

/* Says how well inner products rank. Those of a network are its scores. */
static void note_accuracy(const npgnn_model *model, const npgnn_graph *graph, const embed_settings *settings,
                          const npgnn_env *env)
{
    npgnn_embed_accuracy accuracy = {.size = sizeof accuracy};
    npgnn_model_info info = {.size = sizeof info};
    npgnn_graph_info about = {.size = sizeof about};
    npgnn_error err = {0};
    npgnn_model_describe(&info, model, NULL);
    npgnn_graph_describe(&about, graph, NULL);
    if (!info.across_graphs)
        return;
    int code = npgnn_model_embed_test(&accuracy, model, graph, 1, env, &err);
    if (code) {
        print_note("how well inner products rank was not measured: %s",
                   code == NPGNN_E_ARGUMENT ? "the graph has too few links to hold some out" : err.text);
        return;
    }
    print_note("inner products rank held-out links with AUC %.1f; the score itself %.1f", 100 * accuracy.inner_auc,
               100 * accuracy.score_auc);
    if (info.train_nodes > 0 && info.fingerprint == about.fingerprint)
        print_note("%s was tuned on these links, so that both are a little too high", settings->model.path);
}

static int embed(const npgnn_model *model, const npgnn_graph *graph, const embed_settings *settings,
                 const npgnn_env *env)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_error err = {0};
    npgnn_env silent = *env; /* what is noted of probabilities does not concern embeddings */
    silent.log = NULL;
    npgnn_model_options(&options, model, NULL);
    embeddings e = {.graph = graph, .nodes = npgnn_graph_nodes(graph), .size = options.output_size};
    e.values = calloc((size_t)e.nodes, (size_t)e.size * sizeof *e.values);
    if (!e.values && e.nodes > 0)
        return print_error("out of memory");
    int status = npgnn_model_embed(e.values, model, graph, &silent, &err) ? print_error("%s", err.text)
                                                                          : write_embeddings(&e, settings);
    free(e.values);
    if (status == EXIT_DONE && !settings->common.quiet)
        note_accuracy(model, graph, settings, &silent);
    return status;
}

static int run(void *given)
{
    const embed_settings *settings = given;
    npgnn_model *model = NULL;
    npgnn_graph *graph = NULL;
    npgnn_env env = common_noting_env(&settings->common);
    if (!settings->output)
        return print_usage_error("embed", "missing option -o FILE: the file to write the embeddings to");
    int status = saved_model_load(&model, &graph, &settings->model, &env);
    if (status == 0)
        status = embed(model, graph, settings, &env);
    npgnn_graph_free(graph);
    npgnn_model_free(model);
    return status;
}

#define AT(member) offsetof(embed_settings, member)
static const arg_option options[] = {
    OPTION("output", 'o', ARG_TEXT, AT(output), "FILE|-", "Output file (required); - is standard output."),
    OPTION("format", 0, ARG_CHOICE, AT(format), FORMAT_NAMES,
           "Output format (default: by the name of FILE; .npy, .vec or .w2v for word2vec, otherwise tsv)."),
    OPTION_CONTEXT(AT(model.context)),
    OPTION_THREADS(AT(common.threads)),
    OPTION_QUIET(AT(common.quiet)),
    OPTIONS_END,
};

const cli_command cmd_embed = {
    .args =
        {
            .name = "embed",
            .usage = "universal|MODEL DATA -o FILE [OPTION...]",
            .summary = "Write the node embeddings of a graph.",
            .description =
                "Writes the embedding of every node of DATA, one row per node, computed with the mean of the latent "
                "variable. The larger the inner product of two rows, the more probable a link. For a network, it is "
                "the "
                "score that 'npgnn predict --raw' prints. For universal and models of --preset best, whose scores are "
                "no inner products, it is the closest to them; a note says how well it ranks links that are held out, "
                "beside the score (not with --quiet, which saves the time). "
                "Rows of tsv and word2vec begin with the node name, in which whitespace becomes _. For an .npy file, "
                "the node names are written to FILE.names, one per line.",
            .examples = "  npgnn embed universal my-graph -o nodes.tsv\n"
                        "  npgnn embed model.safetensors synthetic -o nodes.npy\n"
                        "  npgnn embed model.safetensors my-graph -o nodes.vec\n",
            .operands = {MODEL_OPERAND(AT(model.path)), DATA_OPERAND(AT(model.data.name))},
            .groups = {{"Options", options, 0}, DATA_GROUP(AT(model.data))},
        },
    .defaults = &(const embed_settings){.format = FORMAT_BY_NAME},
    .size = sizeof(embed_settings),
    .run = run,
};

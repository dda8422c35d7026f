/* npgnn embed: the embeddings of the nodes, for other programs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "output.h"
#include "say.h"

typedef enum { FORMAT_NPY, FORMAT_TSV, FORMAT_WORD2VEC, FORMATS } format;
#define FORMAT_NAMES "npy|tsv|word2vec"

typedef struct embeddings {
    const npgnn_graph *graph;
    float *values; /* (nodes, size), row-major */
    int32_t nodes;
    int size;
} embeddings;

/* ---- the formats ---- */

/* numpy's format of version 1, little-endian. */
static void write_npy(FILE *file, const embeddings *e)
{
    char header[128];
    int length = snprintf(header, sizeof header,
                          "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRId32 ", %d), }", e->nodes, e->size);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10; /* so that the numbers are aligned */
    fwrite("\x93NUMPY\1\0", 1, 8, file);
    putc(padded & 255, file);
    putc(padded >> 8, file);
    fprintf(file, "%-*s\n", padded - 1, header);
    fwrite(e->values, sizeof *e->values, (size_t)e->nodes * (size_t)e->size, file);
}

/* A blank would end a name: word2vec has no quotes. */
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

static void write_names(FILE *file, const embeddings *e)
{
    char buffer[12];
    for (int32_t i = 0; i < e->nodes; i++) {
        write_name(file, npgnn_graph_name(e->graph, i, buffer), '\n');
        putc('\n', file);
    }
}

static void write_as(FILE *file, const embeddings *e, format kind)
{
    if (kind == FORMAT_NPY)
        write_npy(file, e);
    if (kind == FORMAT_WORD2VEC)
        fprintf(file, "%" PRId32 " %d\n", e->nodes, e->size);
    if (kind != FORMAT_NPY)
        write_text(file, e, kind == FORMAT_TSV ? '\t' : ' ');
}

/* ---- files ---- */

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), ending = strlen(end);
    return length > ending && strcmp(text + length - ending, end) == 0;
}

/* What was asked for, or what the name of the file says. */
static format choose_format(const cli_settings *settings)
{
    if (settings->format < FORMATS)
        return (format)settings->format;
    if (ends_with(settings->output, ".npy"))
        return FORMAT_NPY;
    return ends_with(settings->output, ".vec") || ends_with(settings->output, ".w2v") ? FORMAT_WORD2VEC : FORMAT_TSV;
}

/* Beside an .npy file, which has no room for names, those of its rows. */
static int write_names_file(const embeddings *e, const char *path)
{
    char names[4096];
    cli_output out;
    int length = snprintf(names, sizeof names, "%s.names", path);
    if (length < 0 || (size_t)length >= sizeof names)
        return say_error("the path is too long: %.100s...", path);
    if (output_open(&out, names) != 0)
        return EXIT_FAILED;
    write_names(out.file, e);
    return output_commit(&out);
}

static int write_embeddings(const embeddings *e, const cli_settings *settings)
{
    format kind = choose_format(settings);
    cli_output out;
    if (kind == FORMAT_NPY && !output_is_stream(settings->output) && write_names_file(e, settings->output) != 0)
        return EXIT_FAILED;
    if (output_open(&out, settings->output) != 0)
        return EXIT_FAILED;
    write_as(out.file, e, kind);
    if (output_commit(&out) != 0)
        return EXIT_FAILED;
    if (!settings->quiet && strcmp(settings->output, "-") != 0)
        fprintf(stderr, "npgnn: wrote %s: %" PRId32 " embeddings of %d numbers\n", settings->output, e->nodes, e->size);
    return EXIT_DONE;
}

/* ---- the command ---- */

static int embed(const npgnn_model *model, const npgnn_graph *graph, const cli_settings *settings)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_env env = {.size = sizeof env, .threads = settings->threads};
    npgnn_error err = {0};
    npgnn_model_options(&options, model, NULL);
    embeddings e = {.graph = graph, .nodes = npgnn_graph_nodes(graph), .size = options.output_size};
    e.values = calloc((size_t)e.nodes, (size_t)e.size * sizeof *e.values);
    if (!e.values && e.nodes > 0)
        return say_error("out of memory");
    int status = npgnn_model_embed(e.values, model, graph, &env, &err) ? say_error("%s", err.text)
                                                                       : write_embeddings(&e, settings);
    free(e.values);
    return status;
}

static int run(const cli_settings *settings)
{
    npgnn_model *model = NULL;
    npgnn_graph *graph = NULL;
    if (!settings->output)
        return say_usage("embed", "embed needs -o FILE: where to write the embeddings");
    int status = apply_model(&model, settings);
    if (status == 0)
        status = apply_load(&graph, model, settings, settings->operands[1]);
    if (status == 0)
        status = embed(model, graph, settings);
    npgnn_graph_free(graph);
    npgnn_model_free(model);
    return status;
}

static const arg_option options[] = {
    SETTING("output", 'o', ARG_TEXT, output, "FILE|-",
            "Where to write the embeddings (required); - is standard output."),
    SETTING("format", 0, ARG_CHOICE, format, FORMAT_NAMES,
            "How (default: as the name of FILE says: .npy, .vec or .w2v for word2vec, otherwise tsv)."),
    SETTING_CONTEXT,
    SETTING_THREADS,
    SETTING("quiet", 'q', ARG_FLAG, quiet, NULL, "Print no notices."),
};

static const arg_group *own_group(void)
{
    static const arg_group group = GROUP("Options", options);
    return &group;
}

const cli_command cmd_embed = {
    .args =
        {
            .name = "embed",
            .usage = "MODEL DATA -o FILE [OPTION...]",
            .summary = "Write the embeddings of the nodes of a graph.",
            .description =
                "Writes a row of numbers for every node of DATA, as MODEL sees it, with the latent at its mean. The "
                "inner product of two rows, times the weight own of the model ('npgnn info'), is what they add to the "
                "score of "
                "the pair that 'npgnn predict --raw' prints: all of it where the model weighs nothing else. The "
                "larger it is, the likelier a link. Lines of tsv and word2vec begin with the name of the node (blanks "
                "in it become _); beside an .npy file, FILE.names has one name a line.",
            .examples = "  npgnn embed model.safetensors synthetic -o nodes.npy\n"
                        "  npgnn embed model.safetensors my-graph -o nodes.vec\n",
            .operands = {"MODEL", "DATA"},
            .groups = {own_group, settings_data_group},
        },
    .defaults = {.format = FORMATS},
    .run = run,
};

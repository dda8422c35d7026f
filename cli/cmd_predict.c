/* npgnn predict: the probability of a link for pairs of nodes. */
#include <stdio.h>
#include <stdlib.h>

#include "apply.h"
#include "cancel.h"
#include "output.h"
#include "pairs_file.h"
#include "say.h"
#include "settings.h"

/* Pairs scored in one call: few calls for a long file, and memory that does not grow with it. */
enum { CHUNK = 1 << 18 };

typedef struct pairs_chunk {
    npgnn_pair pairs[CHUNK];
    npgnn_prediction links[CHUNK];
    size_t count;
} pairs_chunk;

static void print_chunk(FILE *out, const pairs_chunk *chunk, const npgnn_graph *graph, int raw, int spread)
{
    char u[12], v[12];
    for (size_t i = 0; i < chunk->count; i++) {
        const npgnn_prediction *link = &chunk->links[i];
        fprintf(out, "%s\t%s\t%.6g", npgnn_graph_name(graph, chunk->pairs[i].u, u),
                npgnn_graph_name(graph, chunk->pairs[i].v, v), (double)(raw ? link->score : link->probability));
        if (spread)
            fprintf(out, "\t%.6g", (double)link->spread);
        fputc('\n', out);
    }
}

/* Scores all pairs of `in`, chunk by chunk. Returns the exit status. */
static int score_all(FILE *out, pairs_file *in, npgnn_predictor *predictor, const npgnn_graph *graph, int raw,
                     int spread)
{
    npgnn_error err = {0};
    int status;
    pairs_chunk *chunk = malloc(sizeof *chunk);
    if (!chunk)
        return say_error("out of memory");
    for (;;) {
        status = pairs_read(chunk->pairs, &chunk->count, in, graph, CHUNK);
        if (cancel_signal())
            status = cancel_status();
        if (status || chunk->count == 0 || ferror(out))
            break;
        if (npgnn_predictor_run(chunk->links, predictor, chunk->pairs, chunk->count, &err) != 0) {
            status = say_error("%s", err.text);
            break;
        }
        print_chunk(out, chunk, graph, raw, spread);
    }
    free(chunk);
    return status;
}

/* From the pairs to the output, which appears only when all of it is there. */
static int predict_pairs(npgnn_predictor *predictor, const npgnn_graph *graph, const cli_settings *settings, int spread)
{
    pairs_file in;
    cli_output out;
    if (pairs_open(&in, settings->pairs) != 0)
        return EXIT_FAILED;
    int status = output_open(&out, settings->output);
    if (status == 0) {
        cancel_listen();
        status = score_all(out.file, &in, predictor, graph, settings->raw, spread);
        if (status == 0)
            status = output_commit(&out);
        else
            output_abort(&out);
    }
    pairs_close(&in);
    return status;
}

static int predict(const npgnn_model *model, const npgnn_graph *graph, const cli_settings *settings)
{
    npgnn_predictor *predictor = NULL;
    npgnn_predict_options options = {settings->samples, settings->seed};
    npgnn_env env = {.threads = settings->threads};
    npgnn_options trained;
    npgnn_error err = {0};
    if (npgnn_predictor_new(&predictor, model, graph, &options, &env, &err) != 0)
        return say_error("%s", err.text);
    npgnn_model_options(&trained, model);
    int samples = settings->samples < 0 ? trained.predict_samples : settings->samples;
    int status = predict_pairs(predictor, graph, settings, samples > 0 && !settings->raw);
    npgnn_predictor_free(predictor);
    return status;
}

static int run(const cli_settings *settings)
{
    npgnn_model *model = NULL;
    npgnn_graph *graph = NULL;
    if (!settings->pairs)
        return say_usage("predict", "predict needs --pairs FILE: the pairs of nodes to score, - for standard input");
    int status = apply_model(&model, settings);
    if (status == 0)
        status = apply_load(&graph, model, settings, settings->operands[1]);
    if (status == 0)
        status = predict(model, graph, settings);
    npgnn_graph_free(graph);
    npgnn_model_free(model);
    return status;
}

static const arg_option options[] = {
    SETTING("pairs", 'p', ARG_TEXT, pairs, "FILE|-",
            "The pairs: two node names a line, separated by tabs, commas or blanks (required)."),
    SETTING_CONTEXT,
    SETTING("output", 'o', ARG_TEXT, output, "FILE|-", "Where the results go (default: standard output)."),
    SETTING(
        "samples", 0, ARG_INT, samples, "N",
        "Average over N draws of the latent and add their spread; 0 uses its mean (default: as the model was trained).",
        0, 100000),
    SETTING("seed", 's', ARG_U64, seed, "N", "Seed of those draws (default 1)."),
    SETTING("raw", 0, ARG_FLAG, raw, NULL, "Print the score before the sigmoid instead of the probability."),
    SETTING_THREADS,
};

static const arg_group *own_group(void)
{
    static const arg_group group = GROUP("Options", options);
    return &group;
}

const cli_command cmd_predict = {
    .args =
        {
            .name = "predict",
            .usage = "MODEL DATA --pairs FILE [OPTION...]",
            .summary = "The probability of a link for pairs of nodes.",
            .description =
                "Prints a line per pair: the two names and the probability that they are linked, separated by "
                "tabs. The nodes need features, not links: DATA may be another graph than the model was trained "
                "on, with the same feature columns, and --context tells the model about it. Features are prepared as "
                "they were "
                "for the training.",
            .examples = "  npgnn predict model.safetensors synthetic --pairs pairs.tsv --output scores.tsv\n"
                        "  echo '3 17' | npgnn predict model.safetensors synthetic --pairs - --samples 20\n",
            .operands = {"MODEL", "DATA"},
            .groups = {own_group, settings_data_group},
        },
    .defaults = {.output = "-", .samples = -1, .seed = 1},
    .run = run,
};

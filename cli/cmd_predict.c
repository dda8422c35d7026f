/* npgnn predict: the probability of given pairs, or the best of all. */
#include <stdio.h>
#include <stdlib.h>

#include "apply.h"
#include "cancel.h"
#include "estimate.h"
#include "links.h"
#include "output.h"
#include "pairs_file.h"
#include "recommend.h"
#include "say.h"
#include "settings.h"

/* Pairs scored in one call: few calls for a long file, and memory that does not grow with it. */
enum { CHUNK = 1 << 18 };

typedef struct pairs_chunk {
    npgnn_pair pairs[CHUNK];
    npgnn_prediction links[CHUNK];
    size_t count;
} pairs_chunk;

static void print_chunk(const links_writer *writer, const pairs_chunk *chunk)
{
    for (size_t i = 0; i < chunk->count; i++)
        links_write(writer, &(npgnn_link){chunk->pairs[i], chunk->links[i], 0});
}

/* Scores all pairs of `in`, chunk by chunk. Returns the exit status. */
static int score_all(const links_writer *writer, pairs_file *in, npgnn_predictor *predictor)
{
    npgnn_error err = {0};
    int status;
    pairs_chunk *chunk = malloc(sizeof *chunk);
    if (!chunk)
        return say_error("out of memory");
    for (;;) {
        status = pairs_read(chunk->pairs, &chunk->count, in, writer->graph, CHUNK);
        if (cancel_signal())
            status = cancel_status();
        if (status || chunk->count == 0 || ferror(writer->out))
            break;
        if (npgnn_predictor_run(chunk->links, predictor, chunk->pairs, chunk->count, &err) != 0) {
            status = say_error("%s", err.text);
            break;
        }
        print_chunk(writer, chunk);
    }
    free(chunk);
    return status;
}

static int predict_pairs(const links_writer *writer, npgnn_predictor *predictor, const char *path)
{
    pairs_file in;
    if (pairs_open(&in, path) != 0)
        return EXIT_FAILED;
    int status = score_all(writer, &in, predictor);
    pairs_close(&in);
    return status;
}

/* What was asked for, to the output, which appears only when all of it is there. */
static int write_links(links_writer *writer, npgnn_predictor *predictor, recommend_progress *progress,
                       const cli_settings *settings)
{
    cli_output out;
    int status = output_open(&out, settings->output);
    if (status)
        return status;
    cancel_listen(CANCEL_WITHIN_A_SECOND);
    writer->out = out.file;
    links_begin(writer);
    status = settings->pairs ? predict_pairs(writer, predictor, settings->pairs)
                             : recommend(writer, predictor, progress, settings);
    if (status == 0)
        return output_commit(&out);
    output_abort(&out);
    return status;
}

/* How many draws of z there are: what was asked for, or as the model was trained. */
static int draws_of(const npgnn_model *model, const cli_settings *settings)
{
    npgnn_options trained = {.size = sizeof trained};
    npgnn_model_options(&trained, model, NULL);
    return settings->samples < 0 ? trained.predict_samples : settings->samples;
}

/* ---- what it takes ---- */

typedef struct scoring {
    const npgnn_model *model;
    const npgnn_graph *graph;
    const npgnn_predict_options *options;
    int64_t count; /* of pairs */
} scoring;

static int measure_cost(npgnn_cost *cost, const void *input, const cli_settings *settings, const npgnn_env *env,
                        npgnn_error *err)
{
    const scoring *s = input;
    (void)settings;
    return npgnn_estimate_predict(cost, s->model, s->graph, s->count, s->options, env, err);
}

/* How many pairs a file has; all of them are read, so that what is wrong with them is known now. */
static int count_pairs(int64_t *count, const npgnn_graph *graph, const char *path)
{
    pairs_file in;
    npgnn_pair some[1024];
    size_t got = 0;
    int status = pairs_open(&in, path);
    if (status)
        return status;
    do {
        status = pairs_read(some, &got, &in, graph, sizeof some / sizeof some[0]);
        *count += (int64_t)got;
    } while (status == 0 && got > 0);
    pairs_close(&in);
    return status;
}

static int estimate_prediction(const npgnn_model *model, const npgnn_graph *graph, const npgnn_predict_options *options,
                               const cli_settings *settings)
{
    scoring s = {model, graph, options, 0};
    if (!settings->pairs)
        return recommend_estimate(model, graph, options, settings);
    int status = count_pairs(&s.count, graph, settings->pairs);
    return status ? status : estimate(&(cli_estimate){measure_cost, "pairs", 0, sizeof(pairs_chunk)}, &s, settings);
}

/* ---- the command ---- */

static int predict(const npgnn_model *model, const npgnn_graph *graph, const cli_settings *settings)
{
    npgnn_predictor *predictor = NULL;
    recommend_progress progress = {0};
    npgnn_predict_options options = {.size = sizeof options, settings->samples, settings->seed, settings->link_rate};
    npgnn_env env = recommend_env(&progress, settings);
    npgnn_error err = {0};
    int draws = draws_of(model, settings);
    if (settings->rank == NPGNN_BY_LOW && draws == 0)
        return say_usage("predict", "--rank-by lower-bound needs --samples N: without draws there is no interval");
    if (settings->estimate)
        return estimate_prediction(model, graph, &options, settings);
    if (npgnn_predictor_new(&predictor, model, graph, &options, &env, &err) != 0)
        return say_error("%s", err.text);
    if (!settings->raw)
        apply_warn(model, settings);
    links_writer writer = {.graph = graph,
                           .format = (links_format)settings->format,
                           .raw = settings->raw,
                           .spread = draws > 0 && !settings->raw,
                           .known = !settings->pairs};
    int status = write_links(&writer, predictor, &progress, settings);
    npgnn_predictor_free(predictor);
    return status;
}

/* One of three things is asked for, and the options belong to it. */
static int check(const cli_settings *settings)
{
    int searches = (settings->top > 0) + (settings->top_links > 0);
    if (searches + (settings->pairs != NULL) != 1)
        return say_usage("predict", "predict needs one of --pairs FILE, --top K and --top-links K");
    if (settings->pairs && (settings->from.count > 0 || settings->to.count > 0))
        return say_usage("predict", "--pairs names both nodes: --for, --from and --to are for --top and --top-links");
    return 0;
}

/* *graph gets the new nodes. */
static int extend(npgnn_graph **graph, const char *features)
{
    npgnn_graph *extended = NULL;
    npgnn_error err = {0};
    if (npgnn_graph_extend(&extended, *graph, features, &err) != 0)
        return say_error("%s", err.text);
    npgnn_graph_free(*graph);
    *graph = extended;
    return 0;
}

static int run(const cli_settings *settings)
{
    npgnn_model *model = NULL;
    npgnn_graph *graph = NULL;
    int status = check(settings);
    if (status == 0)
        status = apply_model(&model, settings);
    if (status == 0)
        status = apply_load(&graph, model, settings, settings->operands[1]);
    if (status == 0 && settings->new_features)
        status = extend(&graph, settings->new_features);
    if (status == 0)
        status = predict(model, graph, settings);
    npgnn_graph_free(graph);
    npgnn_model_free(model);
    return status;
}

static const arg_option options[] = {
    SETTING("pairs", 'p', ARG_TEXT, pairs, "FILE|-",
            "Score these pairs: two node names a line, separated by tabs, commas or blanks."),
    SETTING("top", 'k', ARG_INT, top, "K", "Find the K best partners of every node.", 1, 1e9),
    SETTING("top-links", 0, ARG_INT, top_links, "K", "Find the K best links of the whole graph.", 1, 1e9),
    SETTING("for", 0, ARG_PAIR, from, "NODE|FILE",
            "Only partners of this node, or of those in FILE, one a line. May be given several times."),
    SETTING("from", 0, ARG_PAIR, from, "NODE|FILE", "The same: the nodes at the first end."),
    SETTING("to", 0, ARG_PAIR, to, "NODE|FILE", "The nodes at the second end: who may be a partner."),
    SETTING("min-prob", 0, ARG_REAL, min_probability, "P", "Leave out links that are less probable.", 0, 1),
    SETTING(
        "rank-by", 0, ARG_CHOICE, rank, "probability|lower-bound",
        "What is best: the most probable (default), or, for cautious lists, the highest lower end of the interval that "
        "--samples gives."),
    SETTING("exclude", 0, ARG_CHOICE, exclude, "known|none",
            "What --top and --top-links leave out: links that DATA has (default), or nothing."),
    SETTING("new-features", 0, ARG_TEXT, new_features, "FILE",
            "Nodes that DATA does not have: their features, with ids. They can be asked for like any other."),
    SETTING_CONTEXT,
    SETTING("format", 0, ARG_CHOICE, format, LINKS_FORMATS, "How the results are written (default: tsv)."),
    SETTING("output", 'o', ARG_TEXT, output, "FILE|-", "Where the results go (default: standard output)."),
    SETTING("samples", 0, ARG_INT, samples, "N",
            "Average over N draws of the latent, and add the standard deviation and the 95 % interval of the "
            "probability over "
            "them; 0 uses its mean (default: as the model was trained).",
            0, 100000),
    SETTING("seed", 's', ARG_U64, seed, "N", "Seed of those draws (default 1)."),
    SETTING("link-rate", 0, ARG_REAL, link_rate, "R",
            "Share of the pairs asked about that are expected to be links (default: as in the training graph); 0.5 "
            "forgets how rare links are.",
            1e-12, 0.999999),
    SETTING("raw", 0, ARG_FLAG, raw, NULL, "Print the model's score instead of the probability."),
    SETTING_THREADS,
    SETTING("quiet", 'q', ARG_FLAG, quiet, NULL, "Print no progress."),
    SETTING_ESTIMATE,
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
            .usage = "MODEL DATA --pairs FILE|--top K|--top-links K [OPTION...]",
            .summary = "Who will link to whom, and how probable it is.",
            .description =
                "Scores given pairs, or finds the best among all of them. Prints a line per pair: the two names, the "
                "probability that they are linked and, of pairs that it found, 1 where DATA has that link, 0 where "
                "not; "
                "separated by tabs. CSV has a header. The nodes need features, not links: DATA may be another graph "
                "than the model was trained on, with the same feature columns, and --context tells the model about it. "
                "Features are prepared as they were for the training.",
            .examples = "  npgnn predict model.safetensors synthetic --top 5 --for 17\n"
                        "  npgnn predict model.safetensors synthetic --top-links 100 --format csv -o links.csv\n"
                        "  npgnn predict model.safetensors synthetic --pairs pairs.tsv --output scores.tsv\n"
                        "  echo '3 17' | npgnn predict model.safetensors synthetic --pairs - --samples 20\n",
            .operands = {"MODEL", "DATA"},
            .groups = {own_group, settings_data_group},
        },
    .defaults = {.output = "-", .samples = -1, .seed = 1},
    .run = run,
};

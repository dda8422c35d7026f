/* npgnn predict: the probability of given pairs, or the most probable of all pairs. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cancel.h"
#include "comm.h"
#include "estimate.h"
#include "links.h"
#include "message.h"
#include "output.h"
#include "pairs_file.h"
#include "saved_model.h"
#include "settings.h"
#include "source.h"
#include "top.h"

typedef struct predict_settings {
    saved_model_settings model;
    common_settings common;
    const char *method; /* --method, or NULL: MODEL */
    const char *pairs;  /* --pairs; NULL: --top or --top-links */
    top_settings top;
    const char *new_features;
    const char *output;
    int format;  /* a links_format */
    int samples; /* draws of z; negative: as the model was trained */
    uint64_t seed;
    double link_rate; /* 0: the model's */
    int raw, estimate, header, explain;
    npgnn_comm *comm; /* the processes that mpirun has started; NULL: one */
} predict_settings;

/* ---- given pairs ---- */

/* Pairs scored per call: enough that a long file takes few calls, and memory does not grow with the file. */
enum { BATCH = 1 << 18, LINES = 1 << 13 /* written at a time */ };

typedef struct pairs_batch {
    npgnn_pair pairs[BATCH];
    npgnn_prediction predictions[BATCH];
    npgnn_link links[LINES];
} pairs_batch;

/* Writes the pairs of a batch. */
static int write_batch(const links_writer *writer, pairs_batch *batch, size_t count)
{
    int status = 0;
    for (size_t first = 0, size; status == 0 && first < count; first += size) {
        size = count - first < LINES ? count - first : LINES;
        for (size_t i = 0; i < size; i++)
            batch->links[i] = (npgnn_link){batch->pairs[first + i], batch->predictions[first + i], 0};
        status = links_write_all(writer, batch->links, size);
    }
    return status;
}

/* Scores all pairs of a file, batch by batch. Where the pairs come slowly, a batch is what has come. Several processes
 * read the same batches, each scores a part of them, and the first one writes. Returns the exit status. */
static int predict_pairs(const links_writer *writer, const link_source *source, const predict_settings *settings)
{
    pairs_file in;
    npgnn_error err = {0};
    int status = pairs_open(&in, settings->pairs), broken = 0;
    int opened = status == 0;
    in.skip = settings->model.data.load.skip_bad_rows;
    pairs_batch *batch = malloc(sizeof *batch);
    if (!batch)
        status = print_error("out of memory");
    status = comm_settle(settings->comm, status);
    for (size_t count = 1; status == 0 && !broken && count > 0;) {
        broken = pairs_read(batch->pairs, &count, &in, writer->graph, BATCH); /* the pairs before that line count */
        if (cancel_signal())
            status = cancel_status();
        else if (settings->comm && ferror(writer->out))
            status = EXIT_FAILED; /* closing the output reports why */
        status = comm_settle(settings->comm, status);
        /* several processes compare their files to the end: an empty batch, too */
        if (status || (!settings->comm && (count == 0 || ferror(writer->out))))
            break;
        if (source_run(batch->predictions, source, batch->pairs, count, &err) != 0)
            status = print_error("%s", err.text);
        if (status == 0)
            status = write_batch(writer, batch, count);
        /* somebody may wait for the answer before asking again */
        if (status == 0 && count < BATCH && !in.ended && fflush(writer->out) != 0)
            status = errno == EPIPE ? EXIT_FAILED : print_error("cannot write the results: %s", strerror(errno));
        if (settings->comm)
            status = comm_settle(settings->comm, status ? status : broken);
    }
    free(batch);
    if (opened)
        pairs_close(&in);
    if (opened && !settings->common.quiet)
        pairs_note_skipped(&in);
    return status ? status : broken;
}

/* ---- what it will take ---- */

/* The number of pairs in a file. Reads all of them, so that errors in the file are found now. */
static int count_pairs(int64_t *count, const npgnn_graph *graph, const predict_settings *settings)
{
    pairs_file in;
    npgnn_pair some[1024];
    size_t got = 0;
    int status = pairs_open(&in, settings->pairs);
    if (status)
        return status;
    in.skip = settings->model.data.load.skip_bad_rows;
    do {
        status = pairs_read(some, &got, &in, graph, sizeof some / sizeof some[0]);
        *count += (int64_t)got;
    } while (status == 0 && got > 0);
    pairs_close(&in);
    return status;
}

static int estimate(const npgnn_model *model, const npgnn_graph *graph, const npgnn_predict_options *options,
                    const predict_settings *settings)
{
    npgnn_env env = common_env(&settings->common);
    npgnn_cost cost = {.size = sizeof cost};
    npgnn_error err = {0};
    int64_t count = 0;
    if (!settings->pairs)
        return top_estimate(model, graph, options, &settings->top, &settings->common);
    int status = count_pairs(&count, graph, settings);
    if (status)
        return status;
    if (npgnn_estimate_predict(&cost, model, graph, count, options, &env, &err) != 0)
        return print_error("%s", err.text);
    return estimate_report(cost, &(estimate_text){"pairs", 0, sizeof(pairs_batch)}, &settings->common);
}

/* ---- the command ---- */

static void on_notice(void *user, const char *text)
{
    (void)user;
    print_warning("%s", text);
}

/* Writes the links that the settings ask for. */
static int write_links(const links_writer *given, const link_source *source, top_progress *progress,
                       const predict_settings *settings)
{
    cli_output out;
    links_writer writer = *given;
    /* the output file gets its name only when all results are written; of several processes the first one writes */
    int status = comm_settle(settings->comm, output_open(&out, comm_rank() == 0 ? settings->output : "-"));
    if (status)
        return status;
    cancel_listen(CANCEL_WITHIN_A_SECOND);
    writer.out = out.file;
    links_begin(&writer);
    status =
        settings->pairs ? predict_pairs(&writer, source, settings) : top_run(&writer, source, progress, &settings->top);
    if (status == 0)
        return comm_settle(settings->comm, output_commit(&out));
    if (ferror(out.file))
        output_commit(&out); /* says why */
    else
        output_abort(&out);
    return status;
}

static int predict(const npgnn_model *model, const npgnn_graph *graph, const predict_settings *settings)
{
    npgnn_predictor *predictor = NULL;
    top_progress progress = {0};
    npgnn_predict_options options = {
        .size = sizeof options, .samples = settings->samples, .seed = settings->seed, .link_rate = settings->link_rate};
    npgnn_env env = top_env(&progress, &settings->common);
    npgnn_error err = {0};
    npgnn_options trained = {.size = sizeof trained};
    npgnn_model_info info = {.size = sizeof info};
    npgnn_model_options(&trained, model, NULL);
    npgnn_model_describe(&info, model, NULL);
    if (info.across_graphs && !settings->raw) /* it says so where the graph is too small to calibrate on */
        env.log = on_notice;
    int draws = settings->samples < 0 ? trained.predict_samples : settings->samples;
    if (settings->top.rank == NPGNN_BY_LOW && draws == 0)
        return print_usage_error("predict", "--rank-by lower-bound needs --samples N, from which the interval comes");
    if (settings->explain && !info.across_graphs)
        return print_error(
            "%s: --explain needs universal or a model of --preset best: the scores of a network are inner "
            "products of embeddings, whose numbers mean nothing to people",
            settings->model.path);
    if (settings->estimate)
        return estimate(model, graph, &options, settings);
    env.comm = settings->comm;
    /* Of several processes, each one has the evidence of its nodes, and passes over them for every batch of pairs.
     * Pairs that are explained are fetched a few at a time: for these it is kept. */
    if (settings->comm && settings->pairs)
        options.memory = settings->explain ? SIZE_MAX : 1;
    if (npgnn_predictor_new(&predictor, model, graph, &options, &env, &err) != 0)
        return print_error("%s", err.text);
    if (!settings->raw)
        saved_model_warn(model, settings->model.path);
    const links_writer writer = {.graph = graph,
                                 .format = (links_format)settings->format,
                                 .raw = settings->raw,
                                 .spread = draws > 0 && !settings->raw,
                                 .known = !settings->pairs,
                                 .header = settings->header,
                                 .explainer = settings->explain ? predictor : NULL,
                                 .comm = settings->comm};
    const link_source source = {
        .graph = graph, .predictor = predictor, .comm = settings->comm, .retrieves = info.across_graphs};
    int status = write_links(&writer, &source, &progress, settings);
    npgnn_predictor_free(predictor);
    return status;
}

/* The same with --method: scores without probabilities. */
static int predict_by_method(const npgnn_graph *graph, const predict_settings *settings)
{
    top_progress progress = {0};
    const links_writer writer = {.graph = graph,
                                 .format = (links_format)settings->format,
                                 .raw = 1,
                                 .known = !settings->pairs,
                                 .header = settings->header};
    const link_source source = {.graph = graph,
                                .method = {sizeof source.method, settings->method, settings->seed},
                                .env = top_env(&progress, &settings->common)};
    return write_links(&writer, &source, &progress, settings);
}

/* Adds the nodes of --new-features to the graph. */
static int add_nodes(npgnn_graph **graph, const char *features)
{
    npgnn_graph *extended = NULL;
    npgnn_error err = {0};
    if (npgnn_graph_extend(&extended, *graph, features, &err) != 0)
        return print_error("%s", err.text);
    npgnn_graph_free(*graph);
    *graph = extended;
    return 0;
}

/* What does not work in several processes: the option, or NULL. They all read the file of --pairs. */
static const char *not_among_processes(const predict_settings *settings)
{
    struct stat file;
    if (settings->pairs &&
        (strcmp(settings->pairs, "-") == 0 || (stat(settings->pairs, &file) == 0 && !S_ISREG(file.st_mode))))
        return "--pairs with anything but a file";
    return settings->method ? "--method" : settings->estimate ? "--estimate" : NULL;
}

static int run(void *given)
{
    predict_settings *settings = given;
    const top_settings *top = &settings->top;
    npgnn_model *model = NULL;
    npgnn_graph *graph = NULL;
    if ((settings->pairs != NULL) + (top->per_node > 0) + (top->links > 0) != 1)
        return print_usage_error("predict", "give exactly one of --pairs FILE, --top K and --top-links K");
    if (settings->method && settings->model.data.name)
        return print_usage_error("predict", "--method replaces MODEL: leave '%s' out", settings->model.path);
    const char *alone = comm_ranks() > 1 ? not_among_processes(settings) : NULL;
    if (alone)
        return comm_refuse(alone);
    int status = comm_open(&settings->comm, &settings->common, &cmd_predict, settings);
    if (status != 0)
        return status;
    npgnn_env env = common_noting_env(&settings->common);
    if (settings->method) {
        char who[128];
        snprintf(who, sizeof who, "the method %s", settings->method);
        if (!(npgnn_method_uses(settings->method) & NPGNN_USES_WEIGHTS))
            data_note_unweighted(&settings->model.data, who, &env);
        data_settings data = settings->model.data;
        data.name = settings->model.path; /* the only operand */
        status = data_load(&graph, &data, &env);
    } else {
        status = saved_model_load(&model, &graph, &settings->model, &env);
    }
    if (status == 0 && settings->new_features)
        status = add_nodes(&graph, settings->new_features);
    status = comm_settle(settings->comm, status);
    if (status == 0)
        status = settings->method ? predict_by_method(graph, settings) : predict(model, graph, settings);
    npgnn_graph_free(graph);
    npgnn_model_free(model);
    return comm_close(settings->comm, status);
}

#define AT(member) offsetof(predict_settings, member)
static const arg_option options[] = {
    OPTION("pairs", 'p', ARG_TEXT, AT(pairs), "FILE|-",
           "Score the pairs in FILE: two node names per line, separated by a tab, a comma, a semicolon or spaces."),
    OPTION("top", 'k', ARG_INT, AT(top.per_node), "K", "Find the K best partners of every node.", 1, 1e9),
    OPTION("top-links", 0, ARG_INT, AT(top.links), "K", "Find the K best links of the whole graph.", 1, 1e9),
    OPTION("for", 0, ARG_PAIR, AT(top.from), "NODE|FILE",
           "Search partners of this node only, or of the nodes in FILE, one name per line. May be repeated."),
    OPTION("from", 0, ARG_PAIR, AT(top.from), "NODE|FILE", "Same as --for: the first node of a link."),
    OPTION("to", 0, ARG_PAIR, AT(top.to), "NODE|FILE",
           "Consider only these nodes as partners: the second node of a link. May be repeated."),
    OPTION("min-prob", 0, ARG_REAL, AT(top.min_probability), "P", "Omit links with a probability below P.", 0, 1),
    OPTION("rank-by", 0, ARG_CHOICE, AT(top.rank), "probability|lower-bound",
           "Rank links by their probability (default), or by the lower bound of the interval that --samples gives."),
    OPTION("exclude", 0, ARG_CHOICE, AT(top.exclude), "known|none",
           "Links that --top and --top-links omit: the links of DATA (default), or none."),
    OPTION("search", 0, ARG_CHOICE, AT(top.search), "auto|exact|candidates",
           "Score all pairs (exact), or retrieve candidates for each node and score these: for universal and models of "
           "--preset best. A note then says what share of the best the candidates contain. auto (default): exact up to "
           "2,147,483,648 pairs, 46,340 nodes with each other."),
    OPTION(
        "candidates", 0, ARG_INT, AT(top.candidates), "N",
        "Retrieve N candidates per node, also in a small graph (default 256, in large ones). More find more, and take "
        "longer.",
        1, 1e6),
    OPTION("new-features", 0, ARG_TEXT, AT(new_features), "FILE",
           "Add new nodes to DATA: FILE has their ids and features. They can be used like any other node."),
    OPTION_CONTEXT(AT(model.context)),
    OPTION("explain", 0, ARG_FLAG, AT(explain), NULL,
           "Add a column with the reasons: facts about the two nodes, each with its contribution to the log-odds of a "
           "link. With --format jsonl: all contributions, which add up. For universal and models of --preset best."),
    OPTION("format", 0, ARG_CHOICE, AT(format), LINKS_FORMATS, "Output format (default tsv)."),
    OPTION("header", 0, ARG_FLAG, AT(header), NULL, "Begin TSV with a line of column names. CSV always has one."),
    OPTION("output", 'o', ARG_TEXT, AT(output), "FILE|-", "Output file (default: standard output)."),
    OPTION("samples", 0, ARG_INT, AT(samples), "N",
           "Average over N draws of what is not known (the latent variable and, of universal and best, what other "
           "examples would have told), and add three columns: the standard deviation of the probability over the draws "
           "and the bounds of its 95 % interval. 0: no draws (default: as the model was trained).",
           0, 1000),
    OPTION("seed", 's', ARG_U64, AT(seed), "N",
           "Seed of what is random: the draws of --samples, the links that universal sets aside to learn what kind of "
           "graph "
           "it is, and methods such as deepwalk (default 1)."),
    OPTION("link-rate", 0, ARG_REAL, AT(link_rate), "R",
           "Expected fraction of links among the pairs that are scored: of unlinked pairs, those missing / all of them "
           "(default: as in the graph, which is usually far more than are missing). 0.5: links and non-links are "
           "equally likely.",
           1e-12, 0.999999),
    OPTION("raw", 0, ARG_FLAG, AT(raw), NULL, "Print the score of the model instead of the probability."),
    OPTION_THREADS(AT(common.threads)),
    OPTION_QUIET(AT(common.quiet)),
    OPTION_ESTIMATE(AT(estimate)),
    OPTIONS_END,
};

static int is_method(char *by, size_t size, const void *part, const arg_option *option)
{
    const predict_settings *settings = part;
    (void)option;
    snprintf(by, size, "by --method %s", settings->method ? settings->method : "");
    return settings->method != NULL;
}

static int is_pairs(char *by, size_t size, const void *part, const arg_option *option)
{
    (void)option;
    snprintf(by, size, "with --pairs");
    return ((const predict_settings *)part)->pairs != NULL;
}

static int is_exact(char *by, size_t size, const void *part, const arg_option *option)
{
    (void)option;
    snprintf(by, size, "with --search exact");
    return ((const predict_settings *)part)->top.search == NPGNN_SEARCH_EXACT;
}

static int is_jsonl(char *by, size_t size, const void *part, const arg_option *option)
{
    (void)option;
    snprintf(by, size, "by --format jsonl");
    return ((const predict_settings *)part)->format == LINKS_JSONL;
}

/* Whether only scores come out, and nothing but them decides which. The mean probability of several draws may rank
 * otherwise. */
static int is_raw(char *by, size_t size, const void *part, const arg_option *option)
{
    const predict_settings *settings = part;
    (void)option;
    snprintf(by, size, "with --raw");
    return settings->raw && settings->top.min_probability == 0 && (settings->pairs || settings->samples <= 0);
}

static const arg_rule rules[] = {
    {.options = "min-prob|rank-by|samples|link-rate",
     .unused = is_method,
     .hint = "it gives scores, which are not probabilities"},
    {.options = "raw", .unused = is_method, .hint = "it always gives scores"},
    {.options = "explain|context|estimate|search|candidates", .unused = is_method, .hint = "it is for models"},
    {.options = "for|from|to|min-prob|rank-by|exclude|search|candidates",
     .unused = is_pairs,
     .hint = "it is for --top and --top-links"},
    {.options = "candidates", .unused = is_exact, .hint = "it scores all pairs"},
    {.options = "link-rate", .unused = is_raw, .hint = "scores do not depend on it"},
    {.options = "header", .unused = is_jsonl, .hint = "every line names its fields"},
    {.options = NULL},
};

const cli_command cmd_predict = {
    .args =
        {
            .name = "predict",
            .usage = "MODEL|--method METHOD DATA --pairs FILE|--top K|--top-links K [OPTION...]",
            .summary = "Predict links: score given pairs, or find the most probable links.",
            .description =
                "Scores given pairs of nodes, or finds the most probable links among all pairs. MODEL is a file, or "
                "universal: the model that comes with the program, which needs no training on DATA. Prints one line "
                "per "
                "pair: the two node names and the probability of a link. For links that it found, a last column says "
                "whether DATA already has the link (1) or not (0). Columns are separated by tabs. "
                "Nodes need features, but no links (universal needs either). DATA may be another graph than the "
                "training graph, with the same "
                "feature columns; --context then tells the model about that graph. Features are prepared as for the "
                "training. 'mpirun -n P npgnn predict' divides the pairs among P processes; the result is the same.",
            .examples = "  npgnn predict universal my-graph --top 10\n"
                        "  npgnn predict universal my-graph --top 5 --for anna --explain\n"
                        "  npgnn predict --method adamic-adar my-graph --top 10\n"
                        "  npgnn predict model.safetensors synthetic --top 5 --for 17\n"
                        "  npgnn predict model.safetensors synthetic --top-links 100 --format csv -o links.csv\n"
                        "  npgnn predict model.safetensors synthetic --pairs pairs.tsv --output scores.tsv\n"
                        "  echo '3 17' | npgnn predict model.safetensors synthetic --pairs - --samples 20\n",
            .operands = {{"MODEL", AT(model.path), "method"}, {"DATA", AT(model.data.name), "edges|method"}},
            .groups = {{"Options", options, 0}, HEURISTIC_GROUP(AT(method)), DATA_GROUP(AT(model.data))},
            .rules = rules,
        },
    .takes_processes = 1,
    .defaults = &(const predict_settings){.output = "-", .samples = -1, .seed = 1},
    .size = sizeof(predict_settings),
    .run = run,
};

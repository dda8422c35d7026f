/* npgnn test: tests a saved model on labelled pairs of the user. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "message.h"
#include "pairs_file.h"
#include "reliability.h"
#include "report.h"
#include "saved_model.h"
#include "settings.h"

typedef struct test_settings {
    saved_model_settings model;
    common_settings common;
    const char *pairs;
    int negatives; /* an npgnn_negatives */
    double negative_ratio;
    int keep_known;
    double link_rate; /* 0: the model's */
    int bootstrap;
    int samples; /* draws of z; negative: as the model was trained */
    uint64_t seed;
    npgnn_comm *comm; /* the processes that mpirun has started; NULL: one */
} test_settings;

/* What a reader of the metrics has to know first. */
static void print_warnings(const npgnn_test_counts *counts, const test_settings *settings)
{
    const char *data = data_name(&settings->model.data);
    const char *links = counts->known_links == 1 ? "tested link is a link" : "tested links are links";
    if (counts->known_links > 0 && settings->keep_known)
        print_warning("%zu %s of %s, visible during scoring", counts->known_links, links, data);
    else if (counts->known_links > 0)
        print_warning("%zu %s of %s: removed before scoring, but the model may have been trained on %s",
                      counts->known_links, links, data, counts->known_links == 1 ? "it" : "them");
    if (counts->known_non_links > 0)
        print_warning("%zu %s of %s", counts->known_non_links,
                      counts->known_non_links == 1 ? "pair is labelled 0 but is a link"
                                                   : "pairs are labelled 0 but are links",
                      data);
}

static void print_metric(const char *title, double value, const double interval[2])
{
    printf("%-12s%8.2f", title, 100 * value);
    if (interval && !isnan(interval[0]))
        printf("  (95 %%: %.2f to %.2f)", 100 * interval[0], 100 * interval[1]);
    putchar('\n');
}

static void print_result(const npgnn_eval_run *run, const npgnn_test_counts *counts)
{
    printf("%zu link%s, %zu non-link%s%s; metrics in percent\n", counts->links, PLURAL(counts->links),
           counts->non_links, PLURAL(counts->non_links), counts->drawn ? " (sampled)" : "");
    print_metric("AUC", run->auc, run->auc_interval);
    print_metric("AP", run->ap, run->ap_interval);
    print_metric("MRR", run->mrr, NULL);
    print_metric("hits@1", run->hits1, NULL);
    print_metric("hits@10", run->hits10, NULL);
    print_metric("hits@100", run->hits100, NULL);
    if (!isnan(run->hard_mrr)) {
        print_metric("hard MRR", run->hard_mrr, NULL);
        print_metric("hard @1", run->hard_hits1, NULL);
        print_metric("hard @10", run->hard_hits10, NULL);
        print_metric("hard@100", run->hard_hits100, NULL);
    }
    reliability_print(stdout, &run->calibration);
}

static json_t *result_json(const npgnn_eval_run *run, const npgnn_test_counts *counts, const test_settings *settings)
{
    static const report_column columns[] = {COLUMN_AUC,         COLUMN_AP,          COLUMN_MRR,      COLUMN_HITS1,
                                            COLUMN_HITS10,      COLUMN_HITS100,     COLUMN_HARD_MRR, COLUMN_HARD_HITS1,
                                            COLUMN_HARD_HITS10, COLUMN_HARD_HITS100};
    json_t *json = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b}", "model", settings->model.path, "dataset",
                             data_name(&settings->model.data), "links", (json_int_t)counts->links, "non_links",
                             (json_int_t)counts->non_links, "drawn", (json_int_t)counts->drawn, "known_links",
                             (json_int_t)counts->known_links, "known_non_links", (json_int_t)counts->known_non_links,
                             "keep_known", settings->keep_known);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        json_object_set_new(json, report_name(columns[i]), report_real(report_value(run, columns[i])));
    json_object_set_new(json, "interval", report_interval(run));
    json_object_set_new(json, "calibration", reliability_json(&run->calibration));
    return json;
}

static int test_pairs(const npgnn_model *model, const npgnn_graph *graph, const labelled_pairs *pairs,
                      const test_settings *settings, const npgnn_env *env)
{
    npgnn_error err = {0};
    npgnn_eval_run run = {.size = sizeof run};
    npgnn_test_counts counts = {.size = sizeof counts};
    npgnn_test_options options = {.size = sizeof options,
                                  .negatives = (npgnn_negatives)settings->negatives,
                                  .negative_ratio = settings->negative_ratio,
                                  .keep_known = settings->keep_known,
                                  .samples = settings->samples,
                                  .seed = settings->seed,
                                  .link_rate = settings->link_rate,
                                  .bootstrap = settings->bootstrap};
    if (npgnn_test(&run, &counts, model, graph, pairs->pairs, pairs->positives, pairs->count, &options, env, &err) != 0)
        return print_error("%s", err.text);
    if (comm_rank() > 0)
        return EXIT_DONE;
    if (!settings->common.quiet) {
        print_warnings(&counts, settings);
        saved_model_warn(model, settings->model.path);
    }
    if (settings->common.json)
        return report_write(result_json(&run, &counts, settings), settings->common.json);
    print_result(&run, &counts);
    return EXIT_DONE;
}

static int run(void *given)
{
    test_settings *settings = given;
    npgnn_model *model = NULL;
    npgnn_graph *graph = NULL;
    labelled_pairs pairs = {0};
    if (!settings->pairs)
        return print_usage_error("test", "missing option --pairs FILE: the labelled pairs, - for standard input");
    if (comm_ranks() > 1 && strcmp(settings->pairs, "-") == 0)
        return comm_refuse("--pairs -");
    int status = comm_open(&settings->comm, &settings->common, &cmd_test, settings);
    if (status != 0)
        return status;
    npgnn_env env = common_noting_env(&settings->common);
    status = saved_model_load(&model, &graph, &settings->model, &env);
    if (status == 0)
        status = pairs_read_labelled(&pairs, settings->pairs, graph, settings->model.data.load.skip_bad_rows,
                                     settings->common.quiet);
    if (status == 0 && settings->negative_ratio > 0 && pairs.positives < pairs.count)
        status = print_usage_error("test", "--negative-ratio is not used with labelled pairs: they have non-links");
    status = comm_settle(settings->comm, status);
    env.comm = settings->comm;
    if (status == 0)
        status = test_pairs(model, graph, &pairs, settings, &env);
    free(pairs.pairs);
    free(pairs.lines);
    npgnn_graph_free(graph);
    npgnn_model_free(model);
    return comm_close(settings->comm, status);
}

#define AT(member) offsetof(test_settings, member)
static const arg_option options[] = {
    OPTION(
        "pairs", 'p', ARG_TEXT, AT(pairs), "FILE|-",
        "The pairs (required): per line two node names and a label, 1 for a link or 0 for a non-link, separated by "
        "tabs, commas, semicolons or spaces. Without labels all pairs are links, and as many non-links are sampled."),
    OPTION("negatives", 0, ARG_CHOICE, AT(negatives), "uniform|hard",
           "Negatives for ranking. uniform: the non-links of the pairs; hard: in addition 500 per link that resemble "
           "links (default uniform)."),
    OPTION("negative-ratio", 0, ARG_REAL, AT(negative_ratio), "R", "Non-links that are sampled per link (default 1).",
           1, 1e6),
    OPTION("keep-known", 0, ARG_FLAG, AT(keep_known), NULL,
           "Keep tested links that are in DATA. By default they are removed before scoring."),
    OPTION("link-rate", 0, ARG_REAL, AT(link_rate), "R",
           "Fraction of links for which calibration is measured (default: as in the training graph).", 1e-12, 0.999999),
    OPTION("bootstrap", 0, ARG_INT, AT(bootstrap), "N",
           "Print 95 % intervals of AUC and AP from N bootstrap resamples of the pairs; 1000 is usual (default 0: no "
           "intervals).",
           0, 1000000),
    OPTION("samples", 0, ARG_INT, AT(samples), "N",
           "Average over N draws of the latent variable. 0: use its mean (default: as the model was trained).", 0,
           1000),
    OPTION_CONTEXT(AT(model.context)),
    OPTION("seed", 's', ARG_U64, AT(seed), "N", "Seed of all random numbers (default 1)."),
    OPTIONS_END,
};

const cli_command cmd_test = {
    .args =
        {
            .name = "test",
            .usage = "MODEL DATA --pairs FILE [OPTION...]",
            .summary = "Test a saved model on labelled pairs.",
            .description =
                "Measures how well a saved model ranks the links among the given pairs above the non-links (AUC, AP, "
                "MRR, hits@k) and how well its probabilities are calibrated: the expected calibration error, a table "
                "of predicted and observed frequencies, and the precision among the most probable pairs. 'mpirun -n P "
                "npgnn test' divides the pairs among P processes; the result is the same.",
            .examples =
                "  npgnn test model.safetensors synthetic --pairs labelled.tsv\n"
                "  npgnn test model.safetensors data/ --pairs new-links.tsv --negatives hard --json result.json\n",
            .operands = {MODEL_OPERAND(AT(model.path)), DATA_OPERAND(AT(model.data.name))},
            .groups = {{"Options", options, 0}, DATA_GROUP(AT(model.data)), COMMON_GROUP(AT(common))},
        },
    .takes_processes = 1,
    .defaults = &(const test_settings){.samples = -1, .seed = 1},
    .size = sizeof(test_settings),
    .run = run,
};

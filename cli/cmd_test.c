/* npgnn test: a saved model on pairs of one's own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apply.h"
#include "pairs_file.h"
#include "reliability.h"
#include "report.h"
#include "say.h"
#include "settings.h"

/* What a careful reader of the figures has to know first. */
static void print_notices(const npgnn_test_counts *counts, const cli_settings *settings)
{
    const char *data = settings_dataset(settings, settings->operands[1]);
    const char *what = settings->keep_known
                           ? "they were known when they were scored"
                           : "they were taken out before scoring, but the model may have learnt from them";
    if (counts->known_links > 0)
        say_error("%zu of the links are links of %s: %s", counts->known_links, data, what);
    if (counts->known_non_links > 0)
        say_error("%zu pairs are labelled 0 but are links of %s", counts->known_non_links, data);
}

static void print_figure(const char *title, double value, const double interval[2])
{
    printf("%-12s%8.2f", title, 100 * value);
    if (interval && !isnan(interval[0]))
        printf("  (95 %%: %.2f to %.2f)", 100 * interval[0], 100 * interval[1]);
    putchar('\n');
}

static void print_result(const npgnn_eval_run *run, const npgnn_test_counts *counts)
{
    printf("%zu links, %zu non-links%s (percent)\n", counts->links, counts->non_links, counts->drawn ? ", drawn" : "");
    print_figure("AUC", run->auc, run->auc_interval);
    print_figure("AP", run->ap, run->ap_interval);
    print_figure("MRR", run->mrr, NULL);
    print_figure("hits@1", run->hits1, NULL);
    print_figure("hits@10", run->hits10, NULL);
    print_figure("hits@100", run->hits100, NULL);
    if (!isnan(run->hard_mrr)) {
        print_figure("hard MRR", run->hard_mrr, NULL);
        print_figure("hard @1", run->hard_hits1, NULL);
        print_figure("hard @10", run->hard_hits10, NULL);
        print_figure("hard@100", run->hard_hits100, NULL);
    }
    reliability_print(stdout, &run->calibration);
}

static json_t *result_json(const npgnn_eval_run *run, const npgnn_test_counts *counts, const cli_settings *settings)
{
    json_t *json = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b}", "model", settings->operands[0], "dataset",
                             settings_dataset(settings, settings->operands[1]), "links", (json_int_t)counts->links,
                             "non_links", (json_int_t)counts->non_links, "drawn", (json_int_t)counts->drawn,
                             "known_links", (json_int_t)counts->known_links, "known_non_links",
                             (json_int_t)counts->known_non_links, "keep_known", settings->keep_known);
    static const report_column columns[] = {COLUMN_AUC,         COLUMN_AP,          COLUMN_MRR,      COLUMN_HITS1,
                                            COLUMN_HITS10,      COLUMN_HITS100,     COLUMN_HARD_MRR, COLUMN_HARD_HITS1,
                                            COLUMN_HARD_HITS10, COLUMN_HARD_HITS100};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        json_object_set_new(json, report_name(columns[i]), report_real(report_value(run, columns[i])));
    json_object_set_new(json, "interval", report_interval(run));
    json_object_set_new(json, "calibration", reliability_json(&run->calibration));
    return json;
}

static int test_pairs(const npgnn_model *model, const npgnn_graph *graph, const labelled_pairs *pairs,
                      const cli_settings *settings)
{
    npgnn_env env = {.size = sizeof env, .threads = settings->threads};
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
    if (npgnn_test(&run, &counts, model, graph, pairs->pairs, pairs->positives, pairs->count, &options, &env, &err) !=
        0)
        return say_error("%s", err.text);
    if (!settings->quiet) {
        print_notices(&counts, settings);
        apply_warn(model, settings);
    }
    if (settings->json)
        return report_write(result_json(&run, &counts, settings), settings->json);
    print_result(&run, &counts);
    return EXIT_DONE;
}

static int run(const cli_settings *settings)
{
    npgnn_model *model = NULL;
    npgnn_graph *graph = NULL;
    labelled_pairs pairs = {0};
    if (!settings->pairs)
        return say_usage("test", "test needs --pairs FILE: the pairs of nodes to judge by, - for standard input");
    int status = apply_model(&model, settings);
    if (status == 0)
        status = apply_load(&graph, model, settings, settings->operands[1]);
    if (status == 0)
        status = pairs_read_labelled(&pairs, settings->pairs, graph);
    if (status == 0)
        status = test_pairs(model, graph, &pairs, settings);
    free(pairs.pairs);
    npgnn_graph_free(graph);
    npgnn_model_free(model);
    return status;
}

static const arg_option options[] = {
    SETTING("pairs", 'p', ARG_TEXT, pairs, "FILE|-",
            "The pairs: two node names a line and 1 for a link or 0 for none, separated by tabs, commas or blanks. "
            "Without that third column all are links, and as many non-links are drawn (required)."),
    SETTING(
        "negatives", 0, ARG_CHOICE, negatives, "uniform|hard",
        "What links are ranked against: the non-links or, besides, 500 each that look like links (default uniform)."),
    SETTING("negative-ratio", 0, ARG_REAL, negative_ratio, "R", "Non-links drawn for each link (default 1).", 1, 1e6),
    SETTING("keep-known", 0, ARG_FLAG, keep_known, NULL,
            "Leave tested links in DATA that are there; otherwise they are taken out before anything is scored."),
    SETTING("link-rate", 0, ARG_REAL, link_rate, "R",
            "Share of links that calibration is measured at (default: as in the training graph).", 1e-12, 0.999999),
    SETTING("bootstrap", 0, ARG_INT, bootstrap, "N",
            "95 % intervals of AUC and AP from N resamples of the pairs, 1000 being usual (default 0: none).", 0,
            1000000),
    SETTING("samples", 0, ARG_INT, samples, "N",
            "Average over N draws of the latent; 0 uses its mean (default: as the model was trained).", 0, 100000),
    SETTING_CONTEXT,
    SETTING("seed", 's', ARG_U64, seed, "N", "Seed of all that is drawn (default 1)."),
};

static const arg_group *own_group(void)
{
    static const arg_group group = GROUP("Options", options);
    return &group;
}

const cli_command cmd_test = {
    .args =
        {
            .name = "test",
            .usage = "MODEL DATA --pairs FILE [OPTION...]",
            .summary = "Judge a saved model on pairs of one's own.",
            .description =
                "Measures how well a saved model tells the links among the pairs from the others (AUC, AP, MRR, "
                "hits@k), "
                "and whether its probabilities are true: the calibration error, a table of what was predicted "
                "and what was found, and the precision in the most likely pairs.",
            .examples =
                "  npgnn test model.safetensors synthetic --pairs labelled.tsv\n"
                "  npgnn test model.safetensors data/ --pairs new-links.tsv --negatives hard --json result.json\n",
            .operands = {"MODEL", "DATA"},
            .groups = {own_group, settings_data_group, settings_common_group},
        },
    .defaults = {.samples = -1, .seed = 1},
    .run = run,
};

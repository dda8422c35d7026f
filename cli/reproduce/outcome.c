/* Reads the results of the cells, compares them with the paper, and prints tables or JSON. */
#include "outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"
#include "message.h"
#include "plan_jobs.h"

static const double MARGIN = 0.3; /* percentage points: a smaller difference does not count */

/* ---- reading ---- */

static void add_run(cell_outcome *outcome, const json_t *result)
{
    const json_t *seed = json_array_get(json_object_get(result, "seeds"), 0);
    json_int_t peak = json_integer_value(json_object_get(result, "peak_rss_bytes"));
    if (outcome->count == 0)
        outcome->curves = json_incref(json_object_get(seed, "curves"));
    report_read_run(&outcome->runs[outcome->count++], seed);
    if (peak > outcome->peak_bytes)
        outcome->peak_bytes = peak;
}

int outcome_load(cell_outcome *outcome, const cli_plan *plan, const plan_cell *cell)
{
    const reproduce_settings *settings = plan->settings;
    memset(outcome, 0, sizeof *outcome);
    outcome->cell = cell;
    /* the paper has no results for variants; best and universal are compared with its model */
    const char *method = strcmp(cell->row->method, UNIVERSAL) == 0 ? "npgnn" : cell->row->method;
    if (!cell->row->key)
        outcome->paper = paper_find(cell->dataset->name, method, cell->row->protocol, cell->row->percent);
    outcome->runs = calloc((size_t)settings->seeds, sizeof *outcome->runs);
    if (!outcome->runs)
        return print_error("out of memory");
    for (int s = 0; s < settings->seeds; s++) {
        char path[PLAN_PATH];
        plan_result_path(path, plan, cell, settings->seed + (uint64_t)s);
        json_t *result = plan_load_result(path);
        if (result)
            add_run(outcome, result);
        json_decref(result);
    }
    return 0;
}

void outcome_free(cell_outcome *outcome)
{
    json_decref(outcome->curves);
    free(outcome->runs);
}

/* ---- comparison with the paper ---- */

/* Percentage points above the paper. */
static double difference(const cell_outcome *outcome, report_column column)
{
    double paper = column == COLUMN_AUC ? outcome->paper->auc : outcome->paper->ap;
    return 100 * report_summary(outcome->runs, outcome->count, column).mean - paper;
}

const char *outcome_verdict(const cell_outcome *outcome)
{
    if (!outcome->paper || outcome->count == 0)
        return "-";
    double auc = difference(outcome, COLUMN_AUC), ap = difference(outcome, COLUMN_AP);
    if (auc > MARGIN && ap > MARGIN)
        return "above";
    return auc >= -MARGIN && ap >= -MARGIN ? "reached" : "below";
}

void outcome_label(char *label, size_t size, const cell_outcome *outcome)
{
    const plan_row *row = outcome->cell->row;
    const char *name = row->variant ? row->variant : outcome->cell->method;
    if (row->percent)
        snprintf(label, size, "%d %% of nodes: %s", row->percent, name);
    else if (row->table == TABLE_ABLATION)
        snprintf(label, size, "%s: %s", evaluate_protocol_name(row->protocol), name);
    else
        snprintf(label, size, "%s%s", name, row->authors_split ? ", authors' split" : "");
}

/* ---- tables ---- */

static void print_heading(FILE *out, const cell_outcome *outcome, const cli_plan *plan)
{
    const plan_dataset *dataset = outcome->cell->dataset;
    const plan_row *row = outcome->cell->row;
    fprintf(out, "%s: %s, %d nodes, %lld edges; mean and standard deviation of %d seed%s, in percent\n",
            row->table == TABLE_ABLATION ? plan_table_name(row->table) : evaluate_protocol_name(row->protocol),
            dataset->name, (int)dataset->info.nodes, (long long)dataset->info.edges, plan->settings->seeds,
            plan->settings->seeds == 1 ? "" : "s");
    fprintf(out, "%-34s  %6s %5s  %6s %5s  %11s  %13s  %-7s  %5s  %8s  %6s\n", "", "AUC", "sd", "AP", "sd", "paper",
            "difference", "verdict", "seeds", "seconds", "MiB");
}

static void print_stats(FILE *out, const cell_outcome *outcome, report_column column)
{
    report_stats stats = report_summary(outcome->runs, outcome->count, column);
    fprintf(out, "  %6.2f ", 100 * stats.mean);
    if (isnan(stats.std))
        fprintf(out, "%5s", "-");
    else
        fprintf(out, "%5.2f", 100 * stats.std);
}

static void print_row(FILE *out, const cell_outcome *outcome)
{
    char label[80];
    outcome_label(label, sizeof label, outcome);
    fprintf(out, "%-34s", label);
    if (outcome->count == 0) {
        fprintf(out, "  not finished\n");
        return;
    }
    print_stats(out, outcome, COLUMN_AUC);
    print_stats(out, outcome, COLUMN_AP);
    if (outcome->paper)
        fprintf(out, "  %4.1f / %4.1f  %+5.1f / %+5.1f", outcome->paper->auc, outcome->paper->ap,
                difference(outcome, COLUMN_AUC), difference(outcome, COLUMN_AP));
    else
        fprintf(out, "  %11s  %13s", "-", "-");
    fprintf(out, "  %-7s  %5d  %8.2f  %6.1f\n", outcome_verdict(outcome), outcome->count,
            report_summary(outcome->runs, outcome->count, COLUMN_SECONDS).mean,
            (double)outcome->peak_bytes / (1024 * 1024));
}

static int same_block(const cell_outcome *a, const cell_outcome *b)
{
    return a->cell->row->table == b->cell->row->table && a->cell->dataset == b->cell->dataset;
}

void outcome_print(FILE *out, const cell_outcome *outcomes, int count, const cli_plan *plan)
{
    for (int i = 0; i < count; i++) {
        int first = i == 0 || !same_block(&outcomes[i - 1], &outcomes[i]);
        if (first && i > 0)
            fputc('\n', out);
        if (first)
            print_heading(out, &outcomes[i], plan);
        print_row(out, &outcomes[i]);
    }
}

/* ---- JSON ---- */

static json_t *pair_json(double auc, double ap)
{
    return json_pack("{s:o, s:o}", "auc", report_real(auc), "ap", report_real(ap));
}

static json_t *cell_json(const cell_outcome *outcome, int curves)
{
    const plan_row *row = outcome->cell->row;
    char label[80];
    outcome_label(label, sizeof label, outcome);
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:s, s:o, s:o, s:i}", "table",
                             plan_table_name(row->table), "dataset", outcome->cell->dataset->name, "label", label,
                             "method", outcome->cell->method, "protocol", evaluate_protocol_name(row->protocol),
                             "variant", row->variant, "split", row->authors_split ? "authors" : "per seed",
                             "train_nodes", row->percent ? json_real(row->percent / 100.0) : json_null(), "config",
                             report_options(&outcome->cell->options), "n", outcome->count);
    if (outcome->count > 0)
        json_object_update_new(json, report_runs(outcome->runs, outcome->count));
    if (outcome->paper) /* as fractions of 1, like the measured values */
        json_object_set_new(json, "paper", pair_json(outcome->paper->auc / 100, outcome->paper->ap / 100));
    if (outcome->paper && outcome->count > 0)
        json_object_set_new(json, "difference",
                            pair_json(difference(outcome, COLUMN_AUC) / 100, difference(outcome, COLUMN_AP) / 100));
    json_object_set_new(json, "verdict", json_string(outcome_verdict(outcome)));
    json_object_set_new(json, "peak_rss_bytes", json_integer(outcome->peak_bytes));
    if (curves && outcome->curves)
        json_object_set(json, "curves", outcome->curves);
    return json;
}

static json_t *dataset_json(const plan_dataset *dataset)
{
    return json_pack("{s:s, s:s, s:i, s:I, s:i, s:i, s:o}", "name", dataset->name, "data", dataset->data, "nodes",
                     dataset->info.nodes, "edges", (json_int_t)dataset->info.edges, "features", dataset->info.columns,
                     "classes", dataset->info.classes, "fingerprint", report_hash(dataset->info.fingerprint));
}

json_t *outcome_json(const cell_outcome *outcomes, int count, const cli_plan *plan, int curves)
{
    json_t *datasets = json_array(), *cells = json_array();
    int missing = 0;
    for (int d = 0; d < plan->dataset_count; d++)
        json_array_append_new(datasets, dataset_json(&plan->datasets[d]));
    for (int i = 0; i < count; i++) {
        json_array_append_new(cells, cell_json(&outcomes[i], curves));
        missing += plan->settings->seeds - outcomes[i].count;
    }
    return json_pack("{s:s, s:i, s:I, s:i, s:o, s:O, s:o}", "version", npgnn_version(), "seeds", plan->settings->seeds,
                     "first_seed", (json_int_t)plan->settings->seed, "missing", missing, "datasets", datasets, "notes",
                     plan->notes, "cells", cells);
}

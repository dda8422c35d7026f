/* Tables and JSON of evaluation results. */
#define _DEFAULT_SOURCE
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "json_text.h"
#include "message.h"
#include "output.h"
#include "reliability.h"

/* name: in JSON; title: in tables; scale: in tables, fractions are shown in percent. */
#define FRACTION(title, field)                                                                                         \
    {                                                                                                                  \
#field, title, 100, offsetof(npgnn_eval_run, field)                                                            \
    }
static const struct {
    const char *name, *title;
    double scale;
    size_t offset;
} columns[COLUMNS] = {
    [COLUMN_AUC] = FRACTION("AUC", auc),
    [COLUMN_AP] = FRACTION("AP", ap),
    [COLUMN_DEGREE_AUC] = FRACTION("deg. AUC", degree_auc),
    [COLUMN_MRR] = FRACTION("MRR", mrr),
    [COLUMN_HITS1] = FRACTION("hits@1", hits1),
    [COLUMN_HITS10] = FRACTION("hits@10", hits10),
    [COLUMN_HITS100] = FRACTION("hits@100", hits100),
    [COLUMN_HARD_MRR] = FRACTION("hard MRR", hard_mrr),
    [COLUMN_HARD_HITS1] = FRACTION("hard @1", hard_hits1),
    [COLUMN_HARD_HITS10] = FRACTION("hard @10", hard_hits10),
    [COLUMN_HARD_HITS100] = FRACTION("hard@100", hard_hits100),
    [COLUMN_FULL_MRR] = FRACTION("full MRR", full_mrr),
    [COLUMN_FULL_MRR_SE] = FRACTION("SE", full_mrr_se),
    [COLUMN_FULL_HITS10] = FRACTION("full @10", full_hits10),
    [COLUMN_FULL_HITS10_SE] = FRACTION("SE", full_hits10_se),
    [COLUMN_FULL_ENDS] = {"full_ends", "ends", 1, offsetof(npgnn_eval_run, full_ends)},
    [COLUMN_ECE] = {"ece", "ECE", 100, offsetof(npgnn_eval_run, calibration.ece)},
    [COLUMN_BALANCED_ECE] = {"balanced_ece", "ECE 1:1", 100, offsetof(npgnn_eval_run, calibration.balanced_ece)},
    [COLUMN_VAL_AUC] = FRACTION("val AUC", val_auc),
    [COLUMN_VAL_AP] = FRACTION("val AP", val_ap),
    [COLUMN_SECONDS] = {"train_seconds", "seconds", 1, offsetof(npgnn_eval_run, train_seconds)},
    [COLUMN_UNTUNED_AUC] = FRACTION("univ AUC", untuned_auc),
    [COLUMN_UNTUNED_AP] = FRACTION("univ AP", untuned_ap),
    [COLUMN_EMPTIED_LINKS] = FRACTION("", emptied_links),
    [COLUMN_EMPTIED_NON_LINKS] = FRACTION("", emptied_non_links),
    [COLUMN_EMPTIED_AUC] = FRACTION("", emptied_auc),
    [COLUMN_TEST_LINKS] = {"test_links", "", 1, offsetof(npgnn_eval_run, test_links)},
};

double report_value(const npgnn_eval_run *run, report_column column)
{
    return *(const double *)(const void *)((const char *)run + columns[column].offset);
}

const char *report_name(report_column column)
{
    return columns[column].name;
}

report_stats report_summary(const npgnn_eval_run *runs, int count, report_column column)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++)
        sum += report_value(&runs[i], column);
    double mean = sum / count;
    for (int i = 0; i < count; i++) {
        double difference = report_value(&runs[i], column) - mean;
        squares += difference * difference;
    }
    double std = count > 1 ? sqrt(squares / (count - 1)) : (double)NAN;
    report_stats stats = {mean, std, std / sqrt(count)};
    return stats;
}

uint64_t report_split_hash(const npgnn_eval_run *runs, int count)
{
    uint64_t hash = 0xCBF29CE484222325u; /* FNV-1a over 64-bit words */
    int same = 1;
    for (int i = 0; i < count; i++) {
        hash = (hash ^ runs[i].split_hash) * 0x100000001B3u;
        same = same && runs[i].split_hash == runs[0].split_hash;
    }
    return same && count > 0 ? runs[0].split_hash : hash;
}

/* ---- tables ---- */

/* Columns for hard negatives, for ranks among all nodes and for calibration are shown only where they were measured;
 * standard errors, and how many ends were ranked, only where these were a sample; what universal reaches, of best. */
static int is_shown(report_column column, const npgnn_eval_run *runs)
{
    if (column == COLUMN_ECE || column == COLUMN_BALANCED_ECE || column == COLUMN_UNTUNED_AUC ||
        column == COLUMN_UNTUNED_AP)
        return !isnan(report_value(runs, column));
    if (column == COLUMN_FULL_MRR || column == COLUMN_FULL_HITS10)
        return !isnan(runs[0].full_mrr);
    if (column == COLUMN_FULL_MRR_SE || column == COLUMN_FULL_HITS10_SE || column == COLUMN_FULL_ENDS)
        return runs[0].full_mrr_se > 0;
    if (column >= COLUMN_EMPTIED_LINKS)
        return 0;
    return column < COLUMN_HARD_MRR || column > COLUMN_HARD_HITS100 || !isnan(runs[0].hard_mrr);
}

static void print_cell(FILE *out, double value, report_column column)
{
    if (isnan(value))
        fprintf(out, "  %8s", "-");
    else
        fprintf(out, "  %8.2f", columns[column].scale * value);
}

static void print_run(FILE *out, const npgnn_eval_run *run)
{
    fprintf(out, "%6" PRIu64, run->seed);
    for (int c = 0; c < COLUMNS; c++)
        if (is_shown(c, run))
            print_cell(out, report_value(run, c), c);
    fprintf(out, "  %10d  %016" PRIx64 "\n", run->iterations, run->split_hash);
}

/* One end of the intervals of AUC and AP, below their columns. */
static void print_bound(FILE *out, const char *title, const npgnn_eval_run *last, int end)
{
    fprintf(out, "%6s", title);
    print_cell(out, last->auc_interval[end], COLUMN_AUC);
    print_cell(out, last->ap_interval[end], COLUMN_AP);
    fputc('\n', out);
}

void report_table(FILE *out, const npgnn_eval_run *runs, int count)
{
    const npgnn_eval_run *last = &runs[count - 1];
    fprintf(out, "%6s", "seed");
    for (int c = 0; c < COLUMNS; c++)
        if (is_shown(c, runs))
            fprintf(out, "  %8s", columns[c].title);
    fprintf(out, "  %10s  %16s\n", "iterations", "split");
    for (int i = 0; i < count; i++)
        print_run(out, &runs[i]);
    fprintf(out, "%6s", "mean");
    for (int c = 0; c < COLUMNS; c++)
        if (is_shown(c, runs))
            print_cell(out, report_summary(runs, count, c).mean, c);
    fprintf(out, "\n%6s", "sd");
    for (int c = 0; c < COLUMNS; c++)
        if (is_shown(c, runs))
            print_cell(out, report_summary(runs, count, c).std, c);
    fputc('\n', out);
    if (isnan(last->auc_interval[0]))
        return;
    print_bound(out, "95% lo", last, 0);
    print_bound(out, "95% hi", last, 1);
}

void report_emptied(FILE *out, const npgnn_eval_run *runs, int count)
{
    double links = report_summary(runs, count, COLUMN_EMPTIED_LINKS).mean;
    double non_links = report_summary(runs, count, COLUMN_EMPTIED_NON_LINKS).mean;
    fprintf(
        out,
        "%.1f %% of the test links and %.1f %% of the non-links touch a node without known links. That alone has an "
        "AUC of %.1f.\n",
        100 * links, 100 * non_links, 100 * report_summary(runs, count, COLUMN_EMPTIED_AUC).mean);
}

/* ---- JSON ---- */

json_t *report_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *report_hash(uint64_t hash)
{
    return json_sprintf("%016" PRIx64, hash);
}

/* The value of an option, given as text, as a JSON boolean, number or string. */
static json_t *option_value(const char *text)
{
    char *end;
    if (strcmp(text, "on") == 0 || strcmp(text, "off") == 0)
        return json_boolean(text[1] == 'n');
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    if (errno == 0 && end != text && !*end)
        return json_integer(whole);
    double real = strtod(text, &end); /* the program never calls setlocale, so the decimal point is always a point */
    return end != text && !*end ? report_real(real) : json_string(text);
}

json_t *report_options(const npgnn_options *options)
{
    json_t *object = json_object();
    npgnn_option_info info;
    char value[64];
    for (int i = 0; npgnn_options_info(&info, i); i++)
        if (npgnn_options_get(value, sizeof value, options, info.key, NULL) == 0)
            json_object_set_new(object, info.key, option_value(value));
    return object;
}

static json_t *run_json(const npgnn_eval_run *run)
{
    json_t *object = json_object();
    json_object_set_new(object, "seed", json_integer((json_int_t)run->seed));
    for (int c = 0; c < COLUMNS; c++)
        json_object_set_new(object, columns[c].name, report_real(report_value(run, c)));
    json_object_set_new(object, "calibration", reliability_json(&run->calibration));
    json_object_set_new(object, "iterations", json_integer(run->iterations));
    json_object_set_new(object, "best_iteration", json_integer(run->best_iteration));
    json_object_set_new(object, "split_hash", report_hash(run->split_hash));
    return object;
}

/* From /proc on Linux; 0 elsewhere. */
static int64_t peak_from_status(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long long kib = 0;
    while (file && kib == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtoll(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return (int64_t)kib * 1024;
}

/* getrusage is the second choice: after an exec its figure may include the program before. */
int64_t report_peak_bytes(void)
{
    struct rusage usage;
    int64_t peak = peak_from_status();
    if (peak > 0 || getrusage(RUSAGE_SELF, &usage) != 0)
        return peak;
#if defined(__APPLE__)
    return usage.ru_maxrss;
#else
    return (int64_t)usage.ru_maxrss * 1024;
#endif
}

json_t *report_runs(const npgnn_eval_run *runs, int count)
{
    json_t *seeds = json_array(), *mean = json_object(), *std = json_object(), *se = json_object();
    for (int i = 0; i < count; i++)
        json_array_append_new(seeds, run_json(&runs[i]));
    for (int c = 0; c < COLUMNS; c++) {
        report_stats stats = report_summary(runs, count, c);
        json_object_set_new(mean, columns[c].name, report_real(stats.mean));
        json_object_set_new(std, columns[c].name, report_real(stats.std));
        json_object_set_new(se, columns[c].name, report_real(stats.se));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "seeds", seeds, "mean", mean, "std", std, "se", se);
}

json_t *report_interval(const npgnn_eval_run *last)
{
    if (isnan(last->auc_interval[0]))
        return json_null();
    return json_pack("{s:[f, f], s:[f, f]}", "auc", last->auc_interval[0], last->auc_interval[1], "ap",
                     last->ap_interval[0], last->ap_interval[1]);
}

json_t *report_json(const npgnn_eval_run *runs, int count, const report_source *source)
{
    json_t *report = json_pack("{s:s, s:s, s:s, s:s?, s:o, s:i}", "dataset", source->dataset, "protocol",
                               source->protocol, "method", source->method, "preset", source->preset, "config",
                               report_options(source->options), "threads", source->threads);
    json_object_set_new(report, "seed_count", json_integer(count));
    json_object_set_new(report, "split_hash", report_hash(report_split_hash(runs, count)));
    json_object_update_new(report, report_runs(runs, count));
    json_object_set_new(report, "interval", report_interval(&runs[count - 1]));
    json_object_set_new(report, "peak_rss_bytes", json_integer(report_peak_bytes()));
    return report;
}

int report_read_run(npgnn_eval_run *run, const json_t *object)
{
    const char *hash = json_string_value(json_object_get(object, "split_hash"));
    if (!json_is_number(json_object_get(object, "auc")) || !json_is_number(json_object_get(object, "ap")) || !hash)
        return EXIT_FAILED;
    for (int c = 0; c < COLUMNS; c++) {
        const json_t *value = json_object_get(object, columns[c].name);
        *(double *)(void *)((char *)run + columns[c].offset) =
            json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    run->size = sizeof *run;
    run->calibration.link_rate = (double)NAN; /* ECE is among the columns; the bins are not read back */
    for (int i = 0; i < 2; i++)               /* intervals belong to the evaluation, not to a run */
        run->auc_interval[i] = run->ap_interval[i] = (double)NAN;
    run->seed = (uint64_t)json_integer_value(json_object_get(object, "seed"));
    run->iterations = (int)json_integer_value(json_object_get(object, "iterations"));
    run->best_iteration = (int)json_integer_value(json_object_get(object, "best_iteration"));
    run->split_hash = strtoull(hash, NULL, 16);
    return 0;
}

/* Twelve digits are more than any measurement needs, and 0.93 is written as 0.93. */
#define DIGITS JSON_REAL_PRECISION(12)

int report_write(json_t *json, const char *path)
{
    cli_output out;
    char *text = json_text(json, JSON_INDENT(2) | DIGITS);
    json_decref(json);
    if (!text)
        return print_error("out of memory while writing %s", strcmp(path, "-") == 0 ? "JSON" : path);
    int code = output_open(&out, path);
    if (code == 0) {
        fputs(text, out.file); /* output_commit reports errors */
        fputc('\n', out.file);
        code = output_commit(&out);
    }
    free(text);
    return code;
}

void report_log_line(FILE *out, const npgnn_progress *p)
{
    /* the library repeats the latest validation in every progress; the log has it only where it was measured */
    double val_auc = p->validated ? p->val_auc : (double)NAN, val_ap = p->validated ? p->val_ap : (double)NAN;
    json_t *line =
        json_pack("{s:i, s:b, s:i, s:o, s:o, s:o, s:o, s:o}", "run", p->run, "rehearsal", p->rehearsal, "iteration",
                  p->iteration, "loss", report_real(p->loss), "kl", report_real(p->kl), "val_auc", report_real(val_auc),
                  "val_ap", report_real(val_ap), "seconds", report_real(p->seconds));
    char *text = json_text(line, JSON_COMPACT | DIGITS);
    json_decref(line);
    if (!text)
        return; /* a line is there or not: the training goes on */
    fputs(text, out);
    fputc('\n', out);
    free(text);
    if (p->validated)
        fflush(out); /* so that a validation is visible at once */
}

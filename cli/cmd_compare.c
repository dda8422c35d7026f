/* npgnn compare: several methods on the same splits, with tests of their differences. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_page.h"
#include "evaluate.h"
#include "message.h"
#include "output.h"
#include "outside_scores.h"
#include "progress.h"
#include "settings.h"

enum { MAX_METHODS = 64 };

typedef struct compare_settings {
    data_settings data;
    common_settings common;
    split_settings splits;
    model_settings model;
    const char *methods; /* "a,b,c", or NULL */
    arg_pairs scores;    /* NAME=FILE */
    const char *save_splits, *html;
} compare_settings;

/* ---- methods ---- */

/* What takes part: a preset of the model (method "npgnn" with these options), a method of the library, or a file. */
typedef struct entrant {
    const char *method;
    npgnn_options options; /* of the preset, or the default */
} entrant;

/* Changes the options of a model as the command line asks. */
static int change_options(npgnn_options *options, const arg_pairs *changes)
{
    npgnn_error err = {0};
    for (int i = 0; i < changes->count; i++)
        if (npgnn_options_set(options, changes->item[i].key, changes->item[i].value, &err) != 0)
            return print_usage_error("compare", "%s", err.text);
    return 0;
}

/* Finds a preset or method by its name. Returns 0, or EXIT_USAGE after printing what is wrong. */
static int find_entrant(entrant *found, const char *wanted, const arg_pairs *changes)
{
    enum { MAX_NAMES = 128 };
    const char *names[MAX_NAMES], *name, *help;
    int count = 0;
    found->options.size = sizeof found->options;
    npgnn_options_preset(&found->options, NULL, NULL);
    for (int i = 0; count < MAX_NAMES && npgnn_preset_info(&name, &help, i); names[count++] = name, i++)
        if (strcmp(name, wanted) == 0) {
            found->method = "npgnn";
            npgnn_options_preset(&found->options, name, NULL);
            return change_options(&found->options, changes);
        }
    for (int i = 0; count < MAX_NAMES && npgnn_method_info(&name, &help, i); names[count++] = name, i++)
        if (strcmp(name, wanted) == 0) {
            found->method = name;
            return change_options(&found->options, changes);
        }
    const char *nearest = arg_nearest(wanted, names, count);
    if (nearest)
        return print_usage_error("compare", "unknown method '%s'; did you mean '%s'?", wanted, nearest);
    return print_usage_error("compare", "unknown method '%s'; it must be a method or a preset of eval", wanted);
}

static int add_name(comparison *all, const char *name, const char *file)
{
    if (!*name)
        return print_usage_error("compare", "a method has an empty name");
    if (all->count == MAX_METHODS)
        return print_usage_error("compare", "too many methods: at most %d are compared", MAX_METHODS);
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->methods[i].name, name) == 0)
            return print_usage_error("compare", "method '%s' is given twice; each needs a name of its own", name);
    all->methods[all->count++] = (compared_method){.name = name, .file = file};
    return 0;
}

/* Fills the list of methods. `text` (methods) and `names` (scores) are copies of the settings that are cut up here. */
static int list_methods(comparison *all, entrant *entrants, char *text, char **names, const compare_settings *settings)
{
    int status = 0;
    if (settings->model.preset)
        return print_usage_error("compare", "presets are methods here: --methods %s,...", settings->model.preset);
    if (settings->scores.count > 0 && settings->splits.negatives != NPGNN_NEGATIVES_UNIFORM)
        return print_usage_error("compare", "--scores has scores of the test pairs only: leave --negatives out");
    for (char *name = text, *next; status == 0 && name; name = next) {
        next = strchr(name, ',');
        if (next)
            *next++ = '\0';
        status = add_name(all, name, NULL);
        if (status == 0)
            status = find_entrant(&entrants[all->count - 1], name, &settings->model.changes);
    }
    for (int i = 0; status == 0 && i < settings->scores.count; i++) {
        const char *given = settings->scores.item[i].value;
        names[i] = strdup(given);
        if (!names[i])
            return print_error("out of memory");
        char *file = strchr(names[i], '=');
        if (!file || !file[1])
            return print_usage_error("compare", "--scores must be NAME=FILE, got '%s'", given);
        *file = '\0';
        status = add_name(all, names[i], file + 1);
    }
    if (status == 0 && all->count == 1)
        return print_usage_error("compare", "a comparison needs at least two methods: --methods A,B or --scores");
    if (status == 0 && all->count == 0 && !settings->save_splits)
        return print_usage_error("compare", "nothing to compare: give --methods, --scores or --save-splits");
    return status;
}

/* ---- evaluation ---- */

/* Runs one method of the library on all seeds. */
static int run_method(compared_method *method, const entrant *chosen, const npgnn_graph *graph,
                      const npgnn_split *fixed, cli_progress *progress, const compare_settings *settings,
                      const npgnn_env *env)
{
    npgnn_split_options split = split_settings_options(&settings->splits);
    npgnn_eval_options options = {.size = sizeof options,
                                  .method = chosen->method,
                                  .model = &chosen->options,
                                  .split = &split,
                                  .fixed = fixed,
                                  .first_seed = settings->splits.seed,
                                  .negatives = (npgnn_negatives)settings->splits.negatives,
                                  .scores = curves_scores,
                                  .scores_user = &method->curves};
    int done;
    if (!settings->common.quiet)
        print_note("method %s", method->name);
    return evaluate_run(method->runs, &done, graph, settings->splits.seeds, &options, progress, env);
}

/* Compares each method with the first. */
static int compare(comparison *all, uint64_t seed, const npgnn_env *env)
{
    double *values = calloc(2 * (size_t)all->seeds, sizeof *values), *reference = values + all->seeds;
    npgnn_error err = {0};
    int status = values ? 0 : print_error("out of memory");
    for (int i = 1; status == 0 && i < all->count; i++)
        for (int m = 0; status == 0 && m < all->metric_count; m++) {
            npgnn_paired *difference = &all->methods[i].difference[m];
            difference->size = sizeof *difference;
            for (int s = 0; s < all->seeds; s++) {
                values[s] = report_value(&all->methods[i].runs[s], all->metrics[m].column);
                reference[s] = report_value(&all->methods[0].runs[s], all->metrics[m].column);
            }
            if (npgnn_paired_compare(difference, values, reference, all->seeds, seed, env, &err) != 0)
                status = print_error("%s", err.text);
        }
    free(values);
    return status;
}

/* Evaluates all methods. Files of scores come first, so that an error in them shows before the training. */
static int evaluate_all(comparison *all, const entrant *entrants, const npgnn_graph *graph, const npgnn_split *fixed,
                        cli_progress *progress, const compare_settings *settings, const npgnn_env *env)
{
    int status = 0;
    for (int i = 0; status == 0 && i < all->count; i++) {
        compared_method *method = &all->methods[i];
        method->runs = calloc((size_t)all->seeds, sizeof *method->runs);
        curves_begin(&method->curves);
        if (!method->runs)
            status = print_error("out of memory");
        else if (method->file)
            status =
                outside_evaluate(method->runs, &method->curves, method->file, graph, &settings->splits, fixed, env);
    }
    for (int i = 0; status == 0 && i < all->count; i++)
        if (!all->methods[i].file)
            status = run_method(&all->methods[i], &entrants[i], graph, fixed, progress, settings, env);
    for (int i = 1; status == 0 && i < all->count; i++)
        for (int s = 0; status == 0 && s < all->seeds; s++)
            if (all->methods[i].runs[s].split_hash != all->methods[0].runs[s].split_hash)
                status = print_error("%s and %s were not tested on the same split; please report this",
                                     all->methods[0].name, all->methods[i].name);
    return status ? status : compare(all, settings->splits.seed, env);
}

/* ---- results ---- */

/* Characters of a UTF-8 text, for columns. */
static int text_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void print_name(const char *name, int width)
{
    printf("%s%*s", name, width - text_width(name), "");
}

static void print_tables(const comparison *all)
{
    int width = 6; /* of "method" */
    for (int i = 0; i < all->count; i++)
        width = text_width(all->methods[i].name) > width ? text_width(all->methods[i].name) : width;
    printf("%s, %s, %d seed%s, split%s %016" PRIx64 " (percent, mean ± sd)\n", all->dataset, all->protocol, all->seeds,
           all->seeds == 1 ? "" : "s", all->seeds == 1 ? "" : "s", report_split_hash(all->methods[0].runs, all->seeds));
    print_name("method", width);
    for (int m = 0; m < all->metric_count; m++)
        printf("  %14s", all->metrics[m].title);
    putchar('\n');
    for (int i = 0; i < all->count; i++) {
        print_name(all->methods[i].name, width);
        for (int m = 0; m < all->metric_count; m++) {
            report_stats stats = report_summary(all->methods[i].runs, all->seeds, all->metrics[m].column);
            if (isnan(stats.std))
                printf("  %14.2f", 100 * stats.mean);
            else
                printf("  %6.2f ± %5.2f", 100 * stats.mean, 100 * stats.std);
        }
        putchar('\n');
    }
    printf("\ndifference from %s, 95 %% interval over seeds, seeds that are better, p of Wilcoxon's signed-rank test\n",
           all->methods[0].name);
    print_name("method", width);
    printf("  metric    %10s  %18s  %9s  %8s\n", "difference", "95 % interval", "better", "p");
    for (int i = 1; i < all->count; i++)
        for (int m = 0; m < all->metric_count; m++) {
            const npgnn_paired *d = &all->methods[i].difference[m];
            char p[32], interval[64];
            compare_p_text(p, sizeof p, d->p);
            compare_interval_text(interval, sizeof interval, d);
            print_name(all->methods[i].name, width);
            printf("  %-8s  %+10.2f  %18s  %3d of %-3d  %8s\n", all->metrics[m].title, 100 * d->mean, interval,
                   d->better, all->seeds, p);
        }
    if (compare_missing_p(all))
        printf("%s\n", compare_missing_p(all));
}

static json_t *method_json(const comparison *all, int index)
{
    const compared_method *method = &all->methods[index];
    json_t *object = json_pack("{s:s, s:s?}", "name", method->name, "scores", method->file);
    json_t *difference = index > 0 ? json_object() : json_null();
    json_object_update_new(object, report_runs(method->runs, all->seeds));
    curves_merge(json_object_get(object, "seeds"), &method->curves);
    for (int m = 0; index > 0 && m < all->metric_count; m++) {
        const npgnn_paired *d = &method->difference[m];
        json_t *interval = isnan(d->low) ? json_null() : json_pack("[f, f]", d->low, d->high);
        json_object_set_new(difference, report_name(all->metrics[m].column),
                            json_pack("{s:f, s:o, s:i, s:i, s:o}", "mean", d->mean, "interval", interval, "better",
                                      d->better, "worse", d->worse, "p", report_real(d->p)));
    }
    json_object_set_new(object, "difference", difference);
    return object;
}

static int write_results(const comparison *all, const compare_settings *settings)
{
    int status = 0;
    if (!common_json_on_stdout(&settings->common))
        print_tables(all);
    if (settings->common.json) {
        json_t *methods = json_array();
        for (int i = 0; i < all->count; i++)
            json_array_append_new(methods, method_json(all, i));
        json_t *json =
            json_pack("{s:s, s:s, s:i, s:I, s:o, s:s, s:i, s:o}", "dataset", all->dataset, "protocol", all->protocol,
                      "seed_count", all->seeds, "first_seed", (json_int_t)settings->splits.seed, "split_hash",
                      report_hash(report_split_hash(all->methods[0].runs, all->seeds)), "reference",
                      all->methods[0].name, "resamples", NPGNN_PAIRED_RESAMPLES, "methods", methods);
        status = report_write(json, settings->common.json);
    }
    if (status == 0 && settings->html) {
        cli_output out;
        if (output_open(&out, settings->html) != 0)
            return EXIT_FAILED;
        compare_page_write(out.file, all);
        status = output_commit(&out);
    }
    return status;
}

/* ---- the command ---- */

/* Notes which of the methods do not use the weights of links, where there are any. */
static void note_unweighted(const comparison *all, const entrant *entrants, const compare_settings *settings,
                            const npgnn_env *env)
{
    char names[300] = "", who[400];
    int count = 0;
    for (int i = 0; i < all->count; i++) {
        size_t used = strlen(names);
        if (all->methods[i].file ||
            (!entrants[i].options.process && npgnn_method_uses(entrants[i].method) & NPGNN_USES_WEIGHTS))
            continue;
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", all->methods[i].name);
        count++;
    }
    snprintf(who, sizeof who, "%s %s", count == 1 ? "the method" : "each of the methods", names);
    if (count > 0)
        data_note_unweighted(&settings->data, who, env);
}

static int run_comparison(comparison *all, const entrant *entrants, const compare_settings *settings)
{
    npgnn_graph *graph = NULL;
    npgnn_split *fixed = NULL;
    npgnn_error err = {0};
    cli_progress progress;
    if ((settings->html && output_check(settings->html) != 0) ||
        progress_open(&progress, settings->common.quiet, NULL, 0) != 0)
        return EXIT_FAILED;
    npgnn_env env = progress_env(&progress, &settings->common);
    note_unweighted(all, entrants, settings, &env);
    int status = data_load(&graph, &settings->data, &env);
    if (status == 0 && split_open(&fixed, graph, settings->splits.fixed, &env, &err) != 0)
        status = print_error("%s", err.text);
    if (fixed)
        all->protocol = evaluate_protocol_name(npgnn_split_protocol(fixed));
    if (status == 0 && settings->save_splits)
        status = outside_save_splits(settings->save_splits, graph, &settings->splits, fixed, &env);
    if (status == 0 && all->count > 0)
        status = evaluate_all(all, entrants, graph, fixed, &progress, settings, &env);
    if (status == 0 && all->count > 0)
        status = write_results(all, settings);
    int closed = progress_close(&progress);
    npgnn_split_free(fixed);
    npgnn_graph_free(graph);
    return status ? status : closed;
}

static int run(void *given)
{
    const compare_settings *settings = given;
    char *names[ARG_MAX_PAIRS] = {NULL}, *text = settings->methods ? strdup(settings->methods) : NULL;
    entrant *entrants = calloc(MAX_METHODS, sizeof *entrants);
    const compared_metric among[] = {
        [NPGNN_NEGATIVES_HARD] = {COLUMN_HARD_MRR, "hard MRR"}, [NPGNN_NEGATIVES_ALL] = {COLUMN_FULL_MRR, "full MRR"}};
    comparison all = {.dataset = data_name(&settings->data),
                      .protocol = evaluate_protocol_name((npgnn_protocol)settings->splits.protocol),
                      .seeds = settings->splits.seeds,
                      .methods = calloc(MAX_METHODS, sizeof *all.methods),
                      .metric_count = 3,
                      .metrics = {{COLUMN_AUC, "AUC"}, {COLUMN_AP, "AP"}, {COLUMN_MRR, "MRR"}}};
    if (settings->splits.negatives != NPGNN_NEGATIVES_UNIFORM)
        all.metrics[all.metric_count++] = among[settings->splits.negatives];
    int status = !entrants || !all.methods || (settings->methods && !text) ? print_error("out of memory") : 0;
    if (status == 0)
        status = list_methods(&all, entrants, text, names, settings);
    if (status == 0)
        status = run_comparison(&all, entrants, settings);
    for (int i = 0; all.methods && i < all.count; i++) {
        if (all.methods[i].curves.runs)
            curves_end(&all.methods[i].curves);
        free(all.methods[i].runs);
    }
    for (int i = 0; i < ARG_MAX_PAIRS; i++)
        free(names[i]);
    free(all.methods);
    free(entrants);
    free(text);
    return status;
}

#define AT(member) offsetof(compare_settings, member)
static const arg_option options[] = {
    OPTION("methods", 'm', ARG_TEXT, AT(methods), "A,B,...",
           "Methods to compare: methods and presets of 'npgnn eval'. The others are compared with the first."),
    OPTION("scores", 0, ARG_PAIR, AT(scores), "NAME=FILE",
           "Compare the scores of another program too, under NAME. FILE has one line per test pair of each seed: "
           "seed, two node names, score; larger is likelier. May be repeated."),
    OPTION("save-splits", 0, ARG_TEXT, AT(save_splits), "DIR",
           "Write the split of each seed to DIR/split-SEED.tsv, and the test pairs to be scored to "
           "DIR/pairs-SEED.tsv."),
    OPTION("html", 0, ARG_TEXT, AT(html), "FILE", "Write a page with the tables and curves to FILE."),
    OPTIONS_END,
};

/* Whether none of the methods uses an option of the model, with the changes that are asked for. */
static int methods_lack(char *by, size_t size, const void *part, const arg_option *option)
{
    const compare_settings *settings = part;
    const char *at = settings->methods;
    snprintf(by, size, "by any of the methods that are compared");
    if (!option->key || strcmp(option->key, "seed") == 0)
        return 0;
    for (size_t length; at && *at; at += length + (at[length] == ',')) {
        char name[64];
        npgnn_options changed = {.size = sizeof changed};
        length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        int is_preset = npgnn_options_preset(&changed, name, NULL) == 0;
        if (!is_preset && !(npgnn_method_uses(name) & NPGNN_USES_OPTIONS))
            continue;
        if (!is_preset)
            npgnn_options_preset(&changed, NULL, NULL);
        for (int i = 0; i < settings->model.changes.count; i++)
            npgnn_options_set(&changed, settings->model.changes.item[i].key, settings->model.changes.item[i].value,
                              NULL);
        if (npgnn_options_uses(&changed, option->key, NULL))
            return 0;
    }
    return 1;
}

static const arg_rule rules[] = {
    {.table = model_options, .unused = methods_lack},
    SPLIT_RULES(AT(splits)),
    {.options = NULL},
};

const cli_command cmd_compare = {
    .args =
        {
            .name = "compare",
            .usage = "DATA --methods A,B,... [OPTION...]",
            .summary = "Compare methods on the same splits of a graph, also with scores of other programs.",
            .description =
                "Evaluates each method on the same splits, one per seed. Prints means and standard deviations, and the "
                "difference between each method and the first, with a bootstrap interval over the seeds and the "
                "p-value of Wilcoxon's signed-rank test, which needs at least 6 seeds.",
            .examples = "  npgnn compare synthetic --methods best,universal,katz --html compare.html\n"
                        "  npgnn compare synthetic --methods best,npgnn --negatives hard --epochs 100\n"
                        "  npgnn compare synthetic --save-splits splits\n"
                        "  npgnn compare synthetic --methods universal --scores mine=scores.tsv\n",
            .operands = {DATA_OPERAND(AT(data.name))},
            .groups = {{"Options", options, 0},
                       SPLIT_GROUP(AT(splits)),
                       DATA_GROUP(AT(data)),
                       COMMON_GROUP(AT(common)),
                       MODEL_GROUP(AT(model))},
            .rules = rules,
        },
    .defaults = &(const compare_settings){.splits = {SPLIT_DEFAULTS, .seeds = 10}},
    .size = sizeof(compare_settings),
    .run = run,
};

/* npgnn reproduce: the tables of the paper, on this machine, beside the paper's figures. */
#include <stdlib.h>
#include <string.h>

#include "cancel.h"
#include "outcome.h"
#include "output.h"
#include "page.h"
#include "plan_jobs.h"
#include "progress.h"
#include "say.h"
#include "settings.h"

static void tell_notes(const cli_plan *plan, const npgnn_env *env)
{
    size_t index;
    json_t *note;
    json_array_foreach(plan->notes, index, note) env->log(env->user, json_string_value(note));
}

static void tell_found(const cli_plan *plan, int found, const npgnn_env *env)
{
    char text[PLAN_PATH + 64];
    snprintf(text, sizeof text, "%d results are there already, in %s", found, plan->cache);
    if (found > 0)
        env->log(env->user, text);
}

/* Runs what is missing. */
static int carry_out(const cli_plan *plan, const npgnn_env *env)
{
    const cli_settings *settings = plan->settings;
    plan_jobs list;
    int status = plan_jobs_make(&list, plan);
    if (status == 0) {
        tell_found(plan, list.found, env);
        status = pool_run(list.jobs, list.count, settings->threads, settings->quiet);
        if (cancel_signal())
            say_error("stopped by a signal: the same command goes on from here");
    }
    plan_jobs_free(&list);
    return status;
}

static int write_all(const cell_outcome *outcomes, int count, const cli_plan *plan, const npgnn_env *env)
{
    const cli_settings *settings = plan->settings;
    int status = 0;
    /* JSON on standard output leaves no room for tables */
    if (!settings->json || strcmp(settings->json, "-") != 0)
        outcome_print(stdout, outcomes, count, plan);
    if (settings->json)
        status = report_write(outcome_json(outcomes, count, plan, 0), settings->json);
    if (settings->html) {
        int written = page_write(outcome_json(outcomes, count, plan, 1), plan, settings->html, env);
        status = status ? status : written;
    }
    return status;
}

/* Whatever was finished is reported, even when not everything is: it says so itself. */
static int report_outcomes(const cli_plan *plan, const npgnn_env *env)
{
    int loaded = 0, status = 0;
    cell_outcome *outcomes = calloc((size_t)plan->cell_count + 1, sizeof *outcomes);
    if (!outcomes)
        return say_error("out of memory");
    for (int c = 0; c < plan->cell_count && status == 0; c++) {
        status = outcome_load(&outcomes[c], plan, &plan->cells[c]);
        loaded += status == 0;
    }
    if (status == 0)
        status = write_all(outcomes, loaded, plan, env);
    for (int i = 0; i < loaded; i++)
        outcome_free(&outcomes[i]);
    free(outcomes);
    return status;
}

/* A long job should not find out at its end that it cannot write. */
static int check_outputs(const cli_settings *settings)
{
    if (settings->json && output_check(settings->json) != 0)
        return EXIT_FAILED;
    return settings->html ? output_check(settings->html) : 0;
}

static int run(const cli_settings *settings)
{
    cli_plan *plan = NULL;
    cli_progress progress;
    progress_open(&progress, settings);
    npgnn_env env = progress_env(&progress, settings);
    int status = check_outputs(settings);
    if (status == 0)
        status = plan_make(&plan, settings, &env);
    if (status == 0) {
        tell_notes(plan, &env);
        status = carry_out(plan, &env);
        int reported = report_outcomes(plan, &env);
        status = status ? status : reported;
    }
    plan_free(plan);
    return status;
}

static const arg_option options[] = {
    SETTING("table", 0, ARG_CHOICE, table, PLAN_TABLES, "Which table (default all: the paper's three)."),
    SETTING("datasets", 0, ARG_TEXT, datasets, "NAMES",
            "Data sets with commas between them (default cora,citeseer,pubmed)."),
    SETTING("seeds", 'n', ARG_INT, seeds, "N", "How many seeds a cell (default 10).", 1, 1000),
    SETTING("seed", 's', ARG_U64, seed, "N", "The first of them (default 1)."),
    SETTING("html", 0, ARG_TEXT, html, "FILE",
            "Write a page with tables, curves and pictures to FILE. It needs nothing else to be read."),
    SETTING("data-dir", 0, ARG_TEXT, load.data_dir, "DIR",
            "Where names of data sets are looked up (default: $NPGNN_DATA, then the user's cache folder)."),
    SETTING("splits", 0, ARG_TEXT, splits, "DIR",
            "Where the authors' splits are, NAME-transductive-authors.tsv (default: the folder splits in the data "
            "folder or beside it)."),
    SETTING("cache", 0, ARG_TEXT, cache, "DIR",
            "Where finished runs are kept, to go on from (default: reproduce-cache beside the JSON file, otherwise "
            "in the user's cache folder)."),
    SETTING("fresh", 0, ARG_FLAG, fresh, NULL, "Run everything again."),
};

static const arg_group *own_group(void)
{
    static const arg_group group = GROUP("Options", options);
    return &group;
}

const cli_command cmd_reproduce = {
    .args =
        {
            .name = "reproduce",
            .usage = "[OPTION...]",
            .summary = "The tables of the paper on this machine, beside the paper's figures.",
            .description =
                "Runs every cell of the paper's tables, with as many single-threaded trainings at a time as there are "
                "threads, and compares: 'reached' is at most 0.3 points below the paper in AUC and AP, 'above' is more "
                "than 0.3 points above in both. Every finished run is kept at once: after an interrupt the same "
                "command goes on where it was. Trains for 500 iterations, on PubMed for 2000 with the sampled loss; "
                "options of the model change that.",
            .examples = "  npgnn reproduce --data-dir data/planetoid --json results.json --html results.html\n"
                        "  npgnn reproduce --table few-shot --datasets cora --seeds 3\n",
            .groups = {own_group, settings_common_group, settings_model_group},
        },
    .defaults = {.datasets = "cora,citeseer,pubmed", .seeds = 10, .seed = 1, .table = TABLES},
    .run = run,
};

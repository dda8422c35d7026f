/* npgnn reproduce: computes the tables of the paper and compares them with the published results. */
#include <stdlib.h>

#include "cancel.h"
#include "html_report.h"
#include "message.h"
#include "outcome.h"
#include "output.h"
#include "plan_jobs.h"
#include "progress.h"
#include "settings.h"

/* Runs the jobs whose results are missing. */
static int run_jobs(const cli_plan *plan)
{
    const reproduce_settings *settings = plan->settings;
    plan_jobs list;
    int status = plan_jobs_make(&list, plan);
    if (status == 0) {
        if (list.found > 0 && !settings->common.quiet)
            print_note("%d results exist already in %s", list.found, plan->cache);
        status = pool_run(list.jobs, list.count, common_threads(&settings->common), settings->common.quiet);
        if (cancel_signal())
            print_error("stopped by a signal; repeat the command to continue");
    }
    plan_jobs_free(&list);
    return status;
}

static int write_outcomes(const cell_outcome *outcomes, int count, const cli_plan *plan, const npgnn_env *env)
{
    const reproduce_settings *settings = plan->settings;
    int status = 0;
    if (!common_json_on_stdout(&settings->common))
        outcome_print(stdout, outcomes, count, plan);
    if (settings->common.json)
        status = report_write(outcome_json(outcomes, count, plan, 0), settings->common.json);
    if (settings->html) {
        int written = html_report_write(outcome_json(outcomes, count, plan, 1), plan, settings->html, env);
        status = status ? status : written;
    }
    return status;
}

/* Reports the results that exist. Where some are missing, the reports say so. */
static int report_outcomes(const cli_plan *plan, const npgnn_env *env)
{
    int loaded = 0, status = 0;
    cell_outcome *outcomes = calloc((size_t)plan->cell_count + 1, sizeof *outcomes);
    if (!outcomes)
        return print_error("out of memory");
    for (int c = 0; c < plan->cell_count && status == 0; c++) {
        status = outcome_load(&outcomes[c], plan, &plan->cells[c]);
        loaded += status == 0;
    }
    if (status == 0)
        status = write_outcomes(outcomes, loaded, plan, env);
    for (int i = 0; i < loaded; i++)
        outcome_free(&outcomes[i]);
    free(outcomes);
    return status;
}

static int run(void *given)
{
    const reproduce_settings *settings = given;
    cli_plan *plan = NULL;
    cli_progress progress;
    int status = 0;
    size_t index;
    json_t *note;
    if (settings->model.universal && settings->table == TABLE_ABLATION)
        return print_usage_error("reproduce",
                                 "the table ablation varies the training, which --preset " UNIVERSAL " does without");
    progress_open(&progress, settings->common.quiet, NULL, 0);
    npgnn_env env = progress_env(&progress, &settings->common);
    /* a path that cannot be written is reported now, not after hours */
    if (settings->common.json)
        status = output_check(settings->common.json);
    if (status == 0 && settings->html)
        status = output_check(settings->html);
    if (status == 0)
        status = plan_make(&plan, settings, &env);
    if (status == 0) {
        json_array_foreach(plan->notes, index, note)
        {
            if (!settings->common.quiet)
                print_note("%s", json_string_value(note));
        }
        status = run_jobs(plan);
        int reported = report_outcomes(plan, &env);
        status = status ? status : reported;
    }
    plan_free(plan);
    return status;
}

#define AT(member) offsetof(reproduce_settings, member)
static const arg_option options[] = {
    OPTION("table", 0, ARG_CHOICE, AT(table), PLAN_TABLES,
           "The table to compute (default all: the three tables of the paper)."),
    OPTION("datasets", 0, ARG_TEXT, AT(datasets), "NAMES",
           "Comma-separated list of data sets (default cora,citeseer,pubmed)."),
    OPTION("seeds", 'n', ARG_INT, AT(seeds), "N", "Number of seeds per cell (default 10).", 1, 1000),
    OPTION("seed", 's', ARG_U64, AT(seed), "N", "First seed (default 1)."),
    OPTION("html", 0, ARG_TEXT, AT(html), "FILE",
           "Write a self-contained HTML report with tables, curves and plots of the embeddings to FILE."),
    OPTION_DATA_DIR(AT(data.load.data_dir)),
    OPTION("cache", 0, ARG_TEXT, AT(cache), "DIR",
           "Folder for the results of finished runs (default: reproduce-cache beside the file of --json, otherwise "
           "in the user's cache folder)."),
    OPTION("fresh", 0, ARG_FLAG, AT(fresh), NULL, "Discard earlier results and run everything again."),
    OPTIONS_END,
};

const cli_command cmd_reproduce = {
    .args =
        {
            .name = "reproduce",
            .usage = "[OPTION...]",
            .summary = "Compute the tables of the paper and compare them with the published results.",
            .description =
                "Computes every cell of the paper's tables, with single-threaded trainings side by side, and compares "
                "it with the paper. 'reached': at most 0.3 points below the paper in both AUC and AP; 'above': more "
                "than 0.3 points above in both. Finished runs are kept: after an interrupt, the same command "
                "continues. Trains for 500 iterations, or on PubMed for 2000 with the sampled loss, unless options of "
                "the model change that.",
            .examples = "  npgnn reproduce --data-dir data/planetoid --json results.json --html results.html\n"
                        "  npgnn reproduce --table few-shot --datasets cora --seeds 3\n",
            .groups = {{"Options", options, 0}, COMMON_GROUP(AT(common)), MODEL_GROUP(AT(model))},
        },
    .defaults =
        &(const reproduce_settings){.datasets = "cora,citeseer,pubmed", .seeds = 10, .seed = 1, .table = TABLES},
    .size = sizeof(reproduce_settings),
    .run = run,
    .takes_universal = 1,
};

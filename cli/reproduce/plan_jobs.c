/* Command lines of the jobs whose results are missing. */
#define _POSIX_C_SOURCE 200809L
#include "plan_jobs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evaluate.h"
#include "message.h"
#include "report.h"

/* ---- command lines ---- */

enum { MAX_WORDS = 160 };

typedef struct words {
    char *item[MAX_WORDS];
    int count, failed;
} words;

static void add_word(words *line, const char *word)
{
    char *copy = line->count < MAX_WORDS - 3 ? strdup(word) : NULL; /* the pool adds --threads N; NULL ends the list */
    if (copy)
        line->item[line->count++] = copy;
    else
        line->failed = 1;
}

/* Appends several words; the last argument is NULL. */
static void add_words(words *line, const char *word, ...)
{
    va_list args;
    va_start(args, word);
    for (; word; word = va_arg(args, const char *))
        add_word(line, word);
    va_end(args);
}

/* Adds every option that the model uses with its value, so that the process runs exactly what the hash describes. */
static void add_options(words *line, const npgnn_options *options)
{
    npgnn_option_info info;
    char key[64], value[64];
    for (int i = 0; npgnn_options_info(&info, i); i++) {
        if (strcmp(info.key, "seed") == 0 || !npgnn_options_uses(options, info.key, NULL))
            continue; /* the seed is given per job */
        npgnn_options_get(value, sizeof value, options, info.key, NULL);
        snprintf(key, sizeof key, "--%s", info.key);
        add_words(line, key, value, (char *)NULL);
    }
}

static void add_common(words *line, const cli_plan *plan, uint64_t seed, const npgnn_options *options)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, seed);
    add_words(line, "--quiet", "--seed", number, (char *)NULL);
    if (plan->settings->data.load.data_dir)
        add_words(line, "--data-dir", plan->settings->data.load.data_dir, (char *)NULL);
    if (options)
        add_options(line, options);
}

static void eval_words(words *line, const cli_plan *plan, const plan_cell *cell, uint64_t seed, const char *path)
{
    const plan_row *row = cell->row;
    char share[16];
    snprintf(share, sizeof share, "0.%02d", row->percent);
    int universal = strcmp(cell->method, UNIVERSAL) == 0;
    int takes_options = npgnn_method_uses(cell->method) & NPGNN_USES_OPTIONS;
    add_words(line, cli_program, "eval", cell->dataset->data, universal ? "--preset" : "--method", cell->method,
              row->authors_split ? "--split" : "--protocol",
              row->authors_split ? SPLIT_AUTHORS : evaluate_protocol_name(row->protocol), "--seeds", "1", "--curves",
              "--json", path, (char *)NULL);
    if (row->percent)
        add_words(line, "--train-nodes", share, (char *)NULL);
    add_common(line, plan, seed, takes_options ? &cell->options : NULL);
}

static void train_words(words *line, const cli_plan *plan, const plan_dataset *dataset, const npgnn_options *options,
                        const char *path)
{
    add_words(line, cli_program, "train", dataset->data, "--output", path, (char *)NULL);
    add_common(line, plan, plan->settings->seed, options);
}

/* ---- existing results ---- */

json_t *plan_load_result(const char *path)
{
    npgnn_eval_run run = {.size = sizeof run};
    json_t *result = json_load_file(path, 0, NULL);
    if (report_read_run(&run, json_array_get(json_object_get(result, "seeds"), 0)) == 0)
        return result;
    json_decref(result);
    return NULL;
}

static int result_exists(const char *path, int fresh)
{
    if (fresh)
        unlink(path);
    json_t *result = plan_load_result(path);
    json_decref(result);
    return result != NULL;
}

/* ---- the list of jobs ---- */

/* Jobs of one kind take time in proportion to their cost: same data set, and either the model or another method. */
static int job_kind(const cli_plan *plan, const plan_dataset *dataset, const char *method)
{
    return 2 * (int)(dataset - plan->datasets) + (strcmp(method, "npgnn") == 0);
}

/* A rough cost, for estimating the remaining time: passes over nodes and edges. */
static double guess_cost(const plan_dataset *dataset, const char *method, const npgnn_options *options)
{
    static const struct {
        const char *method;
        double passes;
    } slow[] = {{"vgae", 200}, {"gae", 200}, {"deepwalk", 2000}}; /* the others need no training */
    double pass = (double)dataset->info.nodes + (double)dataset->info.edges;
    if (strcmp(method, "npgnn") == 0)
        return pass * options->iterations * options->samples;
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++)
        if (strcmp(method, slow[i].method) == 0)
            return pass * slow[i].passes;
    return pass;
}

static const char ERRORS[] = ".txt"; /* appended to the path of a result: the stderr of its job */

/* Takes ownership of the words. */
static int add_job(plan_jobs *list, words *line, int kind, double cost, const char *path)
{
    pool_job *job = &list->jobs[list->count];
    size_t size = strlen(path) + sizeof ERRORS;
    job->argv = calloc(MAX_WORDS, sizeof *job->argv);
    job->errors = malloc(size);
    if (line->failed || !job->argv || !job->errors) {
        for (int i = 0; i < line->count; i++)
            free(line->item[i]);
        free(job->argv);
        free(job->errors);
        return print_error("out of memory");
    }
    snprintf(job->errors, size, "%s%s", path, ERRORS);
    memcpy(job->argv, line->item, (size_t)line->count * sizeof *line->item);
    job->kind = kind;
    job->cost = cost;
    list->count++;
    return 0;
}

/* Whether the list has a job for this result already: two cells may be the same computation. */
static int is_listed(const plan_jobs *list, const char *path)
{
    size_t length = strlen(path);
    for (int i = list->count - 1; i >= 0; i--)
        if (strncmp(list->jobs[i].errors, path, length) == 0)
            return 1;
    return 0;
}

static int add_seed(plan_jobs *list, const cli_plan *plan, const plan_cell *cell, uint64_t seed)
{
    char path[PLAN_PATH];
    words line = {.count = 0};
    plan_result_path(path, plan, cell, seed);
    if (is_listed(list, path))
        return 0;
    if (result_exists(path, plan->settings->fresh)) {
        list->found++;
        return 0;
    }
    eval_words(&line, plan, cell, seed, path);
    pool_job *job = &list->jobs[list->count];
    const char *variant = cell->row->authors_split ? "authors' split" : cell->row->variant;
    snprintf(job->label, sizeof job->label, "%s, %s, %s%s%s, seed %" PRIu64, cell->dataset->name,
             evaluate_protocol_name(cell->row->protocol), cell->method, variant ? ", " : "", variant ? variant : "",
             seed);
    return add_job(list, &line, job_kind(plan, cell->dataset, cell->method),
                   guess_cost(cell->dataset, cell->method, &cell->options), path);
}

static int add_model(plan_jobs *list, const cli_plan *plan, int index)
{
    const plan_dataset *dataset = &plan->datasets[index];
    char path[PLAN_PATH];
    words line = {.count = 0};
    npgnn_options options = {.size = sizeof options};
    plan_model_path(path, plan, dataset);
    if (plan->settings->fresh)
        unlink(path);
    if (access(path, R_OK) == 0)
        return 0;
    plan_options(&options, plan, dataset, NULL);
    train_words(&line, plan, dataset, &options, path);
    snprintf(list->jobs[list->count].label, sizeof list->jobs->label, "%s, model for the embedding plot",
             dataset->name);
    return add_job(list, &line, job_kind(plan, dataset, "npgnn"), guess_cost(dataset, "npgnn", &options), path);
}

int plan_jobs_make(plan_jobs *list, const cli_plan *plan)
{
    int seeds = plan->settings->seeds, status = 0;
    memset(list, 0, sizeof *list);
    list->jobs = calloc((size_t)plan->cell_count * (size_t)seeds + PLAN_DATASETS, sizeof *list->jobs);
    if (!list->jobs)
        return print_error("out of memory");
    for (int c = 0; c < plan->cell_count; c++)
        for (int s = 0; s < seeds && status == 0; s++)
            status = add_seed(list, plan, &plan->cells[c], plan->settings->seed + (uint64_t)s);
    int plots = plan->settings->html && !plan->settings->model.universal; /* which has no embeddings */
    for (int d = 0; plots && d < plan->dataset_count && status == 0; d++)
        status = add_model(list, plan, d);
    return status;
}

void plan_jobs_free(plan_jobs *list)
{
    for (int i = 0; i < list->count; i++) {
        for (char **word = list->jobs[i].argv; *word; word++)
            free(*word);
        free(list->jobs[i].argv);
        free(list->jobs[i].errors);
    }
    free(list->jobs);
}

/* The rows of the tables, the data sets, and the cells: one per row and data set. */
#define _POSIX_C_SOURCE 200809L
#include "plan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "paper.h"

/* ---- the tables ---- */

#define PLAIN(table, protocol, percent, method)                                                                        \
    {                                                                                                                  \
        table, protocol, percent, method, NULL, 0, NULL, NULL, NULL                                                    \
    }
/* What this program offers beyond the paper: the preset best, and the model that comes with it. */
#define BEYOND(table, protocol, percent)                                                                               \
    {table, protocol, percent, "npgnn", "best", 0, "best", NULL, NULL},                                                \
    {                                                                                                                  \
        table, protocol, percent, UNIVERSAL, UNIVERSAL, 0, NULL, NULL, NULL                                            \
    }
#define FEW_SHOT(percent)                                                                                              \
    PLAIN(TABLE_FEW_SHOT, NPGNN_PAPER_FEW_SHOT, percent, "npgnn"),                                                     \
        BEYOND(TABLE_FEW_SHOT, NPGNN_PAPER_FEW_SHOT, percent),                                                         \
        PLAIN(TABLE_FEW_SHOT, NPGNN_PAPER_FEW_SHOT, percent, "vgae"),                                                  \
        PLAIN(TABLE_FEW_SHOT, NPGNN_PAPER_FEW_SHOT, percent, "cosine")
#define VARIANT(protocol, percent, name, preset, key, value)                                                           \
    {                                                                                                                  \
        TABLE_ABLATION, protocol, percent, "npgnn", name, 0, preset, key, value                                        \
    }
#define ABLATION(protocol, percent)                                                                                    \
    VARIANT(protocol, percent, "default", NULL, NULL, NULL),                                                           \
        VARIANT(protocol, percent, "no latent", NULL, "latent", "off"),                                                \
        VARIANT(protocol, percent, "paper to the letter", "paper-literal", NULL, NULL),                                \
        VARIANT(protocol, percent, "authors' program", "authors", NULL, NULL),                                         \
        VARIANT(protocol, percent, "1 sample of z", NULL, "samples", "1"),                                             \
        VARIANT(protocol, percent, "5 samples of z", NULL, "samples", "5"),                                            \
        VARIANT(protocol, percent, "20 samples of z", NULL, "samples", "20"),                                          \
        VARIANT(protocol, percent, "vector aggregation", NULL, "aggregate", "vector"),                                 \
        VARIANT(protocol, percent, "scalar aggregation", NULL, "aggregate", "scalar")

static const plan_row rows[] = {
    PLAIN(TABLE_TRANSDUCTIVE, NPGNN_RANDOM_LINKS, 0, "npgnn"),
    {TABLE_TRANSDUCTIVE, NPGNN_RANDOM_LINKS, 0, "npgnn", NULL, 1, NULL, NULL, NULL},
    BEYOND(TABLE_TRANSDUCTIVE, NPGNN_RANDOM_LINKS, 0),
    PLAIN(TABLE_TRANSDUCTIVE, NPGNN_RANDOM_LINKS, 0, "vgae"),
    PLAIN(TABLE_TRANSDUCTIVE, NPGNN_RANDOM_LINKS, 0, "deepwalk"),
    PLAIN(TABLE_TRANSDUCTIVE, NPGNN_RANDOM_LINKS, 0, "sc"),
    /* heuristics without training, which a model has to beat */
    PLAIN(TABLE_TRANSDUCTIVE, NPGNN_RANDOM_LINKS, 0, "cosine"),
    PLAIN(TABLE_TRANSDUCTIVE, NPGNN_RANDOM_LINKS, 0, "common-neighbors"),
    PLAIN(TABLE_TRANSDUCTIVE, NPGNN_RANDOM_LINKS, 0, "adamic-adar"),
    PLAIN(TABLE_TRANSDUCTIVE, NPGNN_RANDOM_LINKS, 0, "resource-allocation"),
    PLAIN(TABLE_TRANSDUCTIVE, NPGNN_RANDOM_LINKS, 0, "katz"),
    PLAIN(TABLE_INDUCTIVE, NPGNN_PAPER_INDUCTIVE, 0, "npgnn"),
    BEYOND(TABLE_INDUCTIVE, NPGNN_PAPER_INDUCTIVE, 0),
    PLAIN(TABLE_INDUCTIVE, NPGNN_PAPER_INDUCTIVE, 0, "vgae"),
    PLAIN(TABLE_INDUCTIVE, NPGNN_PAPER_INDUCTIVE, 0, "gae"),
    PLAIN(TABLE_INDUCTIVE, NPGNN_PAPER_INDUCTIVE, 0, "cosine"),
    FEW_SHOT(30),
    FEW_SHOT(50),
    FEW_SHOT(70),
    ABLATION(NPGNN_RANDOM_LINKS, 0),
    ABLATION(NPGNN_PAPER_INDUCTIVE, 0),
    ABLATION(NPGNN_PAPER_FEW_SHOT, 30),
};
enum { ROWS = sizeof rows / sizeof rows[0] };

const char *plan_table_name(plan_table table)
{
    static const char *const names[] = {"transductive", "inductive", "few-shot", "ablation"};
    return names[table];
}

/* ---- notes ---- */

static void add_note(cli_plan *plan, json_t *note)
{
    size_t index;
    json_t *other;
    json_array_foreach(plan->notes, index, other)
    {
        if (json_equal(note, other)) {
            json_decref(note);
            return;
        }
    }
    json_array_append_new(plan->notes, note);
}

/* ---- data sets ---- */

/* "dir/ind.Cora" is Cora. */
static void set_name(plan_dataset *dataset)
{
    const char *slash = strrchr(dataset->data, '/');
    const char *name = slash && slash[1] ? slash + 1 : dataset->data;
    if (strncmp(name, "ind.", 4) == 0)
        name += 4;
    snprintf(dataset->name, sizeof dataset->name, "%s", name);
    for (char *c = dataset->name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
}

static int add_dataset(cli_plan *plan, const char *data, size_t length, const npgnn_env *env)
{
    if (plan->dataset_count == PLAN_DATASETS)
        return print_usage_error("reproduce", "--datasets has more than %d names", PLAN_DATASETS);
    plan_dataset *dataset = &plan->datasets[plan->dataset_count];
    npgnn_graph *graph = NULL;
    if (length == 0 || length >= sizeof dataset->data)
        return print_usage_error("reproduce", "--datasets must be a comma-separated list of names");
    snprintf(dataset->data, sizeof dataset->data, "%.*s", (int)length, data);
    data_settings source = plan->settings->data;
    source.name = dataset->data;
    if (data_load(&graph, &source, env) != 0)
        return EXIT_FAILED;
    dataset->info.size = sizeof dataset->info;
    npgnn_graph_describe(&dataset->info, graph, NULL);
    npgnn_graph_free(graph);
    set_name(dataset);
    plan->dataset_count++;
    return 0;
}

/* The length of the first item of a comma-separated list. The commas of "synthetic:key=value,key=value" do not end an
 * item. */
static size_t item_length(const char *list)
{
    size_t length = strcspn(list, ",");
    if (strncmp(list, "synthetic:", 10) != 0)
        return length;
    while (list[length] == ',') {
        size_t word = strcspn(list + length + 1, ",");
        if (!memchr(list + length + 1, '=', word) || strncmp(list + length + 1, "synthetic:", 10) == 0)
            break;
        length += 1 + word;
    }
    return length;
}

static int add_datasets(cli_plan *plan, const npgnn_env *env)
{
    for (const char *item = plan->settings->datasets;;) {
        size_t length = item_length(item);
        int status = add_dataset(plan, item, length, env);
        if (status || !item[length])
            return status;
        item += length + 1;
    }
}

/* ---- cells ---- */

static int has_method(const char *method)
{
    const char *name, *help;
    for (int i = 0; npgnn_method_info(&name, &help, i); i++)
        if (strcmp(name, method) == 0)
            return 1;
    return 0;
}

int plan_options(npgnn_options *options, const cli_plan *plan, const plan_dataset *dataset, const char *preset)
{
    const arg_pairs *changes = &plan->settings->model.changes;
    npgnn_error err = {0};
    options->size = sizeof *options;
    const model_settings *model = &plan->settings->model;
    int code = npgnn_options_preset(options, preset || model->universal ? preset : model->preset, &err);
    if (!options->process) { /* best has a number of iterations, and a loss, of its own */
        options->iterations = paper_iterations(dataset->name);
        if (strcmp(dataset->name, "pubmed") == 0)
            options->loss = NPGNN_LOSS_SAMPLED; /* 2,000 iterations over all pairs of 19,717 nodes would take hours */
    }
    for (int i = 0; code == 0 && i < changes->count; i++)
        code = npgnn_options_set(options, changes->item[i].key, changes->item[i].value, &err);
    return code ? print_error("%s", err.text) : 0;
}

static int add_cell(cli_plan *plan, const plan_row *row, const plan_dataset *dataset)
{
    npgnn_error err = {0};
    plan_cell *cell = &plan->cells[plan->cell_count];
    if (strcmp(row->method, UNIVERSAL) != 0 && !has_method(row->method)) {
        add_note(plan,
                 json_sprintf("%s is left out: this version of the library does not have this method", row->method));
        return 0;
    }
    if (row->authors_split && !paper_find(dataset->name, row->method, row->protocol, row->percent))
        return 0; /* they have drawn none of other data sets */
    if (row->variant && row->table != TABLE_ABLATION && plan->settings->model.preset)
        return 0; /* the tables are about the preset that was asked for */
    if (plan->cell_count == PLAN_CELLS)
        return print_usage_error("reproduce", "too many data sets: the tables would have more than %d cells",
                                 PLAN_CELLS);
    cell->row = row;
    cell->method = plan->settings->model.universal && strcmp(row->method, "npgnn") == 0 ? UNIVERSAL : row->method;
    cell->dataset = dataset;
    int status = plan_options(&cell->options, plan, dataset, row->preset);
    if (status == 0 && row->key && npgnn_options_set(&cell->options, row->key, row->value, &err) != 0)
        status = print_error("%s", err.text);
    plan->cell_count++;
    return status;
}

static int add_cells(cli_plan *plan)
{
    int wanted = plan->settings->table, status = 0;
    for (int table = 0; table < TABLES; table++) {
        if (wanted == TABLES ? table == TABLE_ABLATION : wanted != table) /* all: the tables of the paper */
            continue;
        for (int d = 0; d < plan->dataset_count; d++)
            for (int r = 0; r < ROWS && status == 0; r++)
                if ((int)rows[r].table == table)
                    status = add_cell(plan, &rows[r], &plan->datasets[d]);
    }
    return status;
}

/* ---- the plan ---- */

int plan_make(cli_plan **out, const reproduce_settings *settings, const npgnn_env *env)
{
    cli_plan *made = calloc(1, sizeof *made);
    if (!made)
        return print_error("out of memory");
    *out = made;
    made->settings = settings;
    made->notes = json_array();
    int status = plan_open_cache(made);
    if (status == 0)
        status = add_datasets(made, env);
    return status ? status : add_cells(made);
}

void plan_free(cli_plan *plan)
{
    if (!plan)
        return;
    json_decref(plan->notes);
    free(plan);
}

/* The work of `npgnn reproduce`: the cells of the paper's tables for each data set and, for each cell and seed, the
 * file that holds the result. The file's name contains a hash of everything that determines the result. So an existing
 * result is not computed again, and cells that are the same computation share one. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include <jansson.h>

#include "settings.h"

typedef enum { TABLE_TRANSDUCTIVE, TABLE_INDUCTIVE, TABLE_FEW_SHOT, TABLE_ABLATION, TABLES } plan_table;
#define PLAN_TABLES "transductive|inductive|few-shot|ablation|all" /* in the order above */

/* What the command line of reproduce asked for. */
typedef struct reproduce_settings {
    data_settings data; /* its name is not used */
    common_settings common;
    model_settings model;
    int table; /* a plan_table, or TABLES for all */
    const char *datasets, *html, *cache;
    int seeds;
    uint64_t seed;
    int fresh;
} reproduce_settings;

const char *plan_table_name(plan_table table);

/* A row of a table. */
typedef struct plan_row {
    plan_table table;
    npgnn_protocol protocol;
    int percent;                      /* few-shot: percent of the nodes in the training graph; otherwise 0 */
    const char *method;               /* one of npgnn_method_info, or UNIVERSAL */
    const char *variant;              /* the name of a variant of the model; NULL: not a variant */
    int authors_split;                /* 1: the authors' split for all seeds; 0: a new split per seed */
    const char *preset, *key, *value; /* what the variant changes; NULL: nothing */
} plan_row;

enum { PLAN_PATH = 4096 };

typedef struct plan_dataset {
    char data[256]; /* as the user wrote it */
    char name[64];  /* as in the paper, in lower case */
    npgnn_graph_info info;
} plan_dataset;

typedef struct plan_cell {
    const plan_row *row;
    const char *method; /* of the row, or UNIVERSAL in place of the model */
    const plan_dataset *dataset;
    npgnn_options options;
} plan_cell;

enum { PLAN_DATASETS = 16, PLAN_CELLS = 1024 };

typedef struct cli_plan {
    const reproduce_settings *settings;
    char cache[PLAN_PATH]; /* folder of the results */
    plan_dataset datasets[PLAN_DATASETS];
    plan_cell cells[PLAN_CELLS];
    int dataset_count, cell_count;
    json_t *notes; /* strings: what was left out, and why */
} cli_plan;

/* Loads the data sets and lists the cells. Returns 0, or the exit status after printing what is wrong; plan_free is
 * needed in either case. */
int plan_make(cli_plan **out, const reproduce_settings *settings, const npgnn_env *env);
void plan_free(cli_plan *plan);

/* Chooses the folder of the results and creates it. Returns 0 or EXIT_FAILED. */
int plan_open_cache(cli_plan *plan);

/* The file with the result of one seed of a cell, written by `npgnn eval --json`. */
void plan_result_path(char path[PLAN_PATH], const cli_plan *plan, const plan_cell *cell, uint64_t seed);

/* The file with the model whose embeddings are plotted. */
void plan_model_path(char path[PLAN_PATH], const cli_plan *plan, const plan_dataset *dataset);

/* The options of the model on this data set, without the changes of a variant. */
int plan_options(npgnn_options *options, const cli_plan *plan, const plan_dataset *dataset, const char *preset);

#endif

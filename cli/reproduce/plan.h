/* What `npgnn reproduce` has to do: the cells of the paper's tables on each data set, and for each cell and seed the file that
 * holds its outcome. A file's name says everything that decides the outcome, so a file that is there is never computed again,
 * and two cells that are the same computation share it. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include <jansson.h>

#include "settings.h"

typedef enum { TABLE_TRANSDUCTIVE, TABLE_INDUCTIVE, TABLE_FEW_SHOT, TABLE_ABLATION, TABLES } plan_table;
#define PLAN_TABLES "transductive|inductive|few-shot|ablation|all" /* in the order above */

const char *plan_table_name(plan_table table);

/* A line of a table. */
typedef struct plan_row {
    plan_table table;
    npgnn_protocol protocol;
    int percent;                      /* few-shot: of the nodes known in training; otherwise 0 */
    const char *method;               /* as the library calls it */
    const char *variant;              /* of the model, for people; NULL: as it is */
    int authors_split;                /* 1: the authors' one split for all seeds; 0: a new split per seed */
    const char *preset, *key, *value; /* how the variant differs, NULL where it does not */
} plan_row;

enum { PLAN_PATH = 4096 };

typedef struct plan_dataset {
    char data[256]; /* as the user called it */
    char name[64];  /* as the paper calls it, in small letters */
    char authors_split[PLAN_PATH];
    uint64_t authors_hash; /* of that file's bytes */
    npgnn_graph_info info;
} plan_dataset;

typedef struct plan_cell {
    const plan_row *row;
    const plan_dataset *dataset;
    npgnn_options options;
} plan_cell;

enum { PLAN_DATASETS = 16, PLAN_CELLS = 1024 };

typedef struct cli_plan {
    const cli_settings *settings;
    char cache[PLAN_PATH]; /* the folder of the outcomes */
    plan_dataset datasets[PLAN_DATASETS];
    plan_cell cells[PLAN_CELLS];
    int dataset_count, cell_count;
    json_t *notes; /* sentences: what was left out, and why */
} cli_plan;

/* Loads the data sets, which settles what they are, and lists the cells. Returns 0, or the exit status after having said what
 * is wrong. plan_free takes a plan that failed, too. */
int plan_make(cli_plan **out, const cli_settings *settings, const npgnn_env *env);
void plan_free(cli_plan *plan);

/* Settles on the folder of the outcomes, and makes it. Returns 0 or EXIT_FAILED. */
int plan_open_cache(cli_plan *plan);

/* A hash of the bytes of a file; returns 0 where it cannot be read. */
int plan_hash_file(uint64_t *hash, const char *path);

/* The file with the outcome of a seed of a cell, as `npgnn eval --json` writes it. */
void plan_result_path(char path[PLAN_PATH], const cli_plan *plan, const plan_cell *cell, uint64_t seed);

/* The file with the model of the data set's first cell, which is there for the picture of its embeddings. */
void plan_model_path(char path[PLAN_PATH], const cli_plan *plan, const plan_dataset *dataset);

/* The settings of the model on this data set, without the changes of a variant. */
int plan_options(npgnn_options *options, const cli_plan *plan, const plan_dataset *dataset, const char *preset);

#endif

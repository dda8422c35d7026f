/* The folder in which results are kept, and the names of their files. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"
#include "message.h"
#include "output.h"
#include "plan.h"

/* ---- hashes ---- */

/* FNV-1a */
static const uint64_t HASH_START = UINT64_C(0xcbf29ce484222325);
static uint64_t hash_byte(uint64_t hash, int byte)
{
    return (hash ^ (uint64_t)byte) * UINT64_C(0x100000001b3);
}

/* With the terminating zero, so that "ab" "c" is not "a" "bc". */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    do {
        hash = hash_byte(hash, (unsigned char)*text);
    } while (*text++);
    return hash;
}

/* ---- the folder ---- */

/* --cache, or a folder beside the file of --json, or one in the user's cache folder. */
int plan_open_cache(cli_plan *plan)
{
    const reproduce_settings *s = plan->settings;
    const char *json = s->common.json;
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = 0;
    if (s->cache)
        length = snprintf(plan->cache, PLAN_PATH, "%s", s->cache);
    else if (json && strcmp(json, "-") != 0) {
        const char *slash = strrchr(json, '/');
        length = snprintf(plan->cache, PLAN_PATH, "%.*sreproduce-cache", slash ? (int)(slash + 1 - json) : 0, json);
    } else if (xdg && *xdg)
        length = snprintf(plan->cache, PLAN_PATH, "%s/npgnn/reproduce", xdg);
    else if (home && *home)
        length = snprintf(plan->cache, PLAN_PATH, "%s/.cache/npgnn/reproduce", home);
    if (length == 0)
        return print_error("no folder for intermediate results: give one with --cache DIR, or set HOME");
    if (length > PLAN_PATH - 256) /* space for the file names */
        return print_error("path is too long: %.100s...", plan->cache);
    return output_make_folders(plan->cache);
}

/* ---- the names of the files ---- */

static uint64_t hash_options(uint64_t hash, const npgnn_options *options)
{
    npgnn_option_info info;
    char value[64];
    for (int i = 0; npgnn_options_info(&info, i); i++) {
        if (strcmp(info.key, "seed") == 0)
            continue; /* the seed is part of the name */
        npgnn_options_get(value, sizeof value, options, info.key, NULL);
        hash = hash_text(hash_text(hash, info.key), value);
    }
    return hash;
}

/* A hash of everything that determines a result, except the seed. */
static uint64_t hash_cell(const plan_cell *cell)
{
    char text[128];
    snprintf(text, sizeof text, "%s %016" PRIx64 " %d %d", npgnn_version(), cell->dataset->info.fingerprint,
             cell->row->authors_split, cell->row->percent);
    uint64_t hash = hash_text(hash_text(HASH_START, text), cell->method);
    return hash_options(hash_text(hash, evaluate_protocol_name(cell->row->protocol)), &cell->options);
}

/* The name of a data set, with characters replaced that a file name should not have. */
static void file_name(char out[40], const char *name)
{
    snprintf(out, 40, "%.39s", name);
    for (char *c = out; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '.')
            *c = '_';
}

void plan_result_path(char path[PLAN_PATH], const cli_plan *plan, const plan_cell *cell, uint64_t seed)
{
    char name[40];
    file_name(name, cell->dataset->name);
    snprintf(path, PLAN_PATH, "%.3800s/%s-%s-%s-%016" PRIx64 "-seed%" PRIu64 ".json", plan->cache, name,
             evaluate_protocol_name(cell->row->protocol), cell->method, hash_cell(cell), seed);
}

void plan_model_path(char path[PLAN_PATH], const cli_plan *plan, const plan_dataset *dataset)
{
    static const plan_row row = {.protocol = NPGNN_RANDOM_LINKS, .method = "npgnn"};
    plan_cell cell = {.row = &row, .method = row.method, .dataset = dataset};
    char name[40];
    plan_options(&cell.options, plan, dataset, NULL);
    file_name(name, dataset->name);
    snprintf(path, PLAN_PATH, "%.3800s/%s-%016" PRIx64 "-seed%" PRIu64 ".safetensors", plan->cache, name,
             hash_cell(&cell), plan->settings->seed);
}

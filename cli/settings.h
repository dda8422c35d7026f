/* What the command line asked for: one struct for all commands, and the option tables they share. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <npgnn/npgnn.h>

#include "args.h"

typedef struct cli_settings {
    const char *operands[ARG_MAX_OPERANDS];
    /* data */
    npgnn_load_options load;
    /* common */
    int threads; /* resolved: never 0 once settings_finish has run */
    int quiet;
    const char *json, *log; /* NULL: not wanted */
    uint64_t seed;
    /* model */
    const char *preset;
    arg_pairs changes; /* to the preset, in the order given */
    npgnn_options model;
    /* of single commands */
    const char *output, *split, *save_split, *pairs, *context;
    const char *mirror; /* of fetch */
    int list, patience;
    const char *model_file; /* of adapt */
    double context_nodes;
    int grow;
    const char *checkpoint, *checkpoint_every, *resume;
    int protocol; /* an npgnn_protocol */
    int method;   /* an index of npgnn_method_info */
    double val, test, train_nodes, known_links;
    double negative_ratio;
    int negatives; /* an npgnn_negatives */
    int bootstrap;
    int seeds;
    int samples;
    int raw;
    double link_rate; /* 0: the model's */
    int keep_known;
    /* of predict */
    int top, top_links; /* 0: not asked for */
    const char *new_features;
    arg_pairs from, to; /* nodes, or files of them */
    int exclude;        /* EXCLUDE_KNOWN or EXCLUDE_NONE */
    int format;         /* a links_format; of embed, one of its own */
    double min_probability;
    int rank; /* an npgnn_rank */
    int curves, profile, estimate;
    const char *data; /* of bench: an option there */
    double seconds;
    int iterations, most_nodes, large;
    /* of reproduce */
    const char *program; /* how this program was called */
    const char *datasets, *html, *cache, *splits;
    int table; /* a plan_table, or TABLES for all */
    int fresh;
} cli_settings;

enum { EXCLUDE_KNOWN, EXCLUDE_NONE };

/* A row of an option table whose field is in settings; help, least, most and implied follow the value. */
#define SETTING(n, l, k, field, v, ...)                                                                                \
    {                                                                                                                  \
        .name = n, .letter = l, .kind = k, .offset = offsetof(cli_settings, field), .value = v, .help = __VA_ARGS__    \
    }
#define SETTING_THREADS                                                                                                \
    SETTING("threads", 't', ARG_INT, threads, "N",                                                                     \
            "Threads to use (default: all cores). Results do not depend on it.", 1, 4096)
#define SETTING_PROFILE                                                                                                \
    SETTING("profile", 0, ARG_FLAG, profile, NULL, "Print the time that each step of the training took.")
#define GROUP(heading, options)                                                                                        \
    {                                                                                                                  \
        heading, options, (int)(sizeof(options) / sizeof(options)[0])                                                  \
    }

/* Shared groups. */
const arg_group *settings_data_group(void);
const arg_group *settings_common_group(void);
const arg_group *settings_model_group(void); /* every key of npgnn_options_info */

/* A command of the program. */
typedef struct cli_command {
    arg_command args;
    cli_settings defaults;
    int (*run)(const cli_settings *settings); /* returns the exit status */
} cli_command;

extern const cli_command cmd_demo, cmd_info, cmd_train, cmd_eval, cmd_predict, cmd_reproduce, cmd_bench, cmd_adapt,
    cmd_convert, cmd_embed, cmd_fetch, cmd_test;

/* After parsing: applies preset and changes, resolves the number of threads. Returns 0 or EXIT_USAGE. */
int settings_finish(cli_settings *settings, const arg_command *command);

/* The options that the command line changes, put into settings->model. Returns 0 or EXIT_USAGE. */
int settings_change(cli_settings *settings, const arg_command *command);

/* Loads the graph named by `data` and the data options, saying what is wrong otherwise. Returns 0 or EXIT_FAILED. */
int settings_load(npgnn_graph **graph, const cli_settings *settings, const char *data, const npgnn_env *env);

/* The name of the data for reports: what the user called it. */
const char *settings_dataset(const cli_settings *settings, const char *data);

#endif

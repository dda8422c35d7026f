/* What the command line asked for. Each command defines a settings struct of its own, in its cmd_*.c; the structs and
 * option tables here are those that commands share. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <npgnn/npgnn.h>

#include "args.h"

/* ---- a command ---- */

typedef struct cli_command {
    arg_command args;
    const void *defaults;       /* the command's settings before the command line is read */
    size_t size;                /* of that struct */
    int (*run)(void *settings); /* returns the exit status */
    int takes_universal;        /* 1: --preset may be UNIVERSAL */
    int takes_processes;        /* 1: mpirun may start it in several processes */
} cli_command;

/* A model that is not trained: it is a preset only where nothing would be saved, and a method of the library. */
#define UNIVERSAL "universal"

extern const cli_command cmd_adapt, cmd_compare, cmd_convert, cmd_demo, cmd_embed, cmd_eval, cmd_fetch, cmd_info,
    cmd_predict, cmd_pretrain, cmd_reproduce, cmd_serve, cmd_test, cmd_train;

/* argv[0], set by main: `reproduce` runs this program again. */
extern const char *cli_program;

/* Parses the command line. Applies the preset and the model options where the command has these. Returns 0, EXIT_USAGE
 * after printing what is wrong, or ARG_HELP. */
int settings_parse(void *settings, const cli_command *command, int argc, char **argv);

/* ---- the graph ---- */

typedef struct data_settings {
    const char *name;        /* the operand DATA; NULL where --edges replaces it */
    npgnn_load_options load; /* without kinds and ignored, which data_load fills in */
    arg_pairs kinds, ignored;
    int header; /* an npgnn_header */
} data_settings;

extern const arg_option data_options[];
#define DATA_GROUP(offset_)                                                                                            \
    {                                                                                                                  \
        "Data", data_options, offset_                                                                                  \
    }
#define DATA_OPERAND(offset_)                                                                                          \
    {                                                                                                                  \
        "DATA", offset_, "edges"                                                                                       \
    }
#define OPTION_DATA_DIR(offset_)                                                                                       \
    OPTION("data-dir", 0, ARG_TEXT, offset_, "DIR",                                                                    \
           "Folder in which data sets are looked up by name (default: $NPGNN_DATA, then the user's cache folder).")

/* Loads the graph. Returns 0, or EXIT_FAILED after printing why. */
int data_load(npgnn_graph **graph, const data_settings *data, const npgnn_env *env);

/* Notes, where the settings have weights, that `who` does not use them. */
void data_note_unweighted(const data_settings *data, const char *who, const npgnn_env *env);

/* The name of the graph in reports: DATA, or the file of --edges. */
const char *data_name(const data_settings *data);

/* ---- the splits of an evaluation, one per seed ---- */

typedef struct split_settings {
    int protocol;                  /* an npgnn_protocol */
    double test, val, train_nodes; /* negative: the default of the protocol */
    double known_links;            /* 0: the library's default */
    double negative_ratio;         /* 0: the library's default; -1: as many as in the graph */
    int seeds;
    uint64_t seed;     /* the first */
    const char *fixed; /* the split of every seed: a file or SPLIT_AUTHORS; NULL: a new one per seed */
    int negatives;     /* an npgnn_negatives */
} split_settings;

#define SPLIT_AUTHORS "authors"

#define SPLIT_DEFAULTS .test = -1, .val = -1, .train_nodes = -1, .seed = 1

/* In the order of npgnn_protocol. */
#define SPLIT_PROTOCOLS                                                                                                \
    "transductive|inductive|few-shot|inductive-hidden|production|temporal|paper-inductive|paper-few-shot|random-links"

extern const arg_option split_options[];
#define SPLIT_GROUP(offset_)                                                                                           \
    {                                                                                                                  \
        "Splits", split_options, offset_                                                                               \
    }

/* The library's options, with the first seed. */
npgnn_split_options split_settings_options(const split_settings *split);

/* Which options of a split its protocol, or --split, does not use. */
int split_is_fixed(char *by, size_t size, const void *split, const arg_option *option);
int split_protocol_lacks(char *by, size_t size, const void *split, const arg_option *option);
#define SPLIT_RULES(offset_)                                                                                           \
    {.options = "protocol|test|val|train-nodes|known-links|negative-ratio",                                            \
     .offset = offset_,                                                                                                \
     .unused = split_is_fixed,                                                                                         \
     .hint = "it has a protocol and pairs of its own"},                                                                \
    {                                                                                                                  \
        .options = "test|train-nodes|known-links", .offset = offset_, .unused = split_protocol_lacks                   \
    }

/* The split of a file or, for SPLIT_AUTHORS, npgnn_split_authors. *out stays NULL for NULL. Returns the code of the
 * library. */
int split_open(npgnn_split **out, const npgnn_graph *graph, const char *given, const npgnn_env *env, npgnn_error *err);

/* ---- common options ---- */

typedef struct common_settings {
    int threads; /* 0: npgnn_cores() */
    int quiet;
    const char *json; /* a path, "-" for standard output, or NULL */
} common_settings;

extern const arg_option common_options[];
#define COMMON_GROUP(offset_)                                                                                          \
    {                                                                                                                  \
        "Common options", common_options, offset_                                                                      \
    }
#define OPTION_THREADS(offset_)                                                                                        \
    OPTION("threads", 't', ARG_INT, offset_, "N",                                                                      \
           "Number of threads (default: all cores that it may use). The results do not depend on it.", 1, 4096)
#define OPTION_QUIET(offset_) OPTION("quiet", 'q', ARG_FLAG, offset_, NULL, "Print no progress and no notes.")
#define OPTION_LOG(offset_) OPTION("log", 0, ARG_TEXT, offset_, "FILE", "Write one line of JSON per iteration to FILE.")
#define OPTION_PROFILE(offset_)                                                                                        \
    OPTION("profile", 0, ARG_FLAG, offset_, NULL, "Print the time spent in each step of the training.")

/* The number of threads: what --threads says, or npgnn_cores(). */
int common_threads(const common_settings *common);

/* An environment with that many threads, and nothing else. */
npgnn_env common_env(const common_settings *common);

/* The same, in which notes of the library are printed, unless --quiet. `common` must outlive it. */
npgnn_env common_noting_env(const common_settings *common);

/* Whether the results go to standard output as JSON, which leaves no place for tables. */
int common_json_on_stdout(const common_settings *common);

/* ---- the model and its training ---- */

typedef struct model_settings {
    const char *preset;    /* NULL: the default */
    arg_pairs changes;     /* to the preset, in the order given */
    npgnn_options options; /* both applied */
    int universal;         /* 1: the preset is UNIVERSAL, and options is the default */
} model_settings;

extern arg_option model_options[];
#define MODEL_GROUP(offset_)                                                                                           \
    {                                                                                                                  \
        "Model and training", model_options, offset_                                                                   \
    }

/* --method alone, whose choices are the methods of npgnn_method_info; it fills an int, the index of the method. */
extern arg_option method_options[];
#define METHOD_GROUP(offset_)                                                                                          \
    {                                                                                                                  \
        "Method", method_options, offset_                                                                              \
    }

/* The same for a command that uses methods instead of a model; it fills a const char *, the name. */
extern arg_option heuristic_options[];
#define HEURISTIC_GROUP(offset_)                                                                                       \
    {                                                                                                                  \
        "Method", heuristic_options, offset_                                                                           \
    }

/* Fills model_options, method_options and heuristic_options from the library's lists. main calls it first. */
void library_options_init(void);

/* What a training with these settings is called in messages: "the preset best". */
void model_settings_name(char *name, size_t size, const model_settings *model);

/* Applies model->changes to model->options, whatever these are. Returns 0 or EXIT_USAGE. */
int model_settings_change(model_settings *model, const char *command);

#endif

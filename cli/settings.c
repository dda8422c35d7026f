/* The option tables that commands share, and what follows from their values. */
#include "settings.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "public_datasets.h"

const char *cli_program = "npgnn";

/* ---- the graph ---- */

#define AT(member) offsetof(data_settings, member)
const arg_option data_options[] = {
    OPTION("edges", 0, ARG_TEXT, AT(load.edges), "FILE",
           "Read the edges from FILE. They replace those of DATA, which may be omitted.", .once = 1),
    OPTION("features", 0, ARG_TEXT, AT(load.features), "FILE", "Read the node features from FILE.", .once = 1),
    OPTION_DATA_DIR(AT(load.data_dir)),
    OPTION("normalize", 0, ARG_FLAG, AT(load.normalize), NULL,
           "Divide each feature row by the sum of its absolute values."),
    OPTION("binarize", 0, ARG_FLAG, AT(load.binarize), NULL, "Replace every non-zero feature with 1."),
    OPTION("weighted", 0, ARG_FLAG, AT(load.weighted), NULL,
           "Use edge weights (third column, or matrix values). The preset best, universal and most methods do not."),
    OPTION(
        "source", 0, ARG_TEXT, AT(load.source), "COLUMN",
        "Column of the edge file with the first node of an edge: a name in its header, or a number from 1 (default: by "
        "its name, else the first)."),
    OPTION("target", 0, ARG_TEXT, AT(load.target), "COLUMN", "Column with the second node (default: the second)."),
    OPTION("weight", 0, ARG_TEXT, AT(load.weight), "COLUMN", "Column with the weight of an edge; implies --weighted."),
    OPTION("time", 0, ARG_TEXT, AT(load.time), "COLUMN", "Column with the time of an edge: a number or a date."),
    OPTION("id", 0, ARG_TEXT, AT(load.id), "COLUMN", "Column of the feature file with the node ids."),
    OPTION(
        "column", 0, ARG_PAIR, AT(kinds), "COLUMN:KIND",
        "Read a feature column as number, category, flag, date, text or raw (a number that is not scaled), whatever it "
        "looks like. *:KIND means all columns. May be repeated."),
    OPTION("ignore", 0, ARG_PAIR, AT(ignored), "COLUMN", "Leave a feature column out. May be repeated."),
    OPTION("data-header", 0, ARG_CHOICE, AT(header), "auto|yes|no",
           "Whether the first line of the edge and feature files is a header (default auto: by what is in it)."),
    OPTION("skip-bad-rows", 0, ARG_FLAG, AT(load.skip_bad_rows), NULL,
           "Leave out rows that cannot be used, instead of stopping at the first; a note says how many, which and why. "
           "Also for the pairs of predict and test."),
    OPTION("bipartite", 0, ARG_FLAG, AT(load.bipartite), NULL,
           "Sources and targets are two kinds of nodes, such as users and items: their ids are unrelated, and links "
           "are predicted only between the two kinds."),
    OPTION("target-features", 0, ARG_TEXT, AT(load.target_features), "FILE",
           "With --bipartite, the features of the targets; --features are those of the sources."),
    OPTIONS_END,
};
#undef AT

int data_load(npgnn_graph **graph, const data_settings *data, const npgnn_env *env)
{
    npgnn_load_options options = data->load;
    npgnn_error err = {0};
    const char *kinds[ARG_MAX_PAIRS], *ignored[ARG_MAX_PAIRS];
    for (int i = 0; i < data->kinds.count; i++)
        kinds[i] = data->kinds.item[i].value;
    for (int i = 0; i < data->ignored.count; i++)
        ignored[i] = data->ignored.item[i].value;
    options.size = sizeof options;
    options.header = (npgnn_header)data->header;
    options.kinds = kinds;
    options.kind_count = data->kinds.count;
    options.ignored = ignored;
    options.ignored_count = data->ignored.count;
    int code = npgnn_load(graph, data->name, &options, env, &err);
    if (code == NPGNN_E_IO && data->name && public_dataset_find(data->name, strlen(data->name)))
        return print_error("%s; to download it, run: npgnn fetch %s", err.text, data->name);
    return code ? print_error("%s", err.text) : 0;
}

void data_note_unweighted(const data_settings *data, const char *who, const npgnn_env *env)
{
    char text[600];
    snprintf(text, sizeof text, "%.400s does not use the weights of links: every link counts once", who);
    if ((data->load.weighted || data->load.weight) && env->log)
        env->log(env->user, text);
}

const char *data_name(const data_settings *data)
{
    return data->name ? data->name : data->load.edges;
}

/* ---- the splits of an evaluation ---- */

#define AT(member) offsetof(split_settings, member)
const arg_option split_options[] = {
    OPTION(
        "protocol", 'p', ARG_CHOICE, AT(protocol), SPLIT_PROTOCOLS,
        "What is held out. transductive: some edges, whose nodes keep others; inductive: all edges of some nodes; "
        "few-shot: all edges of most nodes; inductive-hidden: the edges between hidden nodes; production: some edges "
        "of new nodes, whose other edges are known at prediction; temporal: the latest edges, by --time; "
        "paper-inductive, paper-few-shot: with the negatives of the paper's authors, which seldom touch a hidden node; "
        "random-links: any edges, as usual in the field, although a node that has lost all of them betrays them "
        "(default transductive)."),
    OPTION("test", 0, ARG_REAL, AT(test), "F",
           "Fraction of the edges (transductive, random-links, temporal) or nodes (other protocols) in the test set "
           "(default 0.1; inductive 0.05).",
           0, 0.9),
    OPTION(
        "val", 0, ARG_REAL, AT(val), "F",
        "Fraction of the edges or nodes in the validation set (default 0.05; inductive 0.025; inductive-hidden 0.1).",
        0, 0.9),
    OPTION("train-nodes", 0, ARG_REAL, AT(train_nodes), "F",
           "few-shot: fraction of the nodes in the training graph (default 0.3).", 0.01, 0.99),
    OPTION("known-links", 0, ARG_REAL, AT(known_links), "F",
           "production: fraction of a new node's edges that are known at prediction (default 0.5).", 0.01, 0.99),
    OPTION("negative-ratio", 0, ARG_REAL, AT(negative_ratio), "R|full",
           "Non-links per edge in the validation and test sets (default 1). full: the ratio of the whole graph.", 1,
           1e6, .word = "full"),
    OPTION("seeds", 'n', ARG_INT, AT(seeds), "N",
           "Number of seeds. Each has its own split and initial weights (default 3; compare: 10).", 1, 10000),
    OPTION("seed", 's', ARG_U64, AT(seed), "N", "First seed (default 1)."),
    OPTION("split", 0, ARG_TEXT, AT(fixed), "FILE|authors",
           "Use the split in FILE for every seed. authors: the split by random links that the program of the paper's "
           "authors draws. Seeds then differ in initial weights only."),
    OPTION(
        "negatives", 0, ARG_CHOICE, AT(negatives), "uniform|hard|all",
        "Negatives for ranking. uniform: the non-links of the test set; hard: in addition 500 per edge that resemble "
        "links; all: in addition all nodes that an end of the edge is not linked to (default uniform)."),
    OPTIONS_END,
};
#undef AT

int split_is_fixed(char *by, size_t size, const void *split, const arg_option *option)
{
    (void)option;
    snprintf(by, size, "with --split");
    return ((const split_settings *)split)->fixed != NULL;
}

/* The name with this index in "a|b|c". */
static const char *name_at(int *length, const char *names, int index)
{
    for (; index > 0; index--)
        names += strcspn(names, "|") + 1;
    *length = (int)strcspn(names, "|");
    return names;
}

int split_protocol_lacks(char *by, size_t size, const void *split, const arg_option *option)
{
    enum { FEW = 1 << NPGNN_FEW_SHOT | 1 << NPGNN_PAPER_FEW_SHOT };
    static const struct {
        const char *option;
        unsigned protocols; /* a bit for each that uses the option */
        const char *hint;
    } uses[] = {
        {"train-nodes", FEW, "it is for few-shot and paper-few-shot"},
        {"known-links", 1 << NPGNN_PRODUCTION, "it is for production"},
        {"test", ~(unsigned)FEW, "all nodes that are neither for training nor for validation are tested"},
    };
    int protocol = ((const split_settings *)split)->protocol, length;
    const char *name = name_at(&length, SPLIT_PROTOCOLS, protocol);
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++)
        if (strcmp(uses[i].option, option->name) == 0 && !(uses[i].protocols & 1u << protocol)) {
            snprintf(by, size, "by the protocol %.*s: %s", length, name, uses[i].hint);
            return 1;
        }
    return 0;
}

int split_open(npgnn_split **out, const npgnn_graph *graph, const char *given, const npgnn_env *env, npgnn_error *err)
{
    *out = NULL;
    if (!given)
        return 0;
    if (strcmp(given, SPLIT_AUTHORS) == 0)
        return npgnn_split_authors(out, graph, env, err);
    return npgnn_split_load(out, graph, given, env, err);
}

npgnn_split_options split_settings_options(const split_settings *split)
{
    npgnn_split_options options = {.size = sizeof options};
    npgnn_split_options_default(&options, (npgnn_protocol)split->protocol, NULL);
    if (split->test >= 0)
        options.test = split->test;
    if (split->val >= 0)
        options.val = split->val;
    if (split->train_nodes >= 0)
        options.train_nodes = split->train_nodes;
    if (split->known_links > 0)
        options.known_links = split->known_links;
    options.negative_ratio = split->negative_ratio;
    options.seed = split->seed;
    return options;
}

/* ---- common options ---- */

#define AT(member) offsetof(common_settings, member)
const arg_option common_options[] = {
    OPTION_THREADS(AT(threads)),
    OPTION_QUIET(AT(quiet)),
    OPTION("json", 0, ARG_TEXT, AT(json), "FILE|-", "Write the results as JSON to FILE (-: standard output).", 0, 0,
           "-"),
    OPTIONS_END,
};
#undef AT

int common_threads(const common_settings *common)
{
    return common->threads > 0 ? common->threads : npgnn_cores();
}

npgnn_env common_env(const common_settings *common)
{
    return (npgnn_env){.size = sizeof(npgnn_env), .threads = common_threads(common)};
}

static void on_note(void *user, const char *text)
{
    static const char mark[] = "warning: ";
    const common_settings *common = user;
    if (strncmp(text, mark, sizeof mark - 1) == 0)
        print_warning("%s", text + sizeof mark - 1);
    else if (!common->quiet)
        print_note("%s", text);
}

npgnn_env common_noting_env(const common_settings *common)
{
    npgnn_env env = common_env(common);
    env.log = on_note;
    env.user = (void *)(uintptr_t)common; /* which on_note only reads */
    return env;
}

int common_json_on_stdout(const common_settings *common)
{
    return common->json && strcmp(common->json, "-") == 0;
}

/* ---- the model and its training ---- */

int model_settings_change(model_settings *model, const char *command)
{
    npgnn_error err = {0};
    for (int i = 0; i < model->changes.count; i++)
        if (npgnn_options_set(&model->options, model->changes.item[i].key, model->changes.item[i].value, &err) != 0)
            return print_usage_error(command, "%s", err.text);
    return 0;
}

void model_settings_name(char *name, size_t size, const model_settings *model)
{
    if (model->options.process && !model->preset)
        snprintf(name, size, "the process that --process tunes");
    else
        snprintf(name, size, "the preset %s", model->preset ? model->preset : "default");
}

/* ---- the command line ---- */

/* Applies the preset and the changes to it. */
static int model_settings_apply(model_settings *model, const cli_command *command)
{
    const char *name = command->args.name;
    npgnn_error err = {0};
    model->universal = model->preset && strcmp(model->preset, UNIVERSAL) == 0;
    if (model->universal && !command->takes_universal)
        return print_usage_error(name, "there is nothing to train with the preset " UNIVERSAL
                                       ": use it as MODEL, as in 'npgnn predict " UNIVERSAL " DATA'");
    model->options.size = sizeof model->options;
    if (npgnn_options_preset(&model->options, model->universal ? NULL : model->preset, &err) != 0)
        return print_usage_error(name, "%s", err.text);
    model->options.seed = 1;
    return model_settings_change(model, name);
}

/* The option that makes another one useless, as on the command line: "--loss exact". "" where the preset does without
 * it anyway, or where no single change is to blame. */
static void find_blame(char *text, size_t size, const model_settings *model, const char *key)
{
    npgnn_options options = {.size = sizeof options};
    text[0] = '\0';
    if (npgnn_options_preset(&options, model->preset, NULL) != 0 || npgnn_options_uses(&options, key, NULL) <= 0)
        return;
    for (int i = 0; i < model->changes.count; i++) {
        const char *changed = model->changes.item[i].key, *value = model->changes.item[i].value;
        npgnn_options_preset(&options, model->preset, NULL);
        if (npgnn_options_set(&options, changed, value, NULL) != 0 || npgnn_options_uses(&options, key, NULL) != 0)
            continue;
        if (strcmp(value, "off") == 0)
            snprintf(text, size, "--no-%s", changed);
        else
            snprintf(text, size, "--%s %s", changed, value);
    }
}

/* Whether the model that is chosen has no use for one of its options. */
static int model_lacks(char *by, size_t size, const void *part, const arg_option *option)
{
    const model_settings *model = part;
    char name[128], blame[128];
    if (!option->key || strcmp(option->key, "seed") == 0)
        return 0;
    if (!model->universal && npgnn_options_uses(&model->options, option->key, NULL))
        return 0;
    find_blame(blame, sizeof blame, model, option->key);
    model_settings_name(name, sizeof name, model);
    if (*blame)
        snprintf(by, size, "with %s", blame);
    else
        snprintf(by, size, "by %s%s", name, model->universal ? ": it is not trained" : "");
    return 1;
}

int settings_parse(void *settings, const cli_command *command, int argc, char **argv)
{
    const arg_command *args = &command->args;
    arg_rule of_model[2] = {{.options = NULL}};
    arg_given given;
    int code = arg_parse(settings, &given, args, argc, argv);
    for (int g = 0; code == 0 && g < ARG_MAX_GROUPS; g++)
        if (args->groups[g].options == model_options) {
            of_model[0] = (arg_rule){.table = model_options, .offset = args->groups[g].offset, .unused = model_lacks};
            code = model_settings_apply((void *)((char *)settings + args->groups[g].offset), command);
        }
    if (code == 0) /* those of the command come first: a method that takes no preset says so */
        code = arg_check(settings, &given, args, args->rules);
    return code ? code : arg_check(settings, &given, args, of_model);
}

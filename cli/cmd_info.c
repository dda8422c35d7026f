/* npgnn info: describes a graph or a model file. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"
#include "report.h"
#include "saved_model.h"
#include "settings.h"

typedef struct info_settings {
    data_settings data; /* its name may be a model file */
    common_settings common;
} info_settings;

/* ---- notices ---- */

/* What the library says while it reads the graph: the same that a training would print. */
typedef struct notices {
    char **text;
    size_t count;
    int lost; /* there was no memory for some */
} notices;

static void on_notice(void *user, const char *message)
{
    notices *all = user;
    char *copy = strdup(message), **grown = copy ? realloc(all->text, (all->count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(copy);
        all->lost = 1;
        return;
    }
    all->text = grown;
    all->text[all->count++] = copy;
}

static void free_notices(notices *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->text[i]);
    free(all->text);
}

/* ---- the table that the features were made from ---- */

typedef int column_fn(npgnn_table_column *out, const void *of, int32_t index);

static int column_of_graph(npgnn_table_column *out, const void *of, int32_t index)
{
    return npgnn_graph_table(out, of, index);
}

static int column_of_model(npgnn_table_column *out, const void *of, int32_t index)
{
    return npgnn_model_table(out, of, index);
}

static json_t *table_json(column_fn *column_of, const void *of)
{
    json_t *array = json_array();
    npgnn_table_column column;
    for (int32_t i = 0; column_of(&column, of, i); i++)
        json_array_append_new(array,
                              json_pack("{s:s?, s:s, s:I, s:I, s:i, s:i, s:i, s:s, s:s}", "name", column.name, "kind",
                                        column.kind, "rows", (json_int_t)column.rows, "missing",
                                        (json_int_t)column.missing, "first", column.first, "columns", column.columns,
                                        "side", column.side, "values", column.summary, "outcome", column.outcome));
    return array;
}

/* A text of UTF-8 with blanks up to a number of characters. */
static void print_padded(const char *text, int width)
{
    for (const char *at = text; *at; at++)
        width -= ((unsigned char)*at & 0xC0) != 0x80;
    printf("%s%*s", text, width > 0 ? width : 0, "");
}

/* A line per column. Wide tables are nearly always matrices of one kind, of which the first columns tell enough. */
static void print_table(column_fn *column_of, const void *of)
{
    enum { LISTED = 60 };
    npgnn_table_column column;
    int32_t count = 0, of_side[2] = {0, 0};
    for (int32_t i = 0; column_of(&column, of, i); i++) {
        char number[24], name[40];
        of_side[column.side != 0]++;
        if (count++ >= LISTED)
            continue;
        if (i == 0)
            printf("\n%-20s %-9s %8s  %-40s  %s\n", "column", "kind", "missing", "values", "becomes");
        snprintf(number, sizeof number, "%" PRId32, of_side[column.side != 0]);
        snprintf(name, sizeof name, "%s%.32s", column.side ? "target:" : "", column.name ? column.name : number);
        print_padded(name, 20);
        printf(" %-9s %8" PRId64 "  ", column.kind, column.missing);
        print_padded(column.summary, 40);
        printf("  %s\n", column.outcome);
    }
    if (count > LISTED)
        printf("... and %" PRId32 " more columns (--json has all)\n", count - LISTED);
}

/* ---- a graph ---- */

static json_t *graph_json(const npgnn_graph_info *info, const char *dataset, const npgnn_graph *graph,
                          const notices *all)
{
    json_t *said = json_array();
    for (size_t i = 0; i < all->count; i++)
        json_array_append_new(said, json_string(all->text[i]));
    return json_pack(
        "{s:o, s:o, s:i, s:b, s:s, s:i, s:I, s:b, s:i, s:I, s:b, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:o}",
        "notices", said, "table", table_json(column_of_graph, graph), "sources", info->sources, "dated", info->dated,
        "dataset", dataset, "nodes", info->nodes, "edges", (json_int_t)info->edges, "weighted", info->weighted,
        "features", info->columns, "nonzeros", (json_int_t)info->nonzeros, "features_dense", info->features_dense,
        "isolated", info->isolated, "featureless", info->featureless, "max_degree", info->max_degree, "classes",
        info->classes, "input_edges", (json_int_t)info->input_edges, "merged_duplicates",
        (json_int_t)info->merged_duplicates, "merged_reverse", (json_int_t)info->merged_reverse, "dropped_self_loops",
        (json_int_t)info->dropped_self_loops, "fingerprint", report_hash(info->fingerprint));
}

/* What a node whose features are all zero may be instead of one without features: numbers and dates are 0 at the median
 * of their column. A category is never 0. */
static const char *zeros_text(const npgnn_graph *graph)
{
    npgnn_table_column column;
    int scaled = 0;
    for (int32_t i = 0; npgnn_graph_table(&column, graph, i); i++) {
        if (strcmp(column.kind, "category") == 0)
            return "";
        scaled |= strcmp(column.kind, "number") == 0 || strcmp(column.kind, "date") == 0;
    }
    return scaled ? ", or at the median of every column" : "";
}

static void print_graph(const npgnn_graph_info *info, const npgnn_graph *graph)
{
    double cells = (double)info->nodes * info->columns;
    printf("nodes          %" PRId32 "\n", info->nodes);
    if (info->sources > 0)
        printf("  two sides    %" PRId32 " sources, %" PRId32 " targets\n", info->sources, info->nodes - info->sources);
    printf("  isolated     %" PRId32 "\n", info->isolated);
    printf("  no features  %" PRId32 "%s\n", info->featureless, info->featureless > 0 ? zeros_text(graph) : "");
    printf("edges          %" PRId64 " undirected, %s; maximum degree %" PRId32 "\n", info->edges,
           info->weighted ? "weighted" : "unweighted", info->max_degree);
    if (info->dated)
        printf("  dated        yes\n");
    printf("  in the file  %" PRId64 "\n", info->input_edges);
    printf("  duplicates   %" PRId64 " merged\n", info->merged_duplicates);
    printf("  reversed     %" PRId64 " merged\n", info->merged_reverse);
    printf("  self loops   %" PRId64 " dropped\n", info->dropped_self_loops);
    printf("features       %" PRId32 ", %.3g %% non-zero, stored %s\n", info->columns,
           cells > 0 ? 100 * (double)info->nonzeros / cells : 0, info->features_dense ? "dense" : "sparse");
    printf("classes        %" PRId32 "\n", info->classes);
    printf("fingerprint    %016" PRIx64 "\n", info->fingerprint);
}

static int info_graph(const info_settings *settings, const npgnn_env *env)
{
    npgnn_graph *graph = NULL;
    npgnn_graph_info info = {.size = sizeof info};
    notices all = {0};
    npgnn_env listening = *env;
    listening.log = on_notice;
    listening.user = &all;
    int status = data_load(&graph, &settings->data, &listening);
    if (status == 0 && all.lost)
        status = print_error("out of memory");
    if (status == 0) {
        npgnn_graph_describe(&info, graph, NULL);
        if (settings->common.json) {
            status = report_write(graph_json(&info, data_name(&settings->data), graph, &all), settings->common.json);
        } else {
            print_graph(&info, graph);
            print_table(column_of_graph, graph);
            for (size_t i = 0; i < all.count; i++) {
                fputs(i ? "- " : "\nnotices\n- ", stdout);
                print_clean(stdout, all.text[i]);
                putchar('\n');
            }
        }
    }
    npgnn_graph_free(graph);
    free_notices(&all);
    return status;
}

/* ---- a model ---- */

static json_t *model_json(const npgnn_model_info *info, const npgnn_options *options)
{
    if (info->across_graphs && info->train_nodes == 0) /* the rest is about the graph that a model was trained on */
        return json_pack("{s:b, s:I, s:i, s:s}", "across_graphs", 1, "parameters", (json_int_t)info->parameters,
                         "steps", info->iterations, "version", info->version);
    return json_pack("{s:b, s:b, s:[o, o], s:[o, o], s:i, s:I, s:i, s:i, s:I, s:b, s:b, s:o, s:o, s:b, s:f, s:s, s:o, "
                     "s:o, s:o}",
                     "across_graphs", info->across_graphs, "tuned", info->tuned, "hidden_links_auc",
                     report_real(info->hidden_links_auc[0]), report_real(info->hidden_links_auc[1]), "hidden_nodes_auc",
                     report_real(info->hidden_nodes_auc[0]), report_real(info->hidden_nodes_auc[1]), "features",
                     info->columns, "parameters", (json_int_t)info->parameters, "iterations", info->iterations,
                     "train_nodes", info->train_nodes, "train_edges", (json_int_t)info->train_edges, "normalize",
                     info->normalize, "binarize", info->binarize, "val_auc", report_real(info->val_auc), "val_ap",
                     report_real(info->val_ap), "calibrated", info->calibrated, "link_rate", info->link_rate, "version",
                     info->version, "fingerprint", report_hash(info->fingerprint), "context",
                     report_hash(info->context_fingerprint), "config", report_options(options));
}

/* What tuning was worth on a graph, or why there is none. */
static void print_tuning(const npgnn_model_info *info)
{
    const struct {
        const char *what;
        const double *auc; /* (2) of the process as it is, then tuned */
    } hidden[] = {{"hidden links", info->hidden_links_auc}, {"hidden nodes", info->hidden_nodes_auc}};
    printf("tuning         %s\n", info->tuned                        ? "kept"
                                  : isnan(info->hidden_links_auc[0]) ? "not tried: the graph has too few links"
                                                                     : "not kept: it did not help on this graph");
    for (int i = 0; i < 2; i++)
        if (!isnan(hidden[i].auc[0]))
            printf("  %-13sAUC %.2f untuned, %.2f tuned\n", hidden[i].what, 100 * hidden[i].auc[0],
                   100 * hidden[i].auc[1]);
}

/* What the model can be used for, in words. */
static void print_abilities(const npgnn_model *model, const npgnn_model_info *info, const npgnn_options *options)
{
    int by_name = info->columns > 0 && npgnn_model_column_name(model, 0) != NULL;
    if (info->across_graphs) {
        if (info->tuned)
            printf("This model was learnt across many graphs and tuned on one. It\n");
        else
            printf("This model was learnt across many graphs, and is used as it is: tuning did not help on the graph\n"
                   "that it was trained on. It\n");
        if (!info->tuned)
            printf("- predicts links of that graph and of others, with or without features;\n");
        else if (info->columns > 0)
            printf("- predicts links of that graph, and of others like it with the same %" PRId32
                   " feature columns (%s);\n"
                   "- predicts links of nodes that have no links yet, from their features;\n",
                   info->columns, by_name ? "matched by name" : "in the same order");
        else
            printf("- predicts links of that graph, and of others like it without features;\n");
        if (info->calibrated)
            printf("- gives probabilities that were calibrated on links of that graph, for the link rate of the graph\n"
                   "  that it predicts on (change it with --link-rate);\n");
        else if (info->tuned)
            printf("- gives uncalibrated probabilities: use them for ranking only;\n");
        else
            printf("- calibrates its probabilities on each graph that it predicts on;\n");
        printf("- gives an interval for each probability with --samples N;\n"
               "- explains its predictions (npgnn predict --explain);\n"
               "- has no node embeddings.\n");
        return;
    }
    printf("This model\n");
    printf("- predicts links of any graph with the same %" PRId32 " feature columns (%s);\n", info->columns,
           by_name ? "matched by name" : "in the same order");
    printf("- predicts links of new nodes from their features alone;\n");
    if (info->calibrated)
        printf("- gives calibrated probabilities, for a link rate of %.3g (change it with --link-rate);\n",
               info->link_rate);
    else
        printf("- gives uncalibrated probabilities: use them for ranking only;\n");
    if (options->latent && options->sample_latent)
        printf("- gives an interval for each probability with --samples N;\n");
    else
        printf("- gives no intervals: it was trained without %s;\n",
               options->latent ? "draws of the latent variable" : "a latent variable");
    printf("- has node embeddings (npgnn embed), and cannot explain its predictions;\n");
    if (options->latent)
        printf("- can be adapted to another graph without training (--context, npgnn adapt).\n");
    else
        printf("- cannot be adapted to another graph without training: it has no latent variable.\n");
}

/* A model learnt across graphs. */
static void print_process(const npgnn_model_info *info)
{
    printf("This model was learnt across many graphs. It\n"
           "- predicts links of a graph that it was not trained on, with or without features (npgnn predict);\n"
           "- predicts links of nodes that have no links yet, from their features;\n"
           "- sets some of the graph's links aside to infer what kind of graph it is, and to calibrate its\n"
           "  probabilities, then uses all links;\n"
           "- gives an interval for each probability with --samples N;\n"
           "- explains its predictions (npgnn predict --explain);\n"
           "- can be tuned on a graph (npgnn train --preset best);\n"
           "- has no node embeddings.\n");
    printf("\nparameters     %" PRId64 "\n", info->parameters);
    printf("steps          %d\n", info->iterations);
    printf("written by     npgnn %s\n", info->version);
}

static void print_model(const npgnn_model *model, const npgnn_model_info *info, const npgnn_options *options)
{
    const char *preparation = info->binarize ? (info->normalize ? "binarized, normalized" : "binarized")
                                             : (info->normalize ? "normalized" : "unchanged");
    npgnn_option_info option;
    char value[64];
    print_abilities(model, info, options);
    printf("\nparameters     %" PRId64 "\n", info->parameters);
    if (!info->across_graphs)
        printf("features       %" PRId32 ", %s\n", info->columns, preparation);
    printf("trained on     %" PRId32 " node%s, %" PRId64 " edge%s%s\n", info->train_nodes, PLURAL(info->train_nodes),
           info->train_edges, PLURAL(info->train_edges), info->weighted ? " with weights" : "");
    printf("iterations     %d\n", info->iterations);
    if (info->across_graphs)
        print_tuning(info);
    if (!isnan(info->val_auc))
        printf("validation     AUC %.2f, AP %.2f\n", 100 * info->val_auc, 100 * info->val_ap);
    if (!info->across_graphs || info->tuned)
        printf("probabilities  %s, for a link rate of %.3g\n", info->calibrated ? "calibrated" : "uncalibrated",
               info->link_rate);
    printf("fingerprint    %016" PRIx64 " (training graph)\n", info->fingerprint);
    if (info->context_fingerprint != info->fingerprint)
        printf("latent from    %016" PRIx64 "\n", info->context_fingerprint);
    printf("written by     npgnn %s\n", info->version);
    printf("options\n");
    for (int i = 0; npgnn_options_info(&option, i); i++)
        if (npgnn_options_uses(options, option.key, NULL) &&
            npgnn_options_get(value, sizeof value, options, option.key, NULL) == 0)
            printf("  %-18s %s\n", option.key, value);
}

static int info_model(const info_settings *settings, const npgnn_env *env)
{
    npgnn_model *model = NULL;
    npgnn_model_info info = {.size = sizeof info};
    npgnn_options options = {.size = sizeof options};
    npgnn_error err = {0};
    int status = EXIT_DONE;
    if (saved_model_open(&model, settings->data.name, env, &err) != 0)
        return print_error("%s", err.text);
    npgnn_model_describe(&info, model, NULL);
    npgnn_model_options(&options, model, NULL);
    if (settings->common.json)
        status = report_write(model_json(&info, &options), settings->common.json);
    else if (info.across_graphs && info.train_nodes == 0)
        print_process(&info);
    else
        print_model(model, &info, &options);
    if (!settings->common.json)
        print_table(column_of_model, model);
    npgnn_model_free(model);
    return status;
}

/* ---- the command ---- */

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Whether a file begins as safetensors do: the length of a header, in eight bytes of which the upper four are 0, and
 * its brace. No text file does. */
static int begins_as_model(const char *path)
{
    unsigned char start[9] = {0};
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(start, 1, sizeof start, file) : 0;
    if (file)
        fclose(file);
    return count == sizeof start && !start[4] && !start[5] && !start[6] && !start[7] && start[8] == '{';
}

static int is_model(const char *name)
{
    struct stat at;
    return strcmp(name, "universal") == 0 || ends_with(name, ".safetensors") || ends_with(name, ".npgnn") ||
           (stat(name, &at) == 0 && S_ISREG(at.st_mode) &&
            begins_as_model(name)); /* reading a pipe would take from it */
}

static int run(void *given)
{
    const info_settings *settings = given;
    npgnn_env env = common_env(&settings->common);
    return settings->data.name && is_model(settings->data.name) ? info_model(settings, &env)
                                                                : info_graph(settings, &env);
}

static int describes_model(char *by, size_t size, const void *part, const arg_option *option)
{
    const info_settings *settings = part;
    (void)option;
    snprintf(by, size, "for a model");
    return settings->data.name && is_model(settings->data.name);
}

static const arg_rule rules[] = {
    {.table = data_options, .unused = describes_model},
    {.options = NULL},
};

#define AT(member) offsetof(info_settings, member)
const cli_command cmd_info = {
    .args =
        {
            .name = "info",
            .usage = "DATA|MODEL [OPTION...]",
            .summary = "Describe a graph or a model file.",
            .description =
                "For a graph, prints its size, what was merged or dropped while reading it, the columns of its feature "
                "table and what becomes of them, and every notice that a training would print. For a model file, "
                "prints what the model can do, what it was trained on, its validation results and its options.",
            .examples = "  npgnn info synthetic:nodes=500,seed=7\n"
                        "  npgnn info model.safetensors --json -\n",
            .operands = {{"DATA|MODEL", AT(data.name), "edges"}},
            .groups = {DATA_GROUP(AT(data)), COMMON_GROUP(AT(common))},
            .rules = rules,
        },
    .defaults = &(const info_settings){.data.name = NULL},
    .size = sizeof(info_settings),
    .run = run,
};

/* npgnn demo: hides links of a real graph, and shows which of them the model `universal` finds, with reasons. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo_page.h"
#include "message.h"
#include "node_list.h"
#include "output.h"
#include "report.h"
#include "settings.h"

#define DEMO_GRAPH "debian-python"
#define HIDDEN 0.1 /* of the links */
enum { BEST = 100 };

typedef struct demo_settings {
    common_settings common;
    arg_pairs nodes;
    int top;
    uint64_t seed;
    const char *html, *svg;
} demo_settings;

/* ---- the experiment ---- */

/* Scores the hidden links and as many random pairs without a link. */
static int measure(demo_result *result, npgnn_predictor *predictor, const npgnn_split *split, npgnn_error *err)
{
    const npgnn_pair *pairs;
    size_t positives, count = npgnn_split_pairs(&pairs, &positives, split, NPGNN_SET_TEST);
    npgnn_prediction *predictions = malloc((count + 1) * sizeof *predictions);
    float *score = malloc((count + 1) * sizeof *score);
    int code = NPGNN_E_MEMORY;
    if (predictions && score)
        code = npgnn_predictor_run(predictions, predictor, pairs, count, err);
    else
        snprintf(err->text, sizeof err->text, "out of memory");
    for (size_t i = 0; code == 0 && i < count; i++)
        score[i] = predictions[i].score;
    if (code == 0)
        code =
            npgnn_auc_ap(&result->auc, &result->ap, score, score + positives, positives, count - positives, NULL, err);
    free(predictions);
    free(score);
    return code;
}

/* The most probable pairs of the whole graph. */
static int find_best(demo_result *result, npgnn_predictor *predictor, const npgnn_graph *complete, npgnn_error *err)
{
    npgnn_link links[BEST];
    int code = npgnn_predictor_top_links(links, &result->best, predictor, BEST, NULL, err);
    for (int32_t i = 0; code == 0 && i < result->best; i++) {
        result->best_true += npgnn_graph_has_edge(complete, links[i].pair.u, links[i].pair.v);
        result->best_expected += (double)links[i].prediction.probability;
    }
    return code;
}

/* What is suggested for each of the nodes. */
static int suggest(demo_result *result, npgnn_predictor *predictor, const npgnn_graph *complete, const node_list *nodes,
                   int top, npgnn_error *err)
{
    npgnn_link links[DEMO_MAX_TOP];
    const int count = nodes->count < DEMO_MAX_NODES ? nodes->count : DEMO_MAX_NODES;
    int code = 0;
    for (; code == 0 && result->node_count < count; result->node_count += code == 0) {
        demo_node *node = &result->nodes[result->node_count];
        int32_t found = 0;
        node->node = nodes->nodes[result->node_count];
        const npgnn_top_options from = {.size = sizeof from, .from = &node->node, .from_count = 1};
        code = npgnn_predictor_top(links, &found, predictor, top, &from, err);
        for (int32_t i = 0; code == 0 && i < found; i++) {
            npgnn_explanation why = {.size = sizeof why};
            demo_suggestion *s = &node->suggestions[node->count++];
            code = npgnn_predictor_explain(&why, predictor, links[i].pair, err);
            s->node = links[i].pair.v;
            s->probability = (double)links[i].prediction.probability;
            s->came_true = npgnn_graph_has_edge(complete, links[i].pair.u, links[i].pair.v);
            snprintf(s->reason, sizeof s->reason, "%s", code == 0 ? why.text : "");
            node->came_true += s->came_true;
        }
    }
    return code;
}

/* ---- what is printed ---- */

/* The first reasons, up to a number of characters that fits on a line. */
static int reason_length(const char *reason)
{
    enum { FITS = 110 };
    size_t length = strlen(reason);
    while (length > FITS) {
        size_t last = length;
        while (last > 0 && reason[last - 1] != ';')
            last--;
        if (last == 0)
            break;
        length = last - 1;
    }
    return (int)length;
}

static void print_results(const demo_result *r)
{
    char buffer[12];
    printf("Python libraries in Debian 12: %" PRId32 " packages, %" PRId64
           " links. Two are linked when one needs or recommends the other.\n",
           npgnn_graph_nodes(r->known), r->links);
    printf("%" PRId64
           " of the links are hidden. The model 'universal', which was not trained on this graph, suggests:\n",
           r->hidden);
    for (int i = 0; i < r->node_count; i++) {
        const demo_node *node = &r->nodes[i];
        printf("\n%s\n", npgnn_graph_name(r->known, node->node, buffer));
        for (int s = 0; s < node->count; s++) {
            const demo_suggestion *suggestion = &node->suggestions[s];
            printf("  %c %-25s %3.0f %%  %.*s\n", suggestion->came_true ? '*' : ' ',
                   npgnn_graph_name(r->known, suggestion->node, buffer), 100 * suggestion->probability,
                   reason_length(suggestion->reason), suggestion->reason);
        }
    }
    printf("\n* came true: it is one of the hidden links. After each reason, its contribution to the log-odds of a "
           "link.\n\n");
    printf("Of the %" PRId32 " most probable pairs of the whole graph, %" PRId32
           " are hidden links; by its own probabilities it expected %.0f.\n",
           r->best, r->best_true, r->best_expected);
    demo_explain_auc(stdout, r);
    putchar('\n');
}

static json_t *result_json(const demo_result *r)
{
    char buffer[12];
    json_t *nodes = json_array();
    for (int i = 0; i < r->node_count; i++) {
        const demo_node *node = &r->nodes[i];
        json_t *suggestions = json_array();
        for (int s = 0; s < node->count; s++)
            json_array_append_new(suggestions,
                                  json_pack("{s:s, s:f, s:b, s:s}", "node",
                                            npgnn_graph_name(r->known, node->suggestions[s].node, buffer),
                                            "probability", node->suggestions[s].probability, "came_true",
                                            node->suggestions[s].came_true, "reason", node->suggestions[s].reason));
        json_array_append_new(nodes, json_pack("{s:s, s:o}", "node", npgnn_graph_name(r->known, node->node, buffer),
                                               "suggestions", suggestions));
    }
    return json_pack("{s:s, s:i, s:I, s:I, s:f, s:f, s:i, s:i, s:f, s:o}", "data", DEMO_GRAPH, "nodes",
                     (int)npgnn_graph_nodes(r->known), "links", (json_int_t)r->links, "hidden", (json_int_t)r->hidden,
                     "auc", r->auc, "ap", r->ap, "best", (int)r->best, "best_true", (int)r->best_true, "best_expected",
                     r->best_expected, "suggestions", nodes);
}

/* Writes the page or, with a node, its drawing. */
static int write_file(const char *path, const demo_result *result, const demo_node *node)
{
    cli_output out;
    int status = output_open(&out, path);
    if (status)
        return status;
    if (node)
        demo_picture_write(out.file, result, node);
    else
        demo_page_write(out.file, result);
    return output_commit(&out);
}

/* ---- the command ---- */

static int show(const demo_result *result, const demo_settings *settings)
{
    int status = 0;
    if (!common_json_on_stdout(&settings->common))
        print_results(result);
    status = write_file(settings->html, result, NULL);
    if (status == 0 && settings->svg)
        status = write_file(settings->svg, result, &result->nodes[0]);
    if (status == 0 && settings->common.json)
        status = report_write(result_json(result), settings->common.json);
    if (status == 0 && !settings->common.quiet)
        print_note("wrote %s, a page with drawings: open it in a browser", settings->html);
    return status;
}

static int run(void *given)
{
    const demo_settings *settings = given;
    /* of the libraries that many people know; for those, too, nobody knows beforehand which links are hidden */
    static const arg_pairs usual = {
        .item = {{"for", "flask"}, {"for", "pandas"}, {"for", "sklearn"}, {"for", "sqlalchemy"}, {"for", "pil"}},
        .count = 5};
    npgnn_env env = common_env(&settings->common);
    npgnn_graph *graph = NULL;
    npgnn_split *split = NULL;
    npgnn_model *model = NULL;
    npgnn_predictor *predictor = NULL;
    node_list nodes = {0};
    npgnn_error err = {0};
    npgnn_split_options hiding = {.size = sizeof hiding};
    npgnn_predict_options how = {.size = sizeof how, .seed = settings->seed};
    demo_result *result = calloc(1, sizeof *result);
    int status = result ? output_check(settings->html) : print_error("out of memory"), code = 0;
    if (status == 0)
        code = npgnn_load(&graph, DEMO_GRAPH, NULL, &env, &err);
    if (status == 0 && code == 0)
        status = node_list_read(&nodes, graph, settings->nodes.count > 0 ? &settings->nodes : &usual);
    if (status == 0 && code == 0) {
        npgnn_split_options_default(&hiding, NPGNN_TRANSDUCTIVE, NULL);
        hiding.test = HIDDEN;
        hiding.val = 0;
        hiding.seed = settings->seed;
        code = npgnn_split_new(&split, graph, &hiding, &env, &err);
    }
    if (status == 0 && code == 0)
        code = npgnn_model_universal(&model, &env, &err);
    if (status == 0 && code == 0) {
        const double n = npgnn_graph_nodes(graph);
        result->known = npgnn_split_train(NULL, split);
        result->links = npgnn_graph_edges(graph);
        result->hidden = result->links - npgnn_graph_edges(result->known);
        /* the links that can be found, among the pairs that are not known to be linked */
        how.link_rate = (double)result->hidden / (n * (n - 1) / 2 - (double)npgnn_graph_edges(result->known));
        code = npgnn_predictor_new(&predictor, model, result->known, &how, &env, &err);
    }
    if (status == 0 && code == 0)
        code = measure(result, predictor, split, &err);
    if (status == 0 && code == 0)
        code = find_best(result, predictor, graph, &err);
    if (status == 0 && code == 0)
        code = suggest(result, predictor, graph, &nodes, settings->top, &err);
    if (status == 0)
        status = code ? print_error("%s", err.text) : show(result, settings);
    npgnn_predictor_free(predictor);
    npgnn_model_free(model);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
    node_list_free(&nodes);
    free(result);
    return status;
}

#define AT(member) offsetof(demo_settings, member)
static const arg_option options[] = {
    OPTION("for", 0, ARG_PAIR, AT(nodes), "NODE|FILE",
           "Suggest links of this package, or of those in FILE (default: five well-known ones). May be repeated."),
    OPTION("top", 'k', ARG_INT, AT(top), "K", "Suggestions per package (default 5).", 1, DEMO_MAX_TOP),
    OPTION("html", 0, ARG_TEXT, AT(html), "FILE", "Page with drawings (default npgnn-demo.html)."),
    OPTION("svg", 0, ARG_TEXT, AT(svg), "FILE", "Write the drawing of the first package to FILE."),
    OPTION("seed", 's', ARG_U64, AT(seed), "N", "Which links are hidden (default 1)."),
    OPTIONS_END,
};

const cli_command cmd_demo = {
    .args =
        {
            .name = "demo",
            .usage = "[OPTION...]",
            .summary = "Find hidden links of a real graph, with reasons and a page of drawings.",
            .description =
                "Hides a tenth of the links between the Python libraries of Debian 12, a graph that is built in (data "
                "set " DEMO_GRAPH
                "). The model universal, which was not trained on it, suggests links from what is left. Prints "
                "suggestions with probabilities and reasons, marks those that are hidden links, and says how good the "
                "suggestions are over the whole graph. Writes a page with a drawing of each package. Takes seconds.",
            .examples = "  npgnn demo\n"
                        "  npgnn demo --for numpy --for django --top 10 --html numpy.html\n",
            .groups = {{"Options", options, 0}, COMMON_GROUP(AT(common))},
        },
    .defaults = &(const demo_settings){.top = 5, .seed = 1, .html = "npgnn-demo.html"},
    .size = sizeof(demo_settings),
    .run = run,
};

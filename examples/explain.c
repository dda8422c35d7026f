/* Suggests links of a node of the built-in graph with the built-in model, and says why. Nothing is trained. */
#include <npgnn/npgnn.h>
#include <stdio.h>

enum { K = 3 };

/* What the three columns that contribute most say. */
static void print_columns(const npgnn_explanation *why)
{
    double below = 1e300;
    for (int rank = 0; rank < 3; rank++) {
        const npgnn_contribution *best = NULL;
        for (int32_t c = 0; c < why->column_count; c++)
            if (why->columns[c].log_odds < below && (!best || why->columns[c].log_odds > best->log_odds))
                best = &why->columns[c];
        if (!best)
            return;
        printf("    they have %s: %+.2f\n", best->text, best->log_odds);
        below = best->log_odds;
    }
}

int main(void)
{
    npgnn_graph *graph = NULL;
    npgnn_model *model = NULL;
    npgnn_predictor *predictor = NULL;
    npgnn_error err = {0};
    npgnn_link links[K];
    int32_t node = -1, found = 0;
    char buffer[12];

    int code = npgnn_load(&graph, "debian-python", NULL, NULL, &err);
    if (code == 0)
        code = npgnn_model_universal(&model, NULL, &err);
    if (code == 0)
        code = npgnn_predictor_new(&predictor, model, graph, NULL, NULL, &err);
    if (code == 0) {
        node = npgnn_graph_find(graph, "flask");
        const npgnn_top_options from_node = {.size = sizeof from_node, .from = &node, .from_count = 1};
        code = npgnn_predictor_top(links, &found, predictor, K, &from_node, &err);
    }
    for (int32_t i = 0; code == 0 && i < found; i++) {
        npgnn_explanation why = {.size = sizeof why};
        code = npgnn_predictor_explain(&why, predictor, links[i].pair, &err);
        if (code == 0) {
            printf("flask and %s: %.0f %%\n  %s\n", npgnn_graph_name(graph, links[i].pair.v, buffer),
                   100 * (double)links[i].prediction.probability, why.text);
            print_columns(&why);
        }
    }
    if (code)
        fprintf(stderr, "%s\n", err.text);
    npgnn_predictor_free(predictor);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
    return code != 0;
}

/* The shortest useful program: trains a model on a generated graph and predicts the probability of one link. */
#include <npgnn/npgnn.h>
#include <stdio.h>

int main(void)
{
    npgnn_graph *graph = NULL;
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    npgnn_options options = {.size = sizeof options};
    npgnn_pair pair = {3, 17};
    npgnn_prediction link;

    /* Every call returns 0 or a negative code, and describes an error in `err`. */
    int code = npgnn_options_preset(&options, "default", &err);
    options.iterations = 100; /* fewer than the default, so that the example takes a second */
    if (code == 0)
        code = npgnn_load(&graph, "synthetic:nodes=300", NULL, NULL, &err);
    if (code == 0)
        code = npgnn_fit(&model, graph, &options, NULL, &err);
    if (code == 0)
        code = npgnn_predict(&link, model, graph, &pair, 1, NULL, NULL, &err);
    if (code == 0)
        printf("probability of a link between nodes 3 and 17: %.3f\n", (double)link.probability);
    else
        fprintf(stderr, "%s\n", err.text);

    npgnn_model_free(model);
    npgnn_graph_free(graph);
    return code != 0;
}

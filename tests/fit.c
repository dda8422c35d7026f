/* fit DATA PRESET ITERATIONS MODEL: npgnn_fit with the options that `npgnn train` has by default, saved. For
 * fit_and_train.sh. */
#include <stdio.h>
#include <stdlib.h>

#include "npgnn/npgnn.h"

int main(int count, char **words)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_graph *graph = NULL;
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    if (count != 5)
        return 2;
    int code = npgnn_options_preset(&options, words[2], &err);
    options.iterations = atoi(words[3]);
    options.seed = 1;
    if (!code)
        code = npgnn_load(&graph, words[1], NULL, NULL, &err);
    if (!code)
        code = npgnn_fit(&model, graph, &options, NULL, &err);
    if (!code)
        code = npgnn_model_save(model, words[4], &err);
    if (code)
        fprintf(stderr, "%s\n", err.text);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
    return code != 0;
}

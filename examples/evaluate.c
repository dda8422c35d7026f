/* Evaluates the model on links of nodes that it was not trained on (the inductive protocol), with three seeds, and
 * compares it with the cosine similarity of the features. */
#include <npgnn/npgnn.h>
#include <stdio.h>

enum { SEEDS = 3 };

/* Called after every iteration. Returning a value other than 0 would stop the training. */
static int on_progress(void *user, const npgnn_progress *progress)
{
    (void)user;
    if (progress->iteration == progress->iterations)
        fprintf(stderr, "run %d of %d: loss %.3f\n", progress->run + 1, progress->runs, progress->loss);
    return 0;
}

static int evaluate(const npgnn_graph *graph, const char *method, const npgnn_env *env, npgnn_error *err)
{
    npgnn_options model = {.size = sizeof model};
    npgnn_split_options split = {.size = sizeof split};
    npgnn_eval_options options = {
        .size = sizeof options, .method = method, .model = &model, .split = &split, .first_seed = 1};
    npgnn_eval_run runs[SEEDS] = {{.size = sizeof runs[0]}};
    int code = npgnn_options_preset(&model, "default", err);
    if (code == 0)
        code = npgnn_split_options_default(&split, NPGNN_INDUCTIVE, err);
    model.iterations = 100;
    if (code == 0)
        code = npgnn_evaluate(runs, graph, SEEDS, &options, env, err);
    for (int i = 0; code == 0 && i < SEEDS; i++)
        printf("%-8s seed %d: AUC %.3f, AP %.3f\n", method, (int)runs[i].seed, runs[i].auc, runs[i].ap);
    return code;
}

int main(void)
{
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    npgnn_env env = {.size = sizeof env, .threads = 2, .progress = on_progress};

    int code = npgnn_load(&graph, "synthetic:nodes=500", NULL, &env, &err);
    if (code == 0)
        code = evaluate(graph, "npgnn", &env, &err);
    if (code == 0)
        code = evaluate(graph, "cosine", &env, &err);
    if (code != 0)
        fprintf(stderr, "%s\n", err.text);

    npgnn_graph_free(graph);
    return code != 0;
}

/* A program of version 0 of the interface, which must run against every later library with the same SONAME. It is
 * compiled against npgnn-0.h, the header as it was then, and neither file is changed afterwards: tools/abi.sh says how
 * to freeze a new pair.
 *
 * It touches every public struct that a caller fills or reads, and checks values that depend on where the fields are. A
 * guard behind each result finds a library that writes more than the struct had then. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "npgnn-0.h"

static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                    \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

#define CALL(call)                                                                                                     \
    do {                                                                                                               \
        err = (npgnn_error){0};                                                                                        \
        if ((call) != 0) {                                                                                             \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, err.text);                                           \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

/* A struct followed by bytes that nobody may write. */
#define GUARDED(type, name)                                                                                            \
    struct {                                                                                                           \
        type value;                                                                                                    \
        unsigned char guard[256];                                                                                      \
    } name;                                                                                                            \
    memset(&name, 0xA5, sizeof name)
/* The same for a struct that carries its size. */
#define GUARDED_SIZED(type, name)                                                                                      \
    GUARDED(type, name);                                                                                               \
    name.value.size = sizeof name.value
#define CHECK_GUARD(name)                                                                                              \
    for (size_t byte = 0; byte < sizeof name.guard; byte++)                                                            \
    CHECK(name.guard[byte] == 0xA5)

typedef npgnn_prediction two_predictions[2];

typedef struct watcher {
    int calls, iterations;
} watcher;

static int watch(void *user, const npgnn_progress *progress)
{
    watcher *seen = user;
    seen->calls++;
    seen->iterations = progress->iterations;
    return 0;
}

int main(void)
{
    npgnn_error err = {0};
    watcher seen = {0};
    npgnn_env env = {.size = sizeof env, .threads = 2, .progress = watch, .user = &seen};

    GUARDED_SIZED(npgnn_options, options);
    CALL(npgnn_options_preset(&options.value, "default", &err));
    CHECK_GUARD(options);
    options.value.iterations = 20;
    options.value.hidden = 9;
    options.value.seed = 5;
    char text[16];
    CALL(npgnn_options_get(text, sizeof text, &options.value, "hidden", &err));
    CHECK(strcmp(text, "9") == 0);

    npgnn_graph *graph = NULL;
    GUARDED_SIZED(npgnn_graph_info, about);
    CALL(npgnn_load(&graph, "synthetic:nodes=200,seed=3", NULL, &env, &err));
    CALL(npgnn_graph_describe(&about.value, graph, &err));
    CHECK_GUARD(about);
    CHECK(about.value.nodes == 200 && about.value.edges == npgnn_graph_edges(graph));

    npgnn_split *split = NULL;
    GUARDED_SIZED(npgnn_split_options, cut);
    CALL(npgnn_split_options_default(&cut.value, NPGNN_TRANSDUCTIVE, &err));
    CHECK_GUARD(cut);
    cut.value.seed = 7;
    CALL(npgnn_split_new(&split, graph, &cut.value, &env, &err));
    CHECK(npgnn_split_protocol(split) == NPGNN_TRANSDUCTIVE);
    npgnn_split_free(split);

    npgnn_model *model = NULL;
    GUARDED_SIZED(npgnn_model_info, learnt);
    CALL(npgnn_fit(&model, graph, &options.value, &env, &err));
    CHECK(seen.calls >= 20 && seen.iterations == 20);
    CALL(npgnn_model_describe(&learnt.value, model, &err));
    CHECK_GUARD(learnt);
    CHECK(learnt.value.train_nodes == 200);

    npgnn_pair pairs[2] = {{0, 1}, {5, 17}};
    GUARDED(two_predictions, links);
    CALL(npgnn_predict(links.value, model, graph, pairs, 2, NULL, &env, &err));
    CHECK_GUARD(links);
    CHECK(links.value[1].probability > 0 && links.value[1].probability < 1);

    npgnn_eval_options eval = {.size = sizeof eval, .model = &options.value, .split = &cut.value, .first_seed = 11};
    GUARDED_SIZED(npgnn_eval_run, run);
    CALL(npgnn_evaluate(&run.value, graph, 1, &eval, &env, &err));
    CHECK_GUARD(run);
    CHECK(run.value.seed == 11 && run.value.auc > 0 && run.value.auc <= 1 && isnan(run.value.hard_mrr));

    CHECK(npgnn_load(&graph, "synthetic:nodes=none", NULL, NULL, &err) == NPGNN_E_ARGUMENT && err.text[0] != '\0');

    npgnn_model_free(model);
    npgnn_graph_free(graph);
    printf("%d failures with libnpgnn %s\n", failures, npgnn_version());
    return failures != 0;
}

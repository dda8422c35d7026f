/* Several threads of the caller's: each with handles of its own, and all with one graph, one split and one model that
 * are const. What they compute is what one thread computes; ThreadSanitizer sees whether they get in each other's
 * way. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "model/model.h"
#include "network.h"

#define SPEC "nodes=150,words=100,seed=2"

enum { THREADS = 4, PAIRS = 64 };

static npgnn_graph *graph; /* with names, which parts of it share */
static npgnn_split *split;
static npgnn_model *model;
static const npgnn_env two_threads = {.size = sizeof two_threads, .threads = 2};

static npgnn_options small_options(void)
{
    npgnn_options o = rich_network();
    o.hidden = o.decoder_hidden = 6;
    o.latent_size = o.output_size = 4;
    o.pairs_per_node = 8;
    o.iterations = 6;
    o.validate_every = 2;
    return o;
}

/* A file names the nodes: "synthetic" has indices only. */
static int load_named(npgnn_graph **out)
{
    char path[600];
    snprintf(path, sizeof path, "%s", path_of("links.tsv"));
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < 150; i++)
        fprintf(file, "node%d\tnode%d\nnode%d\tnode%d\n", i, (i + 1) % 150, i, i * 7 % 150);
    npgnn_load_options how = {.size = sizeof how, .edges = path, .features = path_of("words.tsv")};
    FILE *words = fopen(how.features, "w");
    for (int i = 0; words && i < 150; i++)
        fprintf(words, "node%d\t%d\t%d\t%d\t%d\t%d\n", i, i % 2, i % 3 == 0, i % 5 == 0, i % 7 == 0, i % 11 == 0);
    if (!file || fclose(file) || !words || fclose(words))
        return -1;
    return npgnn_load(out, NULL, &how, &two_threads, NULL);
}

static int make_all(void **state)
{
    npgnn_split_options how = {.size = sizeof how};
    npgnn_options o = small_options();
    npgnn_split_options_default(&how, NPGNN_TRANSDUCTIVE, NULL);
    return make_folder(state) || load_named(&graph) || npgnn_split_new(&split, graph, &how, &two_threads, NULL) ||
           npgnn_fit(&model, graph, &o, &two_threads, NULL);
}

static int free_all(void **state)
{
    npgnn_model_free(model);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
    empty_folder();
    return remove_folder(state);
}

/* ---- jobs: each fills a result that does not depend on who runs it ---- */

typedef struct result {
    float number[4 * PAIRS];
} result;

typedef int job(result *out, int thread);

static int predict(result *out, int thread)
{
    npgnn_pair pairs[PAIRS];
    npgnn_prediction links[PAIRS];
    npgnn_predict_options how = {.size = sizeof how, .samples = 3, .seed = 5};
    npgnn_predictor *predictor = NULL;
    (void)thread;
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = (npgnn_pair){i, (i * 11 + 1) % 150};
    int code = npgnn_predictor_new(&predictor, model, graph, &how, &two_threads, NULL);
    if (!code)
        code = npgnn_predictor_run(links, predictor, pairs, PAIRS, NULL);
    for (int i = 0; !code && i < PAIRS; i++) {
        out->number[i] = links[i].probability;
        out->number[PAIRS + i] = links[i].spread;
    }
    npgnn_predictor_free(predictor);
    return code;
}

/* Looks at everything that is const, and writes it out. */
static int look(result *out, int thread)
{
    char name[128], buffer[12];
    float *u = malloc(150 * 4 * sizeof *u);
    int code = u ? npgnn_model_embed(u, model, graph, &two_threads, NULL) : -1;
    if (!code)
        memcpy(out->number, u, sizeof out->number);
    free(u);
    for (int32_t i = 0; !code && i < 150; i++) {
        const int32_t *neighbors;
        const char *text = npgnn_graph_name(graph, i, buffer);
        code = npgnn_graph_find(graph, text) == i ? 0 : -1;
        out->number[i % PAIRS] += (float)npgnn_graph_neighbors(&neighbors, graph, i);
    }
    snprintf(name, sizeof name, "%s/model%d", folder, thread);
    if (!code)
        code = npgnn_model_save(model, name, NULL);
    npgnn_model *again = NULL;
    if (!code)
        code = npgnn_model_load(&again, name, &two_threads, NULL);
    npgnn_model_free(again);
    snprintf(name, sizeof name, "%s/split%d", folder, thread);
    return code ? code : npgnn_split_save(split, name, NULL);
}

static int take_model(result *out, const npgnn_trainer *trainer)
{
    npgnn_model *trained = NULL;
    int code = npgnn_trainer_model(&trained, trainer, NULL);
    for (size_t i = 0; !code && i < 4 * PAIRS && i < trained->params.count; i++)
        out->number[i] = (float)trained->params.block[i];
    npgnn_model_free(trained);
    return code;
}

/* A training on the shared split, saved, and restored into another. */
static int train(result *out, int thread)
{
    npgnn_options o = small_options();
    npgnn_trainer *first = NULL, *second = NULL;
    char name[128];
    snprintf(name, sizeof name, "%s/checkpoint%d", folder, thread);
    int code = npgnn_trainer_new(&first, graph, split, &o, &two_threads, NULL);
    for (int i = 0; !code && i < 3; i++)
        code = npgnn_trainer_step(NULL, first, NULL);
    if (!code)
        code = npgnn_trainer_save(first, name, NULL);
    if (!code)
        code = npgnn_trainer_new(&second, graph, split, &o, &two_threads, NULL);
    if (!code)
        code = npgnn_trainer_restore(second, name, NULL);
    if (!code)
        code = npgnn_trainer_run(second, NULL);
    if (!code)
        code = take_model(out, second);
    npgnn_trainer_free(first);
    npgnn_trainer_free(second);
    return code;
}

/* Splits of its own, whose parts share the features and the names of the graph. */
static int evaluate(result *out, int thread)
{
    static const char *const methods[] = {"npgnn", "cosine", "vgae", "common-neighbors"};
    npgnn_eval_run runs[2] = {{.size = sizeof(npgnn_eval_run)}};
    (void)thread;
    for (int i = 0; i < 4; i++) {
        npgnn_options training = small_options();
        npgnn_split_options own = {.size = sizeof own};
        npgnn_eval_options how = {.size = sizeof how, .method = methods[i], .model = &training, .split = &own};
        int code = npgnn_split_options_default(&own, i % 2 ? NPGNN_TRANSDUCTIVE : NPGNN_INDUCTIVE, NULL);
        if (!code)
            code = npgnn_evaluate(runs, graph, 2, &how, &two_threads, NULL);
        if (code)
            return code;
        out->number[2 * i] = (float)runs[0].auc;
        out->number[2 * i + 1] = (float)runs[1].ap;
    }
    return 0;
}

/* A graph of its own from first to last, beside those of others. */
static int own_graph(result *out, int thread)
{
    npgnn_graph *own = NULL;
    npgnn_model *fitted = NULL;
    npgnn_options o = small_options();
    (void)thread;
    int code = npgnn_graph_synthetic(&own, SPEC, &two_threads, NULL);
    if (!code)
        code = npgnn_fit(&fitted, own, &o, &two_threads, NULL);
    for (size_t i = 0; !code && i < 4 * PAIRS; i++)
        out->number[i] = (float)fitted->params.block[i];
    npgnn_model_free(fitted);
    npgnn_graph_free(own);
    return code;
}

/* ---- running them ---- */

typedef struct worker {
    pthread_t id;
    job *work;
    int number, code;
    result got;
} worker;

static void *run(void *argument)
{
    worker *w = argument;
    w->code = w->work(&w->got, w->number);
    return NULL;
}

static void check_together(job *const *jobs, int kinds)
{
    worker workers[THREADS * 2];
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < THREADS * kinds; i++) {
        workers[i].work = jobs[i % kinds];
        workers[i].number = i;
        assert_int_equal(pthread_create(&workers[i].id, NULL, run, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS * kinds; i++)
        assert_int_equal(pthread_join(workers[i].id, NULL), 0);
    for (int kind = 0; kind < kinds; kind++) {
        result alone = {{0}};
        assert_int_equal(jobs[kind](&alone, THREADS * kinds), 0);
        for (int i = kind; i < THREADS * kinds; i += kinds) {
            assert_int_equal(workers[i].code, 0);
            assert_memory_equal(&workers[i].got, &alone, sizeof alone);
        }
    }
}

static void test_one_model(void **state)
{
    (void)state;
    check_together((job *[]){predict, look}, 2);
}

static void test_trainings(void **state)
{
    (void)state;
    check_together((job *[]){train, own_graph}, 2);
}

static void test_evaluations(void **state)
{
    (void)state;
    check_together((job *[]){evaluate}, 1);
}

/* A child of fork() may use the library: what it computes is what the parent does. The alarm ends a child that
 * hangs. */
static void test_child_after_fork(void **state)
{
    (void)state;
    result parents[2] = {{{0}}}, own[2] = {{{0}}};
    int status = -1;
    if (CHECK_TSAN)
        skip();
    assert_int_equal(predict(&parents[0], 0) || own_graph(&parents[1], 0), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        int code = predict(&own[0], 1) || own_graph(&own[1], 1);
        _exit(code || memcmp(own, parents, sizeof own) != 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(predict(&own[0], 0), 0); /* and the parent is as it was */
    assert_memory_equal(&own[0], &parents[0], sizeof own[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_model),
        cmocka_unit_test(test_trainings),
        cmocka_unit_test(test_evaluations),
        cmocka_unit_test(test_child_after_fork),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}

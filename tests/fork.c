/* A child of fork() uses the library: it predicts with a model that it has inherited and trains one of its own, with
 * two threads, and gets the bits of its parent. First after calls that have ended; then while another thread of the
 * parent is inside one. A child that hangs is ended by an alarm. tests/blas.sh runs this with every build of OpenBLAS.
 *
 *     fork [TIMES]     how often it forks while another thread is inside a call */
#define _DEFAULT_SOURCE /* fork, alarm, usleep */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "npgnn/npgnn.h"

enum { PAIRS = 4000 };
static const npgnn_env two = {.size = sizeof two, .threads = 2};
static npgnn_graph *graph;

static void stop(const npgnn_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    _exit(3);
}

static npgnn_model *fit(const char *preset, const npgnn_env *env)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    npgnn_options_preset(&options, preset, NULL);
    options.iterations = 3;
    if (npgnn_fit(&model, graph, &options, env, &err) && err.code != NPGNN_E_CANCELLED)
        stop(&err);
    return model;
}

static void predict(npgnn_prediction *out, const npgnn_model *model)
{
    static npgnn_pair pairs[PAIRS];
    npgnn_error err = {0};
    int32_t n = npgnn_graph_nodes(graph);
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = (npgnn_pair){i % n, (i * 7 + 1 + i % n) % n};
    for (int i = 0; i < PAIRS; i++)
        pairs[i].v = pairs[i].u == pairs[i].v ? (pairs[i].v + 1) % n : pairs[i].v;
    if (npgnn_predict(out, model, graph, pairs, PAIRS, NULL, &two, &err))
        stop(&err);
}

/* Whether two predictions have the same scores. The child calls it, and so does the parent after it. */
static int same(const npgnn_prediction *a, const npgnn_prediction *b)
{
    for (int i = 0; i < PAIRS; i++)
        if (memcmp(&a[i].score, &b[i].score, sizeof a[i].score) != 0)
            return 0;
    return 1;
}

/* Forks; the child predicts and trains. Returns whether it got the bits of `expected`. */
static int child_agrees(const npgnn_model *network, const npgnn_model *best, npgnn_prediction *const expected[2])
{
    pid_t child = fork();
    int status = -1;
    if (child == 0) {
        npgnn_prediction *own = calloc(PAIRS, sizeof *own);
        alarm(30);
        predict(own, network);
        int agrees = same(own, expected[0]);
        predict(own, best);
        agrees &= same(own, expected[1]);
        npgnn_model *again = fit("default", &two);
        predict(own, again);
        agrees &= same(own, expected[0]);
        npgnn_model_free(again);
        free(own);
        _exit(!agrees);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "the child ended with status %d%s\n", status, WIFSIGNALED(status) ? ": it hung" : "");
        return 0;
    }
    return 1;
}

/* Trains until told to end. */
static volatile int ended;
static int cancel(void *user, const npgnn_progress *progress)
{
    (void)user;
    (void)progress;
    return ended;
}

static void *keep_training(void *unused)
{
    const npgnn_env env = {.size = sizeof env, .threads = 2, .progress = cancel};
    (void)unused;
    while (!ended)
        npgnn_model_free(fit("default", &env));
    return NULL;
}

int main(int argc, char **argv)
{
    int forks = argc > 1 ? atoi(argv[1]) : 3;
    npgnn_error err = {0};
    if (npgnn_load(&graph, "synthetic:nodes=300,seed=3", NULL, NULL, &err))
        stop(&err);
    npgnn_model *network = fit("default", &two), *best = fit("best", &two);
    npgnn_prediction *expected[2] = {calloc(PAIRS, sizeof **expected), calloc(PAIRS, sizeof **expected)};
    pthread_t other;
    predict(expected[0], network);
    predict(expected[1], best);
    int fine = child_agrees(network, best, expected);

    if (pthread_create(&other, NULL, keep_training, NULL) != 0)
        return 3;
    for (int i = 0; fine && i < forks; i++) {
        usleep(1000 * (unsigned)(7 * i % 11));
        fine = child_agrees(network, best, expected);
    }
    ended = 1;
    pthread_join(other, NULL);
    npgnn_prediction *after = calloc(PAIRS, sizeof *after);
    predict(after, network);
    fine &= same(after, expected[0]);
    free(after);
    free(expected[0]);
    free(expected[1]);
    npgnn_model_free(network);
    npgnn_model_free(best);
    npgnn_graph_free(graph);
    return !fine;
}

/* How good a search by candidates is, and how fast, beside the exact search of the same nodes in the same run:
 *
 *     build/bench/retrieval [-n NODES] [-k K] [-c CANDIDATES] [-m MODEL] DATA...
 *
 * NODES searched nodes (default 300; 0: all), K partners of each (10), MODEL a file (default: universal). Per graph it prints
 * processor seconds of one thread to prepare the predictor and the first search by candidates, milliseconds per node of both
 * searches, how many times as fast the latter is, the share of the best K and of the first that the candidates contain
 * (others with the same score count), and what the library itself reports of a sample. Every prediction must have the bits of
 * npgnn_predictor_run: otherwise the program fails.
 *
 * The exact search of all nodes scores each pair for both ends, that of some nodes does not. */
#define _POSIX_C_SOURCE 200809L
#include <npgnn/npgnn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct search {
    const int32_t *from; /* (rows) */
    int32_t rows, k;
    npgnn_link *out; /* (rows, k) */
    int32_t *found;  /* (rows) */
    double seconds;
} search;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "retrieval: %s\n", what);
    exit(1);
}

static void *allocate(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    if (!block)
        fail("out of memory");
    return block;
}

static search run(npgnn_predictor *p, const int32_t *from, int32_t rows, int32_t k, npgnn_top_options o)
{
    search s = {
        from, rows, k, allocate((size_t)rows * (size_t)k, sizeof(npgnn_link)), allocate((size_t)rows, sizeof(int32_t)),
        0};
    npgnn_error err = {0};
    o.from = from;
    o.from_count = rows;
    double start = seconds();
    if (npgnn_predictor_top(s.out, s.found, p, k, &o, &err))
        fail(err.text);
    s.seconds = seconds() - start;
    return s;
}

static void search_free(search *s)
{
    free(s->out);
    free(s->found);
}

static void check_bits(npgnn_predictor *p, const search *s)
{
    npgnn_pair *pairs = allocate((size_t)s->k, sizeof *pairs);
    npgnn_prediction *own = allocate((size_t)s->k, sizeof *own);
    npgnn_error err = {0};
    for (int32_t i = 0; i < s->rows; i++) {
        const npgnn_link *links = s->out + (size_t)i * (size_t)s->k;
        for (int32_t j = 0; j < s->found[i]; j++)
            pairs[j] = links[j].pair;
        if (npgnn_predictor_run(own, p, pairs, (size_t)s->found[i], &err))
            fail(err.text);
        for (int32_t j = 0; j < s->found[i]; j++)
            if (memcmp(&own[j], &links[j].prediction, sizeof own[j]) != 0)
                fail("a prediction of a search differs from that of its pair");
    }
    free(pairs);
    free(own);
}

static void compare(const char *data, const search *exact, const search *mine, double prepare, double first,
                    const npgnn_search_info *info)
{
    int64_t all = 0, hits = 0, nodes = 0, firsts = 0;
    for (int32_t i = 0; i < exact->rows; i++) {
        const npgnn_link *a = exact->out + (size_t)i * (size_t)exact->k, *b = mine->out + (size_t)i * (size_t)mine->k;
        int32_t wanted = exact->found[i], got = 0;
        if (wanted == 0)
            continue;
        for (int32_t j = 0; j < mine->found[i]; j++)
            got += b[j].prediction.score >= a[wanted - 1].prediction.score;
        hits += got < wanted ? got : wanted;
        firsts += mine->found[i] > 0 && b[0].prediction.score >= a[0].prediction.score;
        all += wanted;
        nodes++;
    }
    const char *name = strrchr(data, '/');
    double a = 1e3 * exact->seconds / exact->rows, b = 1e3 * mine->seconds / mine->rows;
    printf("%-24s %6.1f %6.1f %9.3f %9.3f %6.1f %8.2f %8.2f   %.2f (%.2f to %.2f)\n", name ? name + 1 : data, prepare,
           first, a, b, a / b, 100 * (double)hits / (double)all, 100 * (double)firsts / (double)nodes,
           100 * info->recall, 100 * info->low, 100 * info->high);
    fflush(stdout);
}

static void measure(const char *data, const npgnn_model *model, int32_t rows, int32_t k, int32_t candidates)
{
    npgnn_error err = {0};
    npgnn_graph *g = NULL;
    npgnn_predictor *p = NULL;
    npgnn_env env = {.size = sizeof env, .threads = 1};
    npgnn_search_info info = {.size = sizeof info};
    if (npgnn_load(&g, data, NULL, &env, &err))
        fail(err.text);
    double start = seconds();
    if (npgnn_predictor_new(&p, model, g, NULL, &env, &err))
        fail(err.text);
    double prepare = seconds() - start;
    int32_t n = (int32_t)npgnn_graph_nodes(g), one = 0;
    rows = rows > 0 && rows < n ? rows : n;
    int32_t *from = allocate((size_t)rows, sizeof *from);
    for (int32_t i = 0; i < rows; i++)
        from[i] = (int32_t)((int64_t)i * n / rows);
    npgnn_top_options o = {.size = sizeof o, .search = NPGNN_SEARCH_EXACT};
    search exact = run(p, from, rows, k, o);
    o = (npgnn_top_options){
        .size = sizeof o, .search = NPGNN_SEARCH_CANDIDATES, .candidates = candidates, .unchecked = 1};
    search first = run(p, &one, 1, k, o);
    search mine = run(p, from, rows, k, o);
    o.unchecked = 0;
    o.info = &info;
    search checked = run(p, from, rows, k, o);
    check_bits(p, &mine);
    compare(data, &exact, &mine, prepare, first.seconds, &info);
    search_free(&exact);
    search_free(&first);
    search_free(&mine);
    search_free(&checked);
    free(from);
    npgnn_predictor_free(p);
    npgnn_graph_free(g);
}

int main(int argc, char **argv)
{
    int rows = 300, k = 10, candidates = 0, option;
    const char *file = NULL;
    npgnn_error err = {0};
    npgnn_model *model = NULL;
    while ((option = getopt(argc, argv, "n:k:c:m:")) != -1)
        if (option == 'm')
            file = optarg;
        else if (option == '?' || atoi(optarg) < (option == 'k'))
            fail("usage: retrieval [-n NODES] [-k K] [-c CANDIDATES] [-m MODEL] DATA...");
        else
            *(option == 'n' ? &rows : option == 'k' ? &k : &candidates) = atoi(optarg);
    if (file ? npgnn_model_load(&model, file, NULL, &err) : npgnn_model_universal(&model, NULL, &err))
        fail(err.text);
    printf("%-24s %6s %6s %9s %9s %6s %8s %8s   %s\n", "", "new s", "first", "exact ms", "cand. ms", "ratio", "recall",
           "@1", "reported");
    for (int i = optind; i < argc; i++)
        measure(argv[i], model, rows, k, candidates);
    npgnn_model_free(model);
    return 0;
}

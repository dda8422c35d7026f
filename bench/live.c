/* What the answers of a live graph cost without HTTP, in processor time of one thread:
 *
 *     build/bench/live [DATA] [SEARCHES]
 *
 * DATA is synthetic:nodes=20000,degree=5 unless given. Prints the milliseconds of npgnn_live_top with k = 10, of
 * npgnn_live_score of 100 random pairs, and of a new node and of five new links, each with the search that follows; and
 * a checksum of all answers, which must not change where only speed does. Processor time depends less on what else the
 * machine does than latencies do; the lowest tenth of it depends least. */
#define _POSIX_C_SOURCE 200809L
#include <npgnn/npgnn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"

enum { K = 10, PAIRS = 100, ADDITIONS = 50 };

static uint64_t checksum = 1;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_to_checksum(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        checksum = (checksum ^ at[i]) * UINT64_C(1099511628211);
}

static int search(npgnn_live *live, int32_t node, npgnn_error *err)
{
    npgnn_link links[K];
    int32_t found = 0;
    npgnn_live_begin(live);
    int code = npgnn_live_top(links, &found, live, node, K, err);
    npgnn_live_end(live);
    for (int32_t i = 0; !code && i < found; i++) {
        add_to_checksum(&links[i].pair, sizeof links[i].pair);
        add_to_checksum(&links[i].prediction.score, sizeof links[i].prediction.score);
    }
    return code;
}

static int score(npgnn_live *live, int32_t n, npi_rng *rng, npgnn_error *err)
{
    npgnn_pair pairs[PAIRS];
    npgnn_prediction predictions[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        pairs[i].u = (int32_t)npi_rng_below(rng, (uint64_t)n);
        pairs[i].v = (pairs[i].u + 1 + (int32_t)npi_rng_below(rng, (uint64_t)n - 1)) % n;
    }
    npgnn_live_begin(live);
    int code = npgnn_live_score(predictions, live, pairs, PAIRS, err);
    npgnn_live_end(live);
    for (int i = 0; !code && i < PAIRS; i++)
        add_to_checksum(&predictions[i].score, sizeof predictions[i].score);
    return code;
}

/* One more node with a few features, or five links of the newest node; then the search for its partners. */
static int add(npgnn_live *live, int32_t n, int links, int number, npi_rng *rng, npgnn_error *err)
{
    enum { CELLS = 15, LINKS = 5 };
    int code;
    if (links) {
        npgnn_pair pairs[LINKS];
        for (int i = 0; i < LINKS; i++)
            pairs[i] = (npgnn_pair){n - 1, (int32_t)npi_rng_below(rng, (uint64_t)n - 1)};
        code = npgnn_live_add_links(NULL, live, pairs, LINKS, err);
    } else {
        char columns[CELLS][12], name[24];
        npgnn_cell cells[CELLS];
        snprintf(name, sizeof name, "new-%d", number);
        for (int c = 0; c < CELLS; c++) {
            snprintf(columns[c], sizeof columns[c], "%d", c * 60 + (int)npi_rng_below(rng, 60));
            cells[c] = (npgnn_cell){columns[c], "1"};
        }
        const npgnn_new_node node = {.size = sizeof node, .name = name, .cells = cells, .cell_count = CELLS};
        code = npgnn_live_add_nodes(live, &node, 1, err);
        n++;
    }
    return code ? code : search(live, n - 1, err);
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void print(const char *what, double *spent, int count)
{
    qsort(spent, (size_t)count, sizeof *spent, by_size);
    printf("%s: median %.2f ms, lowest tenth %.2f ms\n", what, 1e3 * spent[count / 2], 1e3 * spent[count / 10]);
}

int main(int argc, char **argv)
{
    const char *data = argc > 1 ? argv[1] : "synthetic:nodes=20000,degree=5";
    int searches = argc > 2 && atoi(argv[2]) > ADDITIONS ? atoi(argv[2]) : 200;
    npgnn_error err = {0};
    npgnn_model *model = NULL;
    npgnn_graph *graph = NULL;
    npgnn_live *live = NULL;
    const npgnn_env env = {.size = sizeof env, .threads = 1};
    npi_rng rng = npi_rng_make(7, NPI_RNG_SYNTHETIC, 0);
    double *spent[2] = {calloc((size_t)searches, sizeof(double)), calloc((size_t)searches, sizeof(double))}, start;
    int code = spent[0] && spent[1] ? npgnn_model_universal(&model, &env, &err) : NPGNN_E_MEMORY;
    if (!code)
        code = npgnn_load(&graph, data, NULL, &env, &err);
    if (!code)
        code = npgnn_live_new(&live, model, graph, NULL, &env, &err);
    int32_t n = code ? 0 : npgnn_graph_nodes(graph);
    for (int i = 0; !code && i < 2 * searches; i++) {
        start = seconds();
        code = i % 2 ? score(live, n, &rng, &err) : search(live, (int32_t)npi_rng_below(&rng, (uint64_t)n), &err);
        spent[i % 2][i / 2] = seconds() - start;
    }
    if (!code) {
        print("top, k = 10", spent[0], searches);
        print("score, 100 pairs", spent[1], searches);
    }
    for (int i = 0; !code && i < 2 * ADDITIONS; i++) {
        start = seconds();
        code = add(live, n + i / 2 + i % 2, i % 2, i / 2, &rng, &err);
        spent[i % 2][i / 2] = seconds() - start;
    }
    if (!code) {
        print("new node, then top", spent[0], ADDITIONS);
        print("5 new links, then top", spent[1], ADDITIONS);
        printf("checksum %016llx\n", (unsigned long long)checksum);
    } else {
        fprintf(stderr, "live: %s\n", err.text);
    }
    npgnn_live_free(live);
    npgnn_graph_free(graph);
    npgnn_model_free(model);
    free(spent[0]);
    free(spent[1]);
    return code != 0;
}

/* DeepWalk (Perozzi, Al-Rfou and Skiena 2014, arXiv:1403.6652): skip-gram with negative sampling on random walks. For a
 * node i and a node j within WINDOW steps of it on a walk, with input vectors a_i and output vectors b_j of DIMENSIONS
 * numbers,
 *
 *     minimise -log sig(a_i · b_j) - Σ_q log sig(-a_i · b_q)          q: NEGATIVES nodes drawn at random
 *
 * by stochastic gradient descent. The score of a pair is a_i · b_j + a_j · b_i, and 0 for nodes without links. */
#include "baselines/deepwalk.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "baselines/alias.h"
#include "baselines/walks.h"
#include "linalg/kernels.h"

#define WALKS_PER_NODE 10
#define WINDOW 10
#define DIMENSIONS 128
#define NEGATIVES 5
#define RATE 0.025
#define LAST_RATE 0.0001

/* Stochastic gradient descent is a chain of steps: threads that race give other bits every time. Here threads work on
 * disjoint vectors instead. Nodes are cut into blocks; the pairs of a pool of walks are sorted into buckets by the
 * blocks of their two nodes; and in round r, input block t meets output block t + r (mod blocks), all t at once. Each
 * bucket draws its negatives from its own output block. So the steps on a vector, and their order, do not depend on who
 * does them. */
#define MOST_BLOCKS 16
#define LEAST_BLOCK 64 /* nodes; fewer would make poor negatives */
#define POOL_WALKS 1024
#define CHUNK_WALKS 16 /* walks are cut and sorted in chunks, whatever the threads */
#define CHUNKS (POOL_WALKS / CHUNK_WALKS)
#define POOL_PAIRS (POOL_WALKS * NPI_WALK_LENGTH * 2 * WINDOW)

typedef struct deepwalk {
    const npi_task *task;
    const npi_kernels *kernels;
    npi_walks walks;
    int64_t walk_count;
    int32_t blocks, block_size;
    real *in, *out;      /* (linked, DIMENSIONS) by place */
    npi_alias *negative; /* (linked) one table per block, with indices within it */
    int32_t *visited;    /* (POOL_WALKS, NPI_WALK_LENGTH) the walks of the pool */
    npgnn_pair *pairs;   /* (POOL_PAIRS) input and output place, by bucket */
    int64_t *fill;       /* (CHUNKS, buckets) where a chunk's next pair of a bucket goes */
    int64_t *bucket;     /* (buckets + 1) where a bucket starts */
    npgnn_progress progress;
} deepwalk;

static int buckets(const deepwalk *d)
{
    return d->blocks * d->blocks;
}

static int32_t block_start(const deepwalk *d, int32_t block)
{
    int64_t start = (int64_t)block * d->block_size;
    return start < d->walks.linked ? (int32_t)start : d->walks.linked;
}

/* ---- creating and freeing ---- */

typedef struct visits_loop {
    int64_t *visits;
    const deepwalk *d;
} visits_loop;

/* Integers: the order of the additions does not matter. */
static void count_range(const void *arg, int64_t first, int64_t last)
{
    const visits_loop *l = arg;
    for (int64_t walk = first; walk < last; walk++) {
        int32_t places[NPI_WALK_LENGTH];
        npi_walks_get(places, &l->d->walks, walk);
        for (int step = 0; step < NPI_WALK_LENGTH; step++)
            __atomic_fetch_add(&l->visits[places[step]], 1, __ATOMIC_RELAXED);
    }
}

/* Negatives are drawn in proportion to visits^0.75, as word2vec does. */
static int make_negatives(deepwalk *d, npgnn_error *err)
{
    const npgnn_env *env = d->task->env;
    size_t linked = (size_t)d->walks.linked;
    int64_t *visits = npi_alloc(env, linked, sizeof *visits, err);
    double *weights = npi_alloc(env, linked, sizeof *weights, err);
    int32_t *stack = npi_alloc(env, linked, sizeof *stack, err);
    int code = visits && weights && stack ? 0 : NPGNN_E_MEMORY;
    visits_loop loop = {visits, d};
    if (!code)
        npi_parallel(env->threads, d->walk_count, 0, count_range, &loop);
    for (size_t i = 0; !code && i < linked; i++)
        weights[i] = pow((double)visits[i], 0.75);
    for (int32_t block = 0; !code && block < d->blocks; block++) {
        int32_t start = block_start(d, block), count = block_start(d, block + 1) - start;
        npi_alias_make(d->negative + start, weights + start, stack, count);
    }
    npi_free(env, visits);
    npi_free(env, weights);
    npi_free(env, stack);
    return code;
}

static int deepwalk_new(deepwalk *d, npgnn_error *err)
{
    const npgnn_env *env = d->task->env;
    int code = npi_walks_new(&d->walks, &d->task->graph->a, d->task->options->seed, env, err);
    if (code)
        return code;
    int32_t linked = d->walks.linked, blocks = linked / LEAST_BLOCK;
    size_t count = (size_t)linked;
    d->kernels = npi_kernels_best();
    d->walk_count = (int64_t)linked * WALKS_PER_NODE;
    d->blocks = blocks < 1 ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks;
    d->block_size = (int32_t)(((int64_t)linked + d->blocks - 1) / d->blocks);
    d->in = npi_alloc(env, count * DIMENSIONS, sizeof *d->in, err);
    d->out = npi_alloc(env, count * DIMENSIONS, sizeof *d->out, err);
    d->negative = npi_alloc(env, count, sizeof *d->negative, err);
    d->visited = npi_alloc(env, POOL_WALKS * NPI_WALK_LENGTH, sizeof *d->visited, err);
    d->pairs = npi_alloc(env, POOL_PAIRS, sizeof *d->pairs, err);
    d->fill = npi_alloc(env, (size_t)CHUNKS * (size_t)buckets(d), sizeof *d->fill, err);
    d->bucket = npi_alloc(env, (size_t)buckets(d) + 1, sizeof *d->bucket, err);
    if (!d->in || !d->out || !d->negative || !d->visited || !d->pairs || !d->fill || !d->bucket)
        return NPGNN_E_MEMORY;
    /* small random input vectors; the output vectors start at 0 */
    npi_rng rng = npi_rng_make(d->task->options->seed, NPI_RNG_SKIPGRAM, 0);
    for (size_t i = 0; i < count * DIMENSIONS; i++)
        d->in[i] = (real)((npi_rng_uniform_at(&rng, i) - 0.5) / DIMENSIONS);
    return make_negatives(d, err);
}

static void deepwalk_free(const npgnn_env *env, void *learnt)
{
    deepwalk *d = learnt;
    npi_walks_free(env, &d->walks);
    npi_free(env, d->in);
    npi_free(env, d->out);
    npi_free(env, d->negative);
    npi_free(env, d->visited);
    npi_free(env, d->pairs);
    npi_free(env, d->fill);
    npi_free(env, d->bucket);
    npi_free(env, d);
}

/* ---- a pool: walks, their pairs, sorted into buckets ---- */

/* The pairs of one walk, each a step and one within its window: counts them in `fill`, by bucket, or puts them where it
 * says. */
static void walk_pairs(npgnn_pair *pairs, int64_t *fill, const deepwalk *d, const int32_t *places, int64_t walk)
{
    int windows[NPI_WALK_LENGTH];
    npi_walks_windows(windows, &d->walks, walk, WINDOW);
    for (int i = 0; i < NPI_WALK_LENGTH; i++) {
        int first = i - windows[i] > 0 ? i - windows[i] : 0;
        int last = i + windows[i] < NPI_WALK_LENGTH ? i + windows[i] : NPI_WALK_LENGTH - 1;
        int32_t row = places[i] / d->block_size * d->blocks;
        for (int j = first; j <= last; j++) {
            if (j == i)
                continue;
            int64_t at = fill[row + places[j] / d->block_size]++;
            if (pairs)
                pairs[at] = (npgnn_pair){places[i], places[j]};
        }
    }
}

typedef struct walks_loop {
    const deepwalk *d;
    npgnn_pair *pairs;
    int64_t first, end; /* walks */
} walks_loop;

static void walk_chunks(const void *arg, int64_t first, int64_t last)
{
    const walks_loop *l = arg;
    const deepwalk *d = l->d;
    for (int64_t chunk = first; chunk < last; chunk++) {
        int64_t walk = l->first + chunk * CHUNK_WALKS;
        int64_t stop = walk + CHUNK_WALKS < l->end ? walk + CHUNK_WALKS : l->end;
        for (; walk < stop; walk++) {
            int32_t *places = d->visited + (walk - l->first) * NPI_WALK_LENGTH;
            if (!l->pairs)
                npi_walks_get(places, &d->walks, walk);
            walk_pairs(l->pairs, d->fill + chunk * buckets(d), d, places, walk);
        }
    }
}

/* The pairs of the walks [first, end), sorted into buckets by a counting sort: two passes over the walks, in chunks. */
static void make_pool(deepwalk *d, int64_t first, int64_t end)
{
    int chunks = (int)((end - first + CHUNK_WALKS - 1) / CHUNK_WALKS), threads = d->task->env->threads;
    walks_loop count = {d, NULL, first, end}, place = {d, d->pairs, first, end};
    memset(d->fill, 0, (size_t)CHUNKS * (size_t)buckets(d) * sizeof *d->fill);
    npi_parallel(threads, chunks, 0, walk_chunks, &count);
    /* from how many pairs each chunk has in each bucket to where they go: by bucket, then by chunk */
    int64_t at = 0;
    for (int b = 0; b < buckets(d); b++) {
        d->bucket[b] = at;
        for (int chunk = 0; chunk < chunks; chunk++) {
            int64_t *fill = &d->fill[chunk * buckets(d) + b], pairs = *fill;
            *fill = at;
            at += pairs;
        }
    }
    d->bucket[buckets(d)] = at;
    npi_parallel(threads, chunks, 0, walk_chunks, &place);
}

/* ---- skip-gram ---- */

/* One step of gradient ascent on log sig(x · y_0) + Σ_i log sig(-x · y_i): x is the input vector of the pair, y_0 its
 * output vector, and y_i are those of its negatives, drawn from the block of the output. */
static void train_pair(const deepwalk *d, const npi_rng *rng, int64_t pair, real rate)
{
    static const int32_t zero = 0;
    uint32_t bits[8];
    int32_t outputs[1 + NEGATIVES], block = d->pairs[pair].v / d->block_size, start = block_start(d, block);
    real weight[1 + NEGATIVES], dx[DIMENSIONS] = {0}, one = 1;
    real *x = d->in + (size_t)d->pairs[pair].u * DIMENSIONS;
    npi_rng_block(bits, rng, (uint64_t)pair * 2);
    npi_rng_block(bits + 4, rng, (uint64_t)pair * 2 + 1);
    outputs[0] = d->pairs[pair].v;
    for (int i = 0; i < NEGATIVES; i++)
        outputs[1 + i] = start + npi_alias_draw(d->negative + start, block_start(d, block + 1) - start, bits[i]);

    /* weight_0 = rate (1 - sig(x · y_0)), weight_i = -rate sig(x · y_i); a negative that is the output itself
     * counts 0 */
    d->kernels->dots(weight, x, outputs, 1 + NEGATIVES, d->out, DIMENSIONS, DIMENSIONS);
    d->kernels->sigmoid(weight, weight, 1 + NEGATIVES);
    weight[0] = rate * (1 - weight[0]);
    for (int i = 1; i <= NEGATIVES; i++)
        weight[i] = outputs[i] == outputs[0] ? 0 : -rate * weight[i];

    /* dx = Σ_i weight_i y_i, then y_i += weight_i x and x += dx */
    d->kernels->combine(dx, outputs, weight, 1 + NEGATIVES, d->out, DIMENSIONS, DIMENSIONS);
    for (int i = 0; i <= NEGATIVES; i++)
        d->kernels->combine(d->out + (size_t)outputs[i] * DIMENSIONS, &zero, &weight[i], 1, x, DIMENSIONS, DIMENSIONS);
    d->kernels->combine(x, &zero, &one, 1, dx, DIMENSIONS, DIMENSIONS);
}

typedef struct round_loop {
    const deepwalk *d;
    npi_rng rng;
    real rate;
    int32_t round;
} round_loop;

static void train_blocks(const void *arg, int64_t first, int64_t last)
{
    const round_loop *l = arg;
    const deepwalk *d = l->d;
    for (int32_t t = (int32_t)first; t < last; t++) {
        int32_t b = t * d->blocks + (t + l->round) % d->blocks;
        for (int64_t pair = d->bucket[b]; pair < d->bucket[b + 1]; pair++)
            train_pair(d, &l->rng, pair, l->rate);
    }
}

static int train(deepwalk *d, npgnn_error *err)
{
    double start = npi_clock_seconds();
    int pools = (int)((d->walk_count + POOL_WALKS - 1) / POOL_WALKS), code = 0;
    d->progress = npi_method_begin(pools);
    for (int pool = 0; !code && pool < pools; pool++) {
        int64_t first = (int64_t)pool * POOL_WALKS, end = first + POOL_WALKS;
        double rate = RATE * (1 - (double)pool / pools);
        make_pool(d, first, end < d->walk_count ? end : d->walk_count);
        round_loop loop = {d, npi_rng_make(d->task->options->seed, NPI_RNG_SKIPGRAM, 1 + (uint32_t)pool),
                           (real)(rate > LAST_RATE ? rate : LAST_RATE), 0};
        /* in round r, input block t meets output block t + r: no two threads share a vector */
        for (; loop.round < d->blocks; loop.round++)
            npi_parallel(d->task->env->threads, d->blocks, 1, train_blocks, &loop);
        code = npi_method_advance(&d->progress, start, d->task->env, err);
    }
    return code;
}

/* ---- scores ---- */

static double dot(const real *x, const real *y)
{
    double sum = 0;
    for (int i = 0; i < DIMENSIONS; i++)
        sum += (double)x[i] * (double)y[i];
    return sum;
}

/* a_u · b_v + a_v · b_u, 0 for nodes without links */
static float score_pair(npi_scratch *scratch, const npi_heuristic *h, npgnn_pair pair)
{
    const deepwalk *d = h->learnt;
    int32_t place[2] = {d->walks.place[pair.u], d->walks.place[pair.v]};
    size_t u = (size_t)place[0] * DIMENSIONS, v = (size_t)place[1] * DIMENSIONS;
    int known = place[0] >= 0 && place[1] >= 0;
    (void)scratch;
    return known ? (float)(dot(d->in + u, d->out + v) + dot(d->in + v, d->out + u)) : 0;
}

int npi_deepwalk_learn(npi_heuristic *out, npgnn_eval_run *run, const npi_task *task, npgnn_error *err)
{
    deepwalk *d = npi_alloc(task->env, 1, sizeof *d, err);
    if (!d)
        return NPGNN_E_MEMORY;
    *out = (npi_heuristic){.graph = task->graph, .pair = score_pair, .learnt = d, .free = deepwalk_free};
    d->task = task;
    int code = deepwalk_new(d, err);
    if (!code)
        code = train(d, err);
    run->iterations = run->best_iteration = d->progress.iteration;
    run->train_seconds = d->progress.seconds;
    return code;
}

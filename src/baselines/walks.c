/* Random walks for DeepWalk: every walk is a function of the seed and of its number. */
#include "baselines/walks.h"

#include "base/rng.h"

/* Streams of NPI_RNG_WALK. */
enum { STEPS, WINDOWS, ORDER };

int npi_walks_new(npi_walks *out, const npi_csr *a, uint64_t seed, const npgnn_env *env, npgnn_error *err)
{
    size_t n = (size_t)a->rows;
    npi_walks w = {.a = a, .seed = seed};
    npi_rng rng = npi_rng_make(seed, NPI_RNG_WALK, ORDER);
    int64_t *order = npi_alloc(env, n, sizeof *order, err);
    w.node = npi_alloc(env, n, sizeof *w.node, err);
    w.place = npi_alloc(env, n, sizeof *w.place, err);
    if (!order || !w.node || !w.place) {
        npi_free(env, order);
        npi_walks_free(env, &w);
        return NPGNN_E_MEMORY;
    }
    npi_rng_permutation(order, a->rows, &rng);
    for (size_t i = 0; i < n; i++) {
        int32_t node = (int32_t)order[i];
        int has_edge = a->ptr[node + 1] > a->ptr[node];
        w.place[node] = has_edge ? w.linked : -1;
        if (has_edge)
            w.node[w.linked++] = node;
    }
    npi_free(env, order);
    *out = w;
    return 0;
}

void npi_walks_free(const npgnn_env *env, npi_walks *walks)
{
    npi_free(env, walks->node);
    npi_free(env, walks->place);
}

/* A number below `bound` from 32 random bits; the bias is below bound / 2^32. */
static uint32_t below(uint32_t bits, uint64_t bound)
{
    return (uint32_t)(bits * bound >> 32);
}

/* The random bits of walk `index`, four steps at a time. */
static void draw(uint32_t bits[4], const npi_walks *walks, uint32_t stream, int64_t index, int step)
{
    npi_rng rng = npi_rng_make(walks->seed, NPI_RNG_WALK, stream);
    npi_rng_block(bits, &rng, (uint64_t)index * (NPI_WALK_LENGTH / 4) + (uint64_t)step / 4);
}

void npi_walks_get(int32_t places[NPI_WALK_LENGTH], const npi_walks *walks, int64_t index)
{
    const npi_csr *a = walks->a;
    uint32_t bits[4];
    /* walks start at each node with links in turn, and step to a uniformly random neighbour */
    places[0] = (int32_t)(index % walks->linked);
    int32_t node = walks->node[places[0]];
    for (int step = 0; step + 1 < NPI_WALK_LENGTH; step++) {
        if (step % 4 == 0)
            draw(bits, walks, STEPS, index, step);
        node = a->col[a->ptr[node] + below(bits[step % 4], (uint64_t)(a->ptr[node + 1] - a->ptr[node]))];
        places[step + 1] = walks->place[node];
    }
}

void npi_walks_windows(int windows[NPI_WALK_LENGTH], const npi_walks *walks, int64_t index, int most)
{
    uint32_t bits[4];
    /* each step has a window of its own, uniform in 1 .. most, as in word2vec */
    for (int step = 0; step < NPI_WALK_LENGTH; step++) {
        if (step % 4 == 0)
            draw(bits, walks, WINDOWS, index, step);
        windows[step] = 1 + (int)below(bits[step % 4], (uint64_t)most);
    }
}

/* The transductive split of the paper's authors, drawn again. Their program takes it from the graph auto-encoders of Kipf and Welling
 * (mask_test_edges), with the generator of numpy's RandomState and the seed 1:
 *
 *     order = the links (u < v, ascending), shuffled
 *     validation = the first m / 20 of them, test = the next m / 10, training = the rest
 *     non-links of the test set, then those of the validation set = pairs of random nodes, in the order drawn; loops, links and pairs that
 *     the set has already are drawn again
 *
 * The generator is the Mersenne Twister (Matsumoto and Nishimura 1998). An integer up to `most` is the next 32 bits, cut to the bits that
 * `most` has, drawn again while it is larger: numpy's legacy method, which its compatibility promise keeps as it is. */
#include <string.h>

#include "graph/pair.h"
#include "graph/split.h"

enum { SEED = 1, WORDS = 624, SHIFT = 397 };

typedef struct twister {
    uint32_t word[WORDS];
    int next;
} twister;

static twister twister_make(uint32_t seed)
{
    twister t = {.next = WORDS};
    for (int i = 0; i < WORDS; i++) {
        t.word[i] = seed;
        seed = 1812433253u * (seed ^ seed >> 30) + (uint32_t)i + 1;
    }
    return t;
}

static uint32_t twister_draw(twister *t)
{
    if (t->next == WORDS) {
        for (int i = 0; i < WORDS; i++) {
            uint32_t y = (t->word[i] & 0x80000000u) | (t->word[(i + 1) % WORDS] & 0x7fffffffu);
            t->word[i] = t->word[(i + SHIFT) % WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
        }
        t->next = 0;
    }
    uint32_t y = t->word[t->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* An integer from 0 to `most`. */
static uint32_t draw_to(twister *t, uint32_t most)
{
    uint32_t mask = most, value;
    for (int bits = 1; bits < 32; bits *= 2)
        mask |= mask >> bits;
    do
        value = twister_draw(t) & mask;
    while (value > most);
    return value;
}

/* pairs (count) of nodes without a link, each once. `taken` is an empty table of `slots` keys, a power of two. */
static void draw_non_links(npgnn_pair *pairs, int64_t count, const npgnn_graph *graph, twister *t, uint64_t *taken,
                           size_t slots)
{
    for (int64_t i = 0; i < count;) {
        int32_t u = (int32_t)draw_to(t, (uint32_t)graph->n - 1), v = (int32_t)draw_to(t, (uint32_t)graph->n - 1);
        if (u == v || npgnn_graph_has_edge(graph, u, v))
            continue;
        uint64_t key = npi_pair_key((npgnn_pair){u, v}); /* the same for (v, u), and never 0, since u is not v */
        size_t slot = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (slots - 1);
        while (taken[slot] && taken[slot] != key)
            slot = (slot + 1) & (slots - 1);
        if (taken[slot])
            continue;
        taken[slot] = key;
        pairs[i++] = npi_pair_from_key(key);
    }
}

int npgnn_split_authors(npgnn_split **out, const npgnn_graph *graph, const npgnn_env *given, npgnn_error *err)
{
    if (npi_env_check(given, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env env = npi_env_resolve(given);
    int64_t m = graph->m, sizes[2] = {[NPGNN_SET_VAL] = m / 20, [NPGNN_SET_TEST] = m / 10};
    int64_t pairs_without = (int64_t)graph->n * (graph->n - 1) / 2 - m;
    if (sizes[NPGNN_SET_VAL] == 0 || graph->side || m > UINT32_MAX || pairs_without < 4 * sizes[NPGNN_SET_TEST])
        return npi_fail(
            err, NPGNN_E_ARGUMENT,
            "the authors' split needs a graph with one side, at least 20 links, and many more pairs without one");
    size_t slots = 64;
    while (slots < 4 * (size_t)sizes[NPGNN_SET_TEST])
        slots *= 2;
    npgnn_pair *edges = npi_alloc(&env, (size_t)m, sizeof *edges, err), *pairs[2] = {NULL, NULL};
    uint32_t *order = npi_alloc(&env, (size_t)m, sizeof *order, err);
    unsigned char *held_out = npi_alloc(&env, (size_t)m, 1, err);
    uint64_t *taken = npi_alloc(&env, slots, sizeof *taken, err);
    for (int set = 0; set < 2; set++)
        pairs[set] = npi_alloc(&env, 2 * (size_t)sizes[set], sizeof *pairs[set], err);
    int code = edges && order && held_out && taken && pairs[0] && pairs[1] ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        twister t = twister_make(SEED);
        npi_graph_list_edges(edges, graph);
        for (int64_t i = 0; i < m; i++)
            order[i] = (uint32_t)i;
        for (int64_t i = m - 1; i > 0; i--) {
            int64_t j = draw_to(&t, (uint32_t)i);
            uint32_t other = order[i];
            order[i] = order[j];
            order[j] = other;
        }
        int64_t from = 0, kept = 0;
        for (int set = NPGNN_SET_VAL; set <= NPGNN_SET_TEST; set++)
            for (int64_t i = 0; i < sizes[set]; i++, from++) {
                pairs[set][i] = edges[order[from]];
                held_out[order[from]] = 1;
            }
        for (int set = NPGNN_SET_TEST; set >= NPGNN_SET_VAL; set--) {
            memset(taken, 0, slots * sizeof *taken);
            draw_non_links(pairs[set] + sizes[set], sizes[set], graph, &t, taken, slots);
        }
        for (int64_t i = 0; i < m; i++)
            if (!held_out[i])
                edges[kept++] = edges[i];
        const size_t count[2] = {2 * (size_t)sizes[0], 2 * (size_t)sizes[1]};
        const size_t positives[2] = {(size_t)sizes[0], (size_t)sizes[1]};
        code =
            npi_split_assemble(out, graph, NPGNN_RANDOM_LINKS, edges, kept, NULL, pairs, count, positives, &env, err);
        pairs[0] = pairs[1] = NULL;   /* taken over */
        if (code == NPGNN_E_MISMATCH) /* their program does not notice */
            npi_fail(
                err, code,
                "the authors' procedure holds out a pair twice in this graph: it is for Cora, Citeseer and PubMed");
    }
    for (int set = 0; set < 2; set++)
        npi_free(&env, pairs[set]);
    npi_free(&env, edges);
    npi_free(&env, order);
    npi_free(&env, held_out);
    npi_free(&env, taken);
    return code;
}

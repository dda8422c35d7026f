/* Generates a synthetic citation graph from a few numbers (docs/use/synthetic.md).
 *
 * Every node has a topic and a hidden community. Its features are words, most of them drawn from the vocabulary of
 * its topic. Its links go to nodes of its topic or of a related one, close triangles, stay within its community, or
 * are random.
 *
 * Every random draw is a function of the seed, the step and the node or link it is for, so that all steps run in
 * parallel and any number of threads generates the same graph. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "graph/graph.h"

/* ---- constants of the generator ---- */

#define TOPIC_WORDS 0.7   /* share of the words of a node that are drawn from its topic */
#define BACKGROUND 3      /* 1 / BACKGROUND of the vocabulary is common to all topics */
#define COMMUNITY_SIZE 40 /* mean number of nodes in a hidden community */
#define MAX_LENGTH 1000   /* words per node */
#define WORDS_STRIDE 2048 /* random draws reserved for the words of a node: more than 1.5 MAX_LENGTH */

/* Cumulative shares of the kinds of links. The remaining links are random. */
#define UP_TO_TOPIC 0.60
#define UP_TO_RELATED 0.76
#define UP_TO_CLOSING 0.86
#define UP_TO_COMMUNITY 0.95

/* Streams of random numbers. */
enum { STEP_TOPIC, STEP_COMMUNITY, STEP_WORDS, STEP_LENGTH, STEP_LINKS, STEP_DEGREE };

/* ---- the specification: KEY=VALUE,KEY=VALUE,... ---- */

typedef struct recipe {
    int32_t nodes, topics, words;
    int length; /* mean number of words per node */
    double degree;
    uint64_t seed;
} recipe;

enum { NODES, TOPICS, WORDS, DEGREE, LENGTH, SETTINGS };

static const struct setting {
    const char *key;
    double low, high;
    int whole; /* must be an integer */
} settings[SETTINGS] = {
    [NODES] = {"nodes", 100, INT32_MAX, 1},  [TOPICS] = {"topics", 1, 1000, 1},
    [WORDS] = {"words", 100, 10000000, 1},   [DEGREE] = {"degree", 0.5, 100, 0},
    [LENGTH] = {"length", 1, MAX_LENGTH, 1},
};

/* One "key=value". */
static int parse_item(double numbers[SETTINGS], uint64_t *seed, const char *item, npgnn_error *err)
{
    const char *equals = strchr(item, '='), *value = equals ? equals + 1 : NULL;
    size_t length = equals ? (size_t)(equals - item) : 0;
    double number;
    if (!equals)
        return npi_fail(err, NPGNN_E_ARGUMENT, "synthetic: expected KEY=VALUE, got \"%s\"", item);
    if (length == 4 && memcmp(item, "seed", 4) == 0)
        return npi_number_parse_u64(seed, value)
                   ? 0
                   : npi_fail(err, NPGNN_E_ARGUMENT,
                              "synthetic: seed must be an integer from 0 to 2^64 - 1, got \"%s\"", value);
    for (int i = 0; i < SETTINGS; i++) {
        const struct setting *s = &settings[i];
        if (strlen(s->key) != length || memcmp(item, s->key, length) != 0)
            continue;
        if (npi_number_parse_double(&number, value) != NPI_NUMBER_OK || !(number >= s->low && number <= s->high) ||
            (s->whole && number != floor(number)))
            return npi_fail(err, NPGNN_E_ARGUMENT, "synthetic: %s must be %s from %.10g to %.10g, got \"%s\"", s->key,
                            s->whole ? "an integer" : "a number", s->low, s->high, value);
        numbers[i] = number;
        return 0;
    }
    return npi_fail(err, NPGNN_E_ARGUMENT,
                    "synthetic: unknown key \"%.*s\"; the keys are nodes, topics, words, degree, length and seed",
                    (int)length, item);
}

static int parse_spec(recipe *out, const char *spec, npgnn_error *err)
{
    double numbers[SETTINGS] = {[NODES] = 2000, [TOPICS] = 10, [WORDS] = 1000, [DEGREE] = 3, [LENGTH] = 20};
    uint64_t seed = 1;
    char item[64];
    for (const char *rest = spec ? spec : ""; *rest;) {
        size_t length = strcspn(rest, ",");
        if (length >= sizeof item)
            return npi_fail(err, NPGNN_E_ARGUMENT, "synthetic: \"%.60s...\" is too long for KEY=VALUE", rest);
        snprintf(item, sizeof item, "%.*s", (int)length, rest);
        int code = parse_item(numbers, &seed, item, err);
        if (code)
            return code;
        rest += length + (rest[length] == ',');
    }
    *out = (recipe){(int32_t)numbers[NODES], (int32_t)numbers[TOPICS], (int32_t)numbers[WORDS],
                    (int)numbers[LENGTH],    numbers[DEGREE],          seed};
    if (out->topics > out->nodes / 10 || out->topics > out->words / 10)
        return npi_fail(err, NPGNN_E_ARGUMENT, "synthetic: %d topics need at least %d nodes and %d words", out->topics,
                        10 * out->topics, 10 * out->topics);
    if (out->length > out->words)
        return npi_fail(err, NPGNN_E_ARGUMENT, "synthetic: length (%d) must not exceed words (%d)", out->length,
                        out->words);
    return 0;
}

/* ---- groups of nodes: topics, and communities that the features do not show ---- */

typedef struct groups {
    int32_t count;
    int32_t *of;     /* (n) the group of a node */
    int32_t *start;  /* (count + 1) */
    int32_t *member; /* (n) the nodes, group by group, ascending within */
} groups;

static void groups_free(const npgnn_env *env, groups *g)
{
    npi_free(env, g->of);
    npi_free(env, g->start);
    npi_free(env, g->member);
}

/* Lists the members of each group by counting sort. */
static void list_members(groups *g, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        g->start[g->of[i] + 1]++;
    for (int32_t k = 0; k < g->count; k++)
        g->start[k + 1] += g->start[k];
    /* fill from the back: start[k + 1] decreases from the end of group k to its beginning */
    for (int32_t i = n; i-- > 0;)
        g->member[--g->start[g->of[i] + 1]] = i;
    memmove(g->start, g->start + 1, (size_t)g->count * sizeof *g->start);
    g->start[g->count] = n;
}

typedef struct assign_loop {
    int32_t *of, count;
    int skewed;
    npi_rng rng;
} assign_loop;

static void assign_nodes(const void *arg, int64_t first, int64_t last)
{
    const assign_loop *l = arg;
    for (int32_t i = (int32_t)first; i < last; i++) {
        double u = npi_rng_uniform_at(&l->rng, (uint64_t)i);
        l->of[i] = i < l->count ? i : (int32_t)(l->count * (l->skewed ? u * sqrt(u) : u));
    }
}

/* Assigns every node to a group. Groups have equal expected sizes or, where `skewed`, the first k of them have (k /
 * count)^(2/3) of the nodes. No group is empty: node i < count is in group i. Here and below, products and square
 * roots are used instead of pow, because they give the same bits on every machine. */
static int groups_new(groups *g, const recipe *r, int32_t count, int skewed, uint32_t step, const npgnn_env *env,
                      npgnn_error *err)
{
    g->count = count;
    g->of = npi_alloc(env, (size_t)r->nodes, sizeof *g->of, err);
    g->start = npi_alloc(env, (size_t)count + 1, sizeof *g->start, err);
    g->member = npi_alloc(env, (size_t)r->nodes, sizeof *g->member, err);
    if (!g->of || !g->start || !g->member)
        return NPGNN_E_MEMORY;
    assign_loop loop = {g->of, count, skewed, npi_rng_make(r->seed, NPI_RNG_SYNTHETIC, step)};
    npi_parallel(env->threads, r->nodes, 0, assign_nodes, &loop);
    list_members(g, r->nodes);
    return 0;
}

/* ---- the number of words and links of each node ---- */

/* A random integer, uniform from (1 - spread) mean to (1 + spread) mean. */
static int64_t amount(const npi_rng *rng, int64_t i, double mean, double spread)
{
    return llround(mean * (1 + spread * (2 * npi_rng_uniform_at(rng, (uint64_t)i) - 1)));
}

/* ptr (n + 1): node i has the items from ptr[i] to ptr[i + 1]. NULL where memory is out. */
static int64_t *amounts(const recipe *r, double mean, double spread, uint32_t step, const npgnn_env *env,
                        npgnn_error *err)
{
    const npi_rng rng = npi_rng_make(r->seed, NPI_RNG_SYNTHETIC, step);
    int64_t *ptr = npi_alloc(env, (size_t)r->nodes + 1, sizeof *ptr, err);
    for (int32_t i = 0; ptr && i < r->nodes; i++)
        ptr[i + 1] = ptr[i] + amount(&rng, i, mean, spread);
    return ptr;
}

static double unit(uint32_t high, uint32_t low)
{
    return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}

/* ---- words ---- */

/* Draws a word: one of the background vocabulary (Zipf-like: the r-th word is r^(-2/3) as frequent as the first) or
 * one of the vocabulary of the topic, which is a range of the remaining words that overlaps with the ranges of the
 * neighbouring topics. */
static int32_t draw_word(const recipe *r, int32_t topic, const uint32_t bits[4])
{
    int32_t common = r->words / BACKGROUND, own = r->words - common, stretch = 2 * (own / r->topics);
    double u = unit(bits[2], bits[3]);
    if (unit(bits[0], bits[1]) >= TOPIC_WORDS)
        return (int32_t)(common * u * u * u);
    int64_t begin = (int64_t)topic * own / r->topics;
    return common + (int32_t)((begin + (int64_t)(stretch * u * u)) % own);
}

/* Inserts a word into an ascending list unless it is there already. Returns the new count. */
static int64_t insert_word(int32_t *list, int64_t count, int32_t word)
{
    int64_t place = count;
    while (place > 0 && list[place - 1] > word)
        place--;
    if (place > 0 && list[place - 1] == word)
        return count;
    memmove(list + place + 1, list + place, (size_t)(count - place) * sizeof *list);
    list[place] = word;
    return count + 1;
}

/* Draws the words of a node into `list`, ascending and without repetition. Returns their number. */
static int64_t draw_words(int32_t *list, const recipe *r, int32_t node, int32_t topic, int64_t draws)
{
    const npi_rng rng = npi_rng_make(r->seed, NPI_RNG_SYNTHETIC, STEP_WORDS);
    int64_t count = 0;
    uint32_t bits[4];
    for (int64_t d = 0; d < draws; d++) {
        npi_rng_block(bits, &rng, (uint64_t)node * WORDS_STRIDE + (uint64_t)d);
        count = insert_word(list, count, draw_word(r, topic, bits));
    }
    return count;
}

/* Closes the gaps that repeated words left: ptr[i + 1] words of node i begin at first[i]. ptr becomes the row
 * offsets. */
static void close_gaps(npi_csr *x, const int64_t *first)
{
    for (int32_t i = 0; i < x->rows; i++) {
        int64_t count = x->ptr[i + 1];
        memmove(x->col + x->ptr[i], x->col + first[i], (size_t)count * sizeof *x->col);
        x->ptr[i + 1] = x->ptr[i] + count;
    }
}

typedef struct words_loop {
    npi_csr x;
    const recipe *r;
    const groups *topics;
    const int64_t *start;
} words_loop;

static void draw_node_words(const void *arg, int64_t first, int64_t last)
{
    const words_loop *l = arg;
    for (int32_t i = (int32_t)first; i < last; i++)
        l->x.ptr[i + 1] = draw_words(l->x.col + l->start[i], l->r, i, l->topics->of[i], l->start[i + 1] - l->start[i]);
}

/* X (nodes, words): 1 for every word of a node. */
static int make_features(npi_features **out, const recipe *r, const groups *topics, const npgnn_env *env,
                         npgnn_error *err)
{
    npi_csr x = {.rows = r->nodes, .cols = r->words};
    int64_t *start = amounts(r, r->length, 0.5, STEP_LENGTH, env, err);
    if (!start)
        return NPGNN_E_MEMORY;
    x.ptr = npi_alloc(env, (size_t)r->nodes + 1, sizeof *x.ptr, err);
    x.col = npi_resize(env, NULL, (size_t)start[r->nodes], sizeof *x.col, err);
    if (!x.ptr || !x.col) {
        npi_free(env, start);
        npi_csr_free(env, &x);
        return NPGNN_E_MEMORY;
    }
    words_loop loop = {x, r, topics, start};
    npi_parallel(env->threads, r->nodes, 0, draw_node_words, &loop);
    close_gaps(&x, start);
    npi_free(env, start);
    return npi_features_from_csr(out, &x, env, err);
}

/* ---- links ---- */

/* Draws a member of a group. Where `skewed`, the probability of the r-th member is proportional to r^-½. Degrees
 * then have a power-law tail with exponent 3, as in preferential attachment. */
static int32_t draw_member(const groups *g, int32_t group, double u, int skewed)
{
    int32_t size = g->start[group + 1] - g->start[group];
    return g->member[g->start[group] + (int32_t)(size * (skewed ? u * u : u))];
}

/* Draws the other node of a link of node i. `kind` selects the kind of link, u the node. */
static int32_t draw_target(const groups *topics, const groups *communities, int32_t i, int32_t n, double kind, double u)
{
    int32_t topic = topics->of[i];
    if (kind < UP_TO_TOPIC)
        return draw_member(topics, topic, u, 1);
    if (kind < UP_TO_RELATED) /* the opposite topic: they share background words only */
        return draw_member(topics, (topic + topics->count / 2) % topics->count, u, 1);
    if (kind < UP_TO_CLOSING) /* close_triangles replaces this */
        return draw_member(topics, topic, u, 1);
    if (kind < UP_TO_COMMUNITY)
        return draw_member(communities, communities->of[i], u, 0);
    return (int32_t)(n * u);
}

/* Draws the kind of a link. The first link of a node never closes a triangle: close_triangles reads first links
 * while it changes others. */
static double link_kind(const uint32_t bits[4], int first)
{
    double kind = unit(bits[0], bits[1]);
    return first && kind >= UP_TO_RELATED && kind < UP_TO_CLOSING ? 0 : kind;
}

typedef struct links_loop {
    npgnn_pair *links;
    const int64_t *ptr;
    const recipe *r;
    const groups *topics, *communities;
    npi_rng rng;
} links_loop;

static void draw_node_links(const void *arg, int64_t first, int64_t last)
{
    const links_loop *l = arg;
    for (int32_t i = (int32_t)first; i < last; i++) {
        for (int64_t e = l->ptr[i]; e < l->ptr[i + 1]; e++) {
            uint32_t bits[4];
            npi_rng_block(bits, &l->rng, (uint64_t)e);
            double kind = link_kind(bits, e == l->ptr[i]), u = unit(bits[2], bits[3]);
            l->links[e] = (npgnn_pair){i, draw_target(l->topics, l->communities, i, l->r->nodes, kind, u)};
        }
    }
}

/* Redirects the links that close triangles: from i to the first neighbour of the first neighbour of i, if that has
 * one. */
static void close_node_triangles(const void *arg, int64_t first, int64_t last)
{
    const links_loop *l = arg;
    const int64_t *ptr = l->ptr;
    for (int64_t i = first; i < last; i++) {
        for (int64_t e = ptr[i] + 1; e < ptr[i + 1]; e++) {
            uint32_t bits[4];
            npi_rng_block(bits, &l->rng, (uint64_t)e);
            double kind = link_kind(bits, 0);
            int32_t near = l->links[ptr[i]].v;
            if (kind >= UP_TO_RELATED && kind < UP_TO_CLOSING && ptr[near + 1] > ptr[near])
                l->links[e].v = l->links[ptr[near]].v;
        }
    }
}

static int make_links(npgnn_pair **out, int64_t *count, const recipe *r, const groups *topics, const npgnn_env *env,
                      npgnn_error *err)
{
    groups communities = {0};
    npgnn_pair *links = NULL;
    int64_t *ptr = amounts(r, r->degree, 1, STEP_DEGREE, env, err);
    int code =
        ptr ? groups_new(&communities, r, 1 + r->nodes / COMMUNITY_SIZE, 0, STEP_COMMUNITY, env, err) : NPGNN_E_MEMORY;
    if (!code) {
        links = npi_resize(env, NULL, (size_t)ptr[r->nodes], sizeof *links, err);
        code = links ? 0 : NPGNN_E_MEMORY;
    }
    if (!code) {
        links_loop loop = {links, ptr, r, topics, &communities, npi_rng_make(r->seed, NPI_RNG_SYNTHETIC, STEP_LINKS)};
        npi_parallel(env->threads, r->nodes, 0, draw_node_links, &loop);
        npi_parallel(env->threads, r->nodes, 0, close_node_triangles, &loop);
        *out = links;
        *count = ptr[r->nodes];
    }
    groups_free(env, &communities);
    npi_free(env, ptr);
    return code;
}

/* ---- the graph ---- */

/* Takes the labels out of `topics`. */
static int build(npgnn_graph **out, const recipe *r, groups *topics, const npgnn_env *env, npgnn_error *err)
{
    npi_graph_content content = {.n = r->nodes, .classes = r->topics};
    npgnn_pair *links = NULL;
    int code = make_links(&links, &content.edge_count, r, topics, env, err);
    if (!code)
        code = make_features(&content.x, r, topics, env, err);
    if (!code) {
        content.edges = links;
        content.label = topics->of;
        topics->of = NULL; /* the graph owns it now */
        code = npi_graph_build(out, &content, env, err);
    }
    if (!code) {
        /* duplicates and self loops that the generator drew are not defects of an input: do not report them */
        (*out)->input_edges = (*out)->m;
        (*out)->duplicates = (*out)->reverse = (*out)->self_loops = 0;
    }
    npi_free(env, links);
    return code;
}

int npgnn_graph_synthetic(npgnn_graph **out, const char *spec, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    const npgnn_env resolved = npi_env_resolve(env);
    groups topics = {0};
    recipe r = {0};
    int code = parse_spec(&r, spec, err);
    if (!code)
        code = groups_new(&topics, &r, r.topics, 1, STEP_TOPIC, &resolved, err);
    if (!code)
        code = build(out, &r, &topics, &resolved, err);
    groups_free(&resolved, &topics);
    return code;
}

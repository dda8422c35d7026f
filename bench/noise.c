/* Is every method at chance where there is nothing to predict?
 *
 *     build/bench/noise [--graphs N] [--nodes N] [--iterations N] [--seed N] [--threads N]
 *                       [--slow-graphs N] [--kind NAME] [--protocol NAME] [--method NAME]
 *
 * Kinds of noise, --graphs graphs of each:
 *
 *     random      Erdős-Rényi: every pair is a link with the same probability; random features and times
 *     degrees     configuration model: skewed degrees, ends of links joined at random; random features. Degrees tell
 *                 something here, so only the degree-matched AUC is at chance
 *     features    the generated graph, whose links depend on features and structure, with its rows of features permuted. At
 *                 chance are: cosine; all methods where both nodes are new; and the degree-matched AUC where one is
 *     labels      the generated graph, with the labels of the held-out pairs permuted: the links are the training links and
 *                 a random half of the held-out pairs. Features and structure are real, and nothing tells the held-out
 *                 links from the non-links
 *     degree-1    random graphs of mean degree 1, without the nodes that have no link, as in a list of links. Where every
 *                 node has a link, one that has lost it betrays that. Likewise degree-1.5, degree-2 and degree-3
 *     matching    every node has one link. Most protocols refuse it: there is no link whose nodes keep one
 *     tree        a uniformly random tree. Here, components tell what is no link, and their sizes what is one: a tree that
 *                 contains a given forest has the link (u, v) with probability (1 / a + 1 / b) / n, a and b the numbers of
 *                 nodes of the trees of u and v, and 0 if that is the same. So every non-link is drawn like the link with
 *                 which it is compared: from the pairs of one node of the tree of u and one of the tree of v, given the
 *                 known links; these are equally likely to be it. Links without another such pair are left out.
 *                 (In random recursive trees, where a new node is linked to any earlier one, old nodes have more links and
 *                 more to come: no set of non-links is known to be at chance.)
 *
 * Every method and preset is evaluated with every protocol. A leak, or positives and negatives of different kinds, shows as a
 * mean that is not at chance: 1/2 for the AUC; for the AP, its mean over all orders of the labels, given the ties of the
 * scores. With x_g the difference to chance on graph g, the mean of x over the graphs has the standard error s, from the
 * spread of x_g but at least that of independent pairs. A cell with |mean / s| > LIMIT fails, and so does the program.
 * --iterations bounds the training of the networks, --slow-graphs the graphs for the methods whose training takes long. The
 * authors' protocols and random-links are not at chance; --protocol paper-inductive or --kind degree-1 --protocol
 * random-links shows it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "graph/negative.h"

#define LIMIT 4.5 /* of 1,000 cells at chance, one in 150 runs of the program has one beyond it */

enum { MAX_METHODS = 64, COLUMNS = 40, DEGREE = 8 };
typedef enum { RANDOM, DEGREES, FEATURES, LABELS, DEGREE_1, DEGREE_15, DEGREE_2, DEGREE_3, MATCHING, TREE, KINDS } kind;
static const char *const kind_names[KINDS] = {"random",     "degrees",  "features", "labels",   "degree-1",
                                              "degree-1.5", "degree-2", "degree-3", "matching", "tree"};
typedef enum { AUC, AP, DEGREE_AUC, METRICS } metric;
static const char *const metric_names[METRICS] = {"AUC", "AP", "degree AUC"};
static const char *const protocol_names[] = {"transductive",     "inductive",      "few-shot",
                                             "inductive-hidden", "production",     "temporal",
                                             "paper-inductive",  "paper-few-shot", "random-links"};
enum { PROTOCOLS = sizeof protocol_names / sizeof protocol_names[0] };

typedef struct settings {
    int graphs, slow_graphs, nodes, iterations, threads;
    uint64_t seed;
    const char *kind, *protocol, *method;
} settings;

/* A method of npgnn_evaluate, or a preset. */
typedef struct method {
    const char *name, *run; /* as listed, and as npgnn_evaluate calls it */
    npgnn_options options;
    int slow;
} method;

/* The differences to chance of one method, protocol and metric, over the graphs. */
typedef struct cell {
    double sum, square, independent; /* of x, x², and the variance that x has for independent pairs */
    int count;
} cell;

static void stop(const npgnn_error *err)
{
    fprintf(stderr, "noise: %s\n", err->text);
    exit(2);
}

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        stop(&(npgnn_error){.text = "out of memory"});
    return memory;
}

/* ---- graphs ---- */

/* COLUMNS random features per node, a fifth of them 1. */
static void draw_features(float *features, int32_t n, npi_rng *rng)
{
    for (int64_t i = 0; i < (int64_t)n * COLUMNS; i++)
        features[i] = npi_rng_below(rng, 5) == 0;
}

/* Every pair is a link with probability degree / (n - 1). */
static int64_t draw_random(npgnn_pair *edges, int32_t n, int64_t most, double degree, npi_rng *rng)
{
    int64_t count = 0;
    for (int32_t u = 0; u < n; u++)
        for (int32_t v = u + 1; v < n; v++)
            if (count < most && npi_rng_uniform(rng) < degree / (n - 1))
                edges[count++] = (npgnn_pair){u, v};
    return count;
}

/* Node i has about DEGREE / 2 · (n / (i + 1))^½ ends, which makes DEGREE on average; a random matching of the ends
 * gives the links. Loops and repeated links are merged by npgnn_graph_new. */
static int64_t draw_degrees(npgnn_pair *edges, int32_t n, int64_t most, npi_rng *rng)
{
    int32_t *ends = need(2 * (size_t)most, sizeof *ends);
    int64_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        double wanted = DEGREE / 2.0 * sqrt((double)n / (i + 1));
        wanted = fmin(wanted, sqrt((double)n * DEGREE) / 2); /* so that few links of hubs are repeated */
        for (int64_t k = (int64_t)(wanted + npi_rng_uniform(rng)); k > 0 && count < 2 * most; k--)
            ends[count++] = i;
    }
    for (int64_t i = count - 1; i > 0; i--) { /* Fisher-Yates */
        int64_t j = (int64_t)npi_rng_below(rng, (uint64_t)i + 1);
        int32_t end = ends[i];
        ends[i] = ends[j];
        ends[j] = end;
    }
    for (int64_t e = 0; e < count / 2; e++)
        edges[e] = (npgnn_pair){ends[2 * e], ends[2 * e + 1]};
    free(ends);
    return count / 2;
}

/* A uniformly random tree, from a random Prüfer sequence. */
static int64_t draw_tree(npgnn_pair *edges, int32_t n, npi_rng *rng)
{
    int32_t *sequence = need((size_t)n, sizeof *sequence), *left = need((size_t)n, sizeof *left);
    for (int32_t i = 0; i < n - 2; i++)
        left[sequence[i] = (int32_t)npi_rng_below(rng, (uint64_t)n)]++;
    sequence[n - 2] = n - 1; /* the last link is that of the largest node */
    for (int32_t e = 0; e < n - 1; e++) {
        int32_t leaf = 0;
        while (left[leaf] != 0)
            leaf++;
        left[leaf] = -1;
        left[sequence[e]] -= e < n - 2;
        edges[e] = (npgnn_pair){leaf, sequence[e]};
    }
    free(sequence);
    free(left);
    return n - 1;
}

/* Numbers the nodes that have links from 0, and returns how many they are. */
static int32_t drop_unlinked(npgnn_pair *edges, int64_t count, int32_t n)
{
    int32_t *number = need((size_t)n, sizeof *number), linked = 0;
    for (int64_t e = 0; e < count; e++)
        number[edges[e].u] = number[edges[e].v] = 1;
    for (int32_t i = 0; i < n; i++)
        number[i] = number[i] ? linked++ : 0;
    for (int64_t e = 0; e < count; e++)
        edges[e] = (npgnn_pair){number[edges[e].u], number[edges[e].v]};
    free(number);
    return linked;
}

static int64_t draw_edges(npgnn_pair *edges, kind which, int32_t n, int64_t most, npi_rng *rng)
{
    static const double degrees[KINDS] = {
        [RANDOM] = DEGREE, [DEGREE_1] = 1, [DEGREE_15] = 1.5, [DEGREE_2] = 2, [DEGREE_3] = 3};
    if (which == DEGREES)
        return draw_degrees(edges, n, most, rng);
    if (which == TREE)
        return draw_tree(edges, n, rng);
    for (int32_t i = 0; which == MATCHING && i < n / 2; i++)
        edges[i] = (npgnn_pair){2 * i, 2 * i + 1};
    return which == MATCHING ? n / 2 : draw_random(edges, n, most, degrees[which], rng);
}

static npgnn_graph *make_random(kind which, const settings *s, uint64_t seed)
{
    int32_t n = s->nodes;
    int64_t most = (int64_t)n * DEGREE;
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, (uint32_t)which);
    npgnn_pair *edges = need((size_t)most, sizeof *edges);
    float *features = need((size_t)n, COLUMNS * sizeof *features);
    double *times = need((size_t)most, sizeof *times);
    draw_features(features, n, &rng);
    int64_t count = draw_edges(edges, which, n, most, &rng);
    if (which >= DEGREE_1)
        n = drop_unlinked(edges, count, n);
    for (int64_t e = 0; e < count; e++)
        times[e] = npi_rng_uniform(&rng);
    const npgnn_graph_data data = {.size = sizeof data,
                                   .nodes = n,
                                   .edges = edges,
                                   .edge_count = count,
                                   .times = times,
                                   .features = features,
                                   .columns = COLUMNS};
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    if (npgnn_graph_new(&graph, &data, NULL, &err))
        stop(&err);
    free(edges);
    free(features);
    free(times);
    return graph;
}

/* The generated graph; with `permuted`, node i has the features of another node. */
static npgnn_graph *make_generated(int permuted, const settings *s, uint64_t seed)
{
    char spec[96];
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    snprintf(spec, sizeof spec, "nodes=%d,topics=5,degree=%d,words=100,seed=%llu", s->nodes, DEGREE,
             (unsigned long long)seed);
    if (npgnn_graph_synthetic(&graph, spec, NULL, &err))
        stop(&err);
    if (!permuted)
        return graph;

    npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, FEATURES);
    int64_t *order = need((size_t)graph->n, sizeof *order);
    int32_t *rows = need((size_t)graph->n, sizeof *rows);
    npi_features *shuffled = NULL;
    npi_rng_permutation(order, graph->n, &rng);
    for (int32_t i = 0; i < graph->n; i++)
        rows[i] = (int32_t)order[i];
    if (npi_features_select_rows(&shuffled, graph->x, rows, graph->n, &err))
        stop(&err);
    npi_features_free(graph->x);
    graph->x = shuffled;
    free(order);
    free(rows);
    return graph;
}

/* ---- splits ---- */

/* NULL where the graph is too sparse for the protocol. */
static npgnn_split *make_split(const npgnn_graph *graph, npgnn_protocol protocol, uint64_t seed)
{
    /* more test pairs than by default: less error per graph */
    static const double test[PROTOCOLS] = {0.2, 0.2, 0, 0.4, 0.3, 0.2, 0.2, 0, 0.2};
    npgnn_split_options options = {.size = sizeof options};
    npgnn_split *split = NULL;
    npgnn_error err = {0};
    npgnn_split_options_default(&options, protocol, NULL);
    options.seed = seed;
    if (test[protocol] > 0)
        options.test = test[protocol];
    if (protocol != NPGNN_FEW_SHOT && protocol != NPGNN_PAPER_FEW_SHOT)
        options.val = protocol == NPGNN_INDUCTIVE_HIDDEN ? 0.2 : 0.1;
    int code = npgnn_split_new(&split, graph, &options, NULL, &err);
    if (code && code != NPGNN_E_ARGUMENT)
        stop(&err);
    return split;
}

/* What npi_split_assemble wants listed, in edges (m): the training links or, in a split by nodes, the known links of new
 * nodes; and role: of the nodes, or which are untested. */
static int64_t list_known(npgnn_pair *edges, unsigned char **role, const npgnn_split *split)
{
    const npgnn_graph *known = npi_split_known(split);
    int64_t listed = 0;
    npgnn_error err = {0};
    npi_graph_list_edges(edges, known);
    *role = NULL;
    if (!split->role && split->protocol != NPGNN_TRANSDUCTIVE)
        return known->m;
    *role = npi_alloc(&split->env, (size_t)split->graph->n, 1, &err);
    if (!*role)
        stop(&err);
    memcpy(*role, split->role ? split->role : split->standing, (size_t)split->graph->n);
    if (!split->role)
        return known->m;
    for (int64_t e = 0; e < known->m; e++)
        if (split->role[edges[e].u] != NPI_NODE_TRAIN || split->role[edges[e].v] != NPI_NODE_TRAIN)
            edges[listed++] = edges[e];
    return listed;
}

/* Permutes the labels of each held-out set of `split`, and frees it. The graph of the new split, in *graph, has the
 * links known before and the held-out pairs that are links now. */
static npgnn_split *permute_labels(npgnn_graph **graph, npgnn_split *split, uint64_t seed)
{
    const npgnn_graph *known = npi_split_known(split);
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, LABELS);
    size_t count = (size_t)known->m;
    npgnn_pair *edges = need(count + split->positives[0] + split->positives[1], sizeof *edges), *pairs[2];
    npgnn_split *out = NULL;
    npgnn_error err = {0};
    npi_graph_list_edges(edges, known);
    for (int set = 0; set < 2; set++) {
        size_t total = split->count[set];
        pairs[set] = npi_alloc(&split->env, total, sizeof *pairs[set], &err);
        if (!pairs[set])
            stop(&err);
        memcpy(pairs[set], split->pairs[set], total * sizeof *pairs[set]);
        for (size_t i = total; i > 1; i--) { /* Fisher-Yates; the first `positives` are the links */
            size_t j = (size_t)npi_rng_below(&rng, i);
            npgnn_pair pair = pairs[set][i - 1];
            pairs[set][i - 1] = pairs[set][j];
            pairs[set][j] = pair;
        }
        for (size_t i = 0; i < split->positives[set]; i++)
            edges[count++] = pairs[set][i];
    }
    if (npi_graph_with_edges(graph, split->graph, edges, (int64_t)count, &err))
        stop(&err);

    unsigned char *role;
    int64_t listed = list_known(edges, &role, split);
    if (npi_split_assemble(&out, *graph, split->protocol, edges, listed, role, pairs, split->count, split->positives,
                           &split->env, &err))
        stop(&err);
    free(edges);
    npgnn_split_free(split);
    return out;
}

/* tree (n): a number for each component of a forest. */
static void find_trees(int32_t *tree, const npgnn_graph *forest)
{
    int changed = 1;
    for (int32_t i = 0; i < forest->n; i++)
        tree[i] = i;
    while (changed) {
        changed = 0;
        for (int32_t i = 0; i < forest->n; i++)
            for (int64_t p = forest->a.ptr[i]; p < forest->a.ptr[i + 1]; p++)
                if (tree[forest->a.col[p]] < tree[i]) {
                    tree[i] = tree[forest->a.col[p]];
                    changed = 1;
                }
    }
}

/* A random node that an end of a held-out link could be exchanged for. */
static int32_t draw_exchange(const npgnn_split *split, const int32_t *tree, int32_t end, npi_rng *rng)
{
    int32_t found = end;
    uint64_t seen = 0;
    for (int32_t i = 0; i < split->graph->n; i++)
        if (tree[i] == tree[end] && split->standing[i] == split->standing[end] && npi_rng_below(rng, ++seen) == 0)
            found = i;
    return found;
}

/* Replaces the non-links of a split of a tree, see TREE above, and frees it. NULL where no test link has another pair. */
static npgnn_split *match_trees(npgnn_split *split, uint64_t seed)
{
    enum { ATTEMPTS = 50 };
    const npgnn_graph *known = npi_split_known(split);
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, TREE);
    int32_t *tree = need((size_t)known->n, sizeof *tree);
    npgnn_pair *edges = need((size_t)split->graph->m, sizeof *edges), *pairs[2];
    size_t counts[2], kept[2];
    npgnn_split *out = NULL;
    npgnn_error err = {0};
    find_trees(tree, known);
    for (int set = 0; set < 2; set++) {
        size_t links = split->positives[set], at = 0;
        npgnn_pair *others = need(links + 1, sizeof *others);
        pairs[set] = npi_alloc(&split->env, 2 * links, sizeof *pairs[set], &err);
        if (!pairs[set])
            stop(&err);
        for (size_t i = 0; i < links; i++) {
            npgnn_pair link = split->pairs[set][i], other = link;
            for (int k = 0; k < ATTEMPTS && other.u == link.u && other.v == link.v; k++) {
                other.u = draw_exchange(split, tree, link.u, &rng);
                other.v = draw_exchange(split, tree, link.v, &rng);
            }
            if (other.u == link.u && other.v == link.v)
                continue;
            pairs[set][at] = link;
            others[at++] = other;
        }
        memcpy(pairs[set] + at, others, at * sizeof *others);
        free(others);
        counts[set] = 2 * at;
        kept[set] = at;
    }
    unsigned char *role;
    int64_t listed = list_known(edges, &role, split);
    if (npi_split_assemble(&out, split->graph, split->protocol, edges, listed, role, pairs, counts, kept, &split->env,
                           &err))
        stop(&err);
    free(tree);
    free(edges);
    npgnn_split_free(split);
    if (kept[NPGNN_SET_TEST] > 0)
        return out;
    npgnn_split_free(out);
    return NULL;
}

/* ---- metrics ---- */

static int descending(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left < right) - (left > right);
}

/* The mean of the AP over all orders of the labels, given the scores (count): with P of N pairs links, and a group of s
 * tied scores that ends at rank r, E[AP] = Σ s / (P r) · (P / N + (r - 1) P (P - 1) / (N (N - 1))). */
static double chance_of_ap(const float *scores, size_t positives, size_t count)
{
    float *sorted = need(count, sizeof *sorted);
    double n = (double)count, p = (double)positives, sum = 0;
    memcpy(sorted, scores, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, descending);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && sorted[to] == sorted[from])
            to++;
        double r = (double)to;
        sum += (double)(to - from) / (p * r) * (p / n + (r - 1) * p * (p - 1) / (n * (n - 1)));
    }
    free(sorted);
    return sum;
}

typedef struct chance {
    double ap, variance; /* of the AUC of independent pairs without ties */
} chance;

static void note_chance(void *user, const npgnn_eval_run *run, const float *scores, size_t positives, size_t count)
{
    chance *c = user;
    double p = (double)positives, q = (double)(count - positives);
    (void)run;
    c->ap = chance_of_ap(scores, positives, count);
    c->variance = (p + q + 1) / (12 * p * q);
}

/* Whether this metric is at chance on this noise, if nothing leaks. */
static int is_at_chance(kind which, metric m, npgnn_protocol protocol, const char *name)
{
    int new_nodes = protocol == NPGNN_INDUCTIVE || protocol == NPGNN_FEW_SHOT || protocol == NPGNN_PAPER_INDUCTIVE ||
                    protocol == NPGNN_PAPER_FEW_SHOT;
    if (which == RANDOM || (which >= DEGREE_1 && which <= MATCHING))
        return 1;
    if (which == TREE) /* all links between two new nodes are left out: these are trees of one node */
        return m != DEGREE_AUC && protocol != NPGNN_INDUCTIVE_HIDDEN;
    if (which == DEGREES)
        return m == DEGREE_AUC;
    if (which == FEATURES)
        return strcmp(name, "cosine") == 0 || protocol == NPGNN_INDUCTIVE_HIDDEN || (new_nodes && m == DEGREE_AUC);
    return m != DEGREE_AUC;
}

static void add(cell cells[METRICS], const npgnn_eval_run *run, const chance *c)
{
    const double x[METRICS] = {run->auc - 0.5, run->ap - c->ap, run->degree_auc - 0.5};
    for (int m = 0; m < METRICS; m++) {
        if (isnan(x[m]))
            continue; /* no degree-matched pair was found */
        cells[m].sum += x[m];
        cells[m].square += x[m] * x[m];
        cells[m].independent += c->variance;
        cells[m].count++;
    }
}

/* mean / standard error, and the mean. */
static double deviation(double *mean, const cell *c)
{
    double n = c->count;
    *mean = c->count ? c->sum / n : 0;
    double spread = c->count > 1 ? fmax(c->square - n * *mean * *mean, 0) / (n - 1) / n : 0;
    double least = c->count ? c->independent / n / n : 1;
    return *mean / sqrt(fmax(spread, least));
}

/* ---- the program ---- */

static int list_methods(method *out, const settings *s)
{
    int count = 0, methods = 0;
    const char *name, *help;
    npgnn_error err = {0};
    for (int i = 0;; i++) {
        int listed = npgnn_method_info(&name, &help, i), preset = 0;
        methods += listed;
        if (!listed && !(preset = npgnn_preset_info(&name, &help, i - methods)))
            return count;
        if (count == MAX_METHODS || strcmp(name, "npgnn") == 0 || (s->method && strcmp(name, s->method) != 0))
            continue; /* npgnn is the preset default */
        method *m = &out[count++];
        *m = (method){name, preset ? "npgnn" : name, {.size = sizeof m->options}, 0};
        if (npgnn_options_preset(&m->options, preset ? name : "default", &err))
            stop(&err);
        static const char *const slow[] = {"best", "deepwalk", "sage", "vgae", "gae"};
        for (size_t k = 0; k < sizeof slow / sizeof slow[0]; k++)
            m->slow |= strcmp(name, slow[k]) == 0;
        if (m->options.iterations > s->iterations && strcmp(name, "best") != 0)
            m->options.iterations = s->iterations;
    }
}

/* Returns 0 where the protocol refuses the graph. */
static int evaluate_graph(cell (*cells)[METRICS], kind which, npgnn_protocol protocol, const method *methods, int count,
                          int g, const settings *s)
{
    uint64_t seed = s->seed + (uint64_t)g;
    npgnn_graph *graph =
        which == FEATURES || which == LABELS ? make_generated(which == FEATURES, s, seed) : make_random(which, s, seed);
    npgnn_graph *relabelled = NULL;
    npgnn_split *split = make_split(graph, protocol, seed);
    const npgnn_env env = {.size = sizeof env, .threads = s->threads};
    if (split && which == LABELS)
        split = permute_labels(&relabelled, split, seed);
    if (split && which == TREE && protocol != NPGNN_INDUCTIVE_HIDDEN && split->standing)
        split = match_trees(split, seed);
    for (int i = 0; split && i < count; i++) {
        int wanted = 0;
        if (g >= s->slow_graphs && methods[i].slow)
            continue;
        for (int m = 0; m < METRICS; m++)
            wanted |= is_at_chance(which, (metric)m, protocol, methods[i].name);
        if (!wanted)
            continue;
        chance c = {0};
        npgnn_eval_run run = {.size = sizeof run};
        npgnn_error err = {0};
        const npgnn_eval_options options = {.size = sizeof options,
                                            .method = methods[i].run,
                                            .model = &methods[i].options,
                                            .fixed = split,
                                            .first_seed = seed,
                                            .scores = note_chance,
                                            .scores_user = &c};
        if (npgnn_evaluate(&run, relabelled ? relabelled : graph, 1, &options, &env, &err)) {
            if (which >= DEGREE_1 && strcmp(methods[i].name, "sc") == 0)
                continue; /* many eigenvalues are equal, and ARPACK finds too few of them */
            stop(&err);
        }
        add(cells[i], &run, &c);
    }
    int made = split != NULL;
    npgnn_split_free(split);
    npgnn_graph_free(relabelled);
    npgnn_graph_free(graph);
    return made;
}

/* Prints the cells beyond LIMIT and a line with the extreme one. Returns how many are beyond it. */
static int report(cell (*cells)[METRICS], kind which, npgnn_protocol protocol, const method *methods, int count)
{
    int failed = 0, tested = 0;
    double most = 0, most_mean = 0;
    const char *who = "-", *what = "";
    for (int i = 0; i < count; i++)
        for (int m = 0; m < METRICS; m++) {
            double mean, z = deviation(&mean, &cells[i][m]);
            if (cells[i][m].count == 0 || !is_at_chance(which, (metric)m, protocol, methods[i].name))
                continue;
            tested++;
            if (fabs(z) > fabs(most)) {
                most = z;
                most_mean = mean;
                who = methods[i].name;
                what = metric_names[m];
            }
            if (fabs(z) <= LIMIT)
                continue;
            failed++;
            printf("NOT AT CHANCE: %s, %s, %s: %s %+.2f points, %+.1f standard errors, %d graphs\n", kind_names[which],
                   protocol_names[protocol], methods[i].name, metric_names[m], 100 * mean, z, cells[i][m].count);
        }
    if (tested)
        printf("%-10s %-17s %3d cells, extreme: %+.2f points, %+.1f standard errors (%s, %s)\n", kind_names[which],
               protocol_names[protocol], tested, 100 * most_mean, most, who, what);
    fflush(stdout);
    return failed;
}

static settings read_arguments(int argc, char **argv)
{
    settings s = {.graphs = 100, .slow_graphs = 100, .nodes = 300, .iterations = 200, .threads = 1, .seed = 1};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *key = argv[i], *value = argv[i + 1];
        int *number = strcmp(key, "--graphs") == 0        ? &s.graphs
                      : strcmp(key, "--slow-graphs") == 0 ? &s.slow_graphs
                      : strcmp(key, "--nodes") == 0       ? &s.nodes
                      : strcmp(key, "--iterations") == 0  ? &s.iterations
                      : strcmp(key, "--threads") == 0     ? &s.threads
                                                          : NULL;
        const char **text = strcmp(key, "--kind") == 0       ? &s.kind
                            : strcmp(key, "--protocol") == 0 ? &s.protocol
                            : strcmp(key, "--method") == 0   ? &s.method
                                                             : NULL;
        if (number)
            *number = (int)strtol(value, NULL, 10);
        else if (text)
            *text = value;
        else if (strcmp(key, "--seed") == 0)
            s.seed = strtoull(value, NULL, 10);
        else
            stop(&(npgnn_error){.text = "unknown option: see the head of bench/noise.c"});
    }
    if (argc % 2 == 0 || s.graphs < 2 || s.nodes < 100 || s.iterations < 1 || s.threads < 1)
        stop(&(npgnn_error){.text = "every option needs a value; at least 2 graphs of at least 100 nodes"});
    return s;
}

int main(int argc, char **argv)
{
    const settings s = read_arguments(argc, argv);
    static method methods[MAX_METHODS];
    static cell cells[MAX_METHODS][METRICS];
    int count = list_methods(methods, &s), failed = 0, lines = 0;
    for (int which = 0; which < KINDS; which++)
        for (int protocol = 0; protocol < PROTOCOLS; protocol++) {
            int unfair = !npi_protocol_has_population((npgnn_protocol)protocol), refused = 0;
            if ((s.kind && strcmp(s.kind, kind_names[which]) != 0) ||
                (s.protocol ? strcmp(s.protocol, protocol_names[protocol]) != 0 : unfair) ||
                (protocol == NPGNN_TEMPORAL &&
                 (which == FEATURES || which == LABELS))) /* the generated graph has no times */
                continue;
            memset(cells, 0, sizeof cells);
            for (int g = 0; g < s.graphs; g++)
                refused += !evaluate_graph(cells, (kind)which, (npgnn_protocol)protocol, methods, count, g, &s);
            if (refused > 0)
                printf("%-10s %-17s refuses %d of %d graphs\n", kind_names[which], protocol_names[protocol], refused,
                       s.graphs);
            failed += report(cells, (kind)which, (npgnn_protocol)protocol, methods, count);
            lines++;
        }
    if (lines == 0 || count == 0)
        stop(&(npgnn_error){.text = "no such kind, protocol or method"});
    printf("%d methods and presets, %d graphs of %d nodes each: %d not at chance\n", count, s.graphs, s.nodes, failed);
    return failed > 0;
}

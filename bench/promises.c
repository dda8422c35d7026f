/* Do the probabilities come true where people look, at the top?
 *
 *     build/bench/promises [--corpus FILE.npz|FOLDER] [--model universal|best] [--seeds N] [--threads N] [--most-links N]
 *                          [--samples N] [--kind NAME]
 *
 * A tenth of the links of a graph is hidden, except those of nodes that would lose all links. The model sees the rest and is told how many
 * links are hidden (link_rate). The hundred and the thousand best pairs of all promise a number of links, the sum of their
 * probabilities; printed is the ratio of that to the number that are hidden links, and how often it is within a factor of
 * 1.25. The factor allows for chance: with so few links that two standard deviations of a sum of independent draws are
 * more, these count. ECE is the calibration error over the hidden links and random non-links, in percent, with as many
 * links as non-links.
 *
 * With --samples, intervals: all hidden links and random other pairs are put into bins of equal promise; a bin is covered
 * if the number of links in it is between the sums of the lower and of the upper ends; with chance: if it is within 1.96
 * standard deviations of a count of independent links of that. And of the best hundred pairs by the mean of the probability,
 * and by the lower end of the interval, how many are hidden links.
 *
 * Graphs are generated, twelve families of clustered, regular and random graphs, or those of a corpus. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "graph/graph.h"
#include "graph/hold_out.h"
#include "graph/pair.h"

enum { NODES = 1000, TOP = 1000, NON_LINKS = 20000, BINS = 10, LEAST_HIDDEN = 20 };
#define WITHIN 1.25

typedef struct settings {
    const char *corpus, *model, *kind;
    int seeds, threads, samples;
    int64_t most_links;
} settings;

/* Sums over the runs of a family. */
typedef struct totals {
    int runs, within[2], tops[2];
    double by_low, by_mean; /* true among the best hundred, ranked by the lower end of the interval and by the mean */
    double log_ratio[2], ece, auc, covered, with_chance, bins, width;
} totals;

static void stop(const npgnn_error *err)
{
    fprintf(stderr, "promises: %s\n", err->text);
    exit(2);
}

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        stop(&(npgnn_error){.text = "out of memory"});
    return memory;
}

/* ---- generated graphs ---- */

typedef struct draft {
    npgnn_pair *edges;
    int64_t count, capacity;
    npi_rng rng;
} draft;

static void add(draft *d, int u, int v)
{
    if (u == v)
        return;
    if (d->count == d->capacity) {
        d->capacity = 2 * d->capacity + 1024;
        d->edges = realloc(d->edges, (size_t)d->capacity * sizeof *d->edges);
        if (!d->edges)
            stop(&(npgnn_error){.text = "out of memory"});
    }
    d->edges[d->count++] = (npgnn_pair){u, v};
}

static int below(draft *d, int n)
{
    return (int)npi_rng_below(&d->rng, (uint64_t)n);
}

/* Points in the unit square (or cube) that are near each other. */
static void geometric(draft *d, int dimensions, double degree)
{
    double *at = need(3 * NODES, sizeof *at);
    double volume = dimensions == 2 ? 3.14159 : 4.18879;
    double radius = pow(degree / NODES / volume, 1.0 / dimensions);
    for (int i = 0; i < 3 * NODES; i++)
        at[i] = i % 3 < dimensions ? npi_rng_uniform(&d->rng) : 0;
    for (int u = 0; u < NODES; u++)
        for (int v = 0; v < u; v++) {
            double square = 0;
            for (int c = 0; c < 3; c++)
                square += pow(at[3 * u + c] - at[3 * v + c], 2);
            if (square < radius * radius)
                add(d, u, v);
        }
    free(at);
}

static void geometric2(draft *d)
{
    geometric(d, 2, 10);
}

static void geometric3(draft *d)
{
    geometric(d, 3, 16);
}

/* A ring in which each node is linked to its six nearest, a share of the links rewired. */
static void watts_strogatz(draft *d)
{
    for (int u = 0; u < NODES; u++)
        for (int k = 1; k <= 3; k++)
            add(d, u, npi_rng_uniform(&d->rng) < 0.1 ? below(d, NODES) : (u + k) % NODES);
}

/* Cliques of 8 random nodes. */
static void overlapping_cliques(draft *d)
{
    for (int c = 0; c < NODES / 5; c++) {
        int member[8];
        for (int i = 0; i < 8; i++)
            member[i] = below(d, NODES);
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < i; j++)
                add(d, member[i], member[j]);
    }
}

static void blocks(draft *d)
{
    for (int u = 0; u < NODES; u++)
        for (int v = 0; v < u; v++)
            if (npi_rng_uniform(&d->rng) < (u % 20 == v % 20 ? 0.2 : 0.003))
                add(d, u, v);
}

/* A new node links to three ends of random links; with `closing`, to neighbours of the first one for the others. */
static void attachment(draft *d, double closing)
{
    for (int u = 0; u < 4; u++)
        add(d, u, (u + 1) % 4);
    for (int u = 4; u < NODES; u++) {
        int64_t known = d->count;
        int first = -1;
        for (int k = 0; k < 3; k++) {
            npgnn_pair link = d->edges[npi_rng_below(&d->rng, (uint64_t)known)];
            int end = below(d, 2) ? link.u : link.v;
            if (first >= 0 && npi_rng_uniform(&d->rng) < closing) {
                for (int tries = 0; tries < 1000; tries++) {
                    npgnn_pair of = d->edges[npi_rng_below(&d->rng, (uint64_t)known)];
                    if (of.u == first || of.v == first) {
                        end = of.u == first ? of.v : of.u;
                        break;
                    }
                }
            }
            first = first < 0 ? end : first;
            add(d, u, end);
        }
    }
}

static void preferential(draft *d)
{
    attachment(d, 0);
}

static void closed_triangles(draft *d)
{
    attachment(d, 0.8);
}

/* A grid whose squares have diagonals, with some links missing. */
static void grid(draft *d)
{
    enum { SIDE = 32 };
    for (int x = 0; x < SIDE; x++)
        for (int y = 0; y < SIDE; y++) {
            if (x + 1 < SIDE && npi_rng_uniform(&d->rng) < 0.95)
                add(d, x * SIDE + y, (x + 1) * SIDE + y);
            if (y + 1 < SIDE && npi_rng_uniform(&d->rng) < 0.95)
                add(d, x * SIDE + y, x * SIDE + y + 1);
            if (x + 1 < SIDE && y + 1 < SIDE && npi_rng_uniform(&d->rng) < 0.7)
                add(d, x * SIDE + y, (x + 1) * SIDE + y + 1);
        }
}

/* Groups of ten, nearly all of whose pairs are linked. */
static void caves(draft *d)
{
    for (int u = 0; u < NODES; u++) {
        for (int v = u - u % 10; v < u; v++)
            if (npi_rng_uniform(&d->rng) < 0.8)
                add(d, u, v);
        if (npi_rng_uniform(&d->rng) < 0.5)
            add(d, u, below(d, NODES));
    }
}

/* Half of the links as in a geometric graph, half at random. */
static void half_random(draft *d)
{
    geometric(d, 2, 5);
    for (int64_t more = d->count; more > 0; more--)
        add(d, below(d, NODES), below(d, NODES));
}

static void random_links(draft *d)
{
    for (int i = 0; i < 4 * NODES; i++)
        add(d, below(d, NODES), below(d, NODES));
}

/* 700 people and 300 groups, linked where a person is a member: no triangles. */
static void memberships(draft *d)
{
    for (int u = 0; u < 700; u++)
        for (int k = 0; k < 8; k++)
            add(d, u, 700 + (npi_rng_uniform(&d->rng) < 0.8 ? (u % 15) * 20 + below(d, 20) : below(d, 300)));
}

static const struct {
    const char *name;
    void (*draw)(draft *);
} families[] = {{"geometric", geometric2},
                {"geometric-3d", geometric3},
                {"watts-strogatz", watts_strogatz},
                {"cliques", overlapping_cliques},
                {"blocks", blocks},
                {"preferential", preferential},
                {"closed-triangles", closed_triangles},
                {"grid", grid},
                {"caves", caves},
                {"half-random", half_random},
                {"random", random_links},
                {"memberships", memberships}};
enum { FAMILIES = sizeof families / sizeof families[0] };

static npgnn_graph *generate(int family, uint64_t seed)
{
    draft d = {.rng = npi_rng_make(seed, NPI_RNG_TEST, (uint32_t)family)};
    families[family].draw(&d);
    int32_t n = 0, number[NODES + 100] = {0}; /* numbers from 1, for nodes with links */
    for (int64_t i = 0; i < d.count; i++)
        for (int end = 0; end < 2; end++) {
            int32_t *node = end ? &d.edges[i].v : &d.edges[i].u;
            if (number[*node] == 0)
                number[*node] = ++n;
            *node = number[*node] - 1;
        }
    const npgnn_graph_data data = {.size = sizeof data, .nodes = n, .edges = d.edges, .edge_count = d.count};
    npgnn_graph *graph = NULL;
    npgnn_error err = {0};
    if (npgnn_graph_new(&graph, &data, NULL, &err))
        stop(&err);
    free(d.edges);
    return graph;
}

/* ---- one run ---- */

/* hidden (count returned): a tenth of the links; *known: the graph without them. */
static size_t hide(npgnn_pair **hidden, npgnn_graph **known, const npgnn_graph *graph, uint64_t seed)
{
    npgnn_error err = {0};
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, 99);
    npgnn_pair *edges = need((size_t)graph->m, sizeof *edges);
    int32_t *left = need((size_t)graph->n, sizeof *left);
    unsigned char *role = need((size_t)graph->n, 1);
    npi_graph_list_edges(edges, graph);
    npi_pairs_shuffle(edges, graph->m, &rng);
    npi_count_links(left, graph);
    int64_t held = npi_hide_links(edges, graph->m / 10, role, 1, left, graph->n);
    const npgnn_env env = npi_env_resolve(NULL);
    if (npi_pairs_sort(edges + held, (size_t)(graph->m - held), &env, &err) ||
        npi_graph_with_edges(known, graph, edges + held, graph->m - held, &err))
        stop(&err);
    free(left);
    free(role);
    *hidden = edges;
    return (size_t)held;
}

/* Random pairs that are no links of the graph. */
static size_t draw_others(npgnn_pair *out, size_t count, const npgnn_graph *graph, uint64_t seed)
{
    npi_rng rng = npi_rng_make(seed, NPI_RNG_TEST, 98);
    for (size_t i = 0; i < count;) {
        npgnn_pair pair = {(int32_t)npi_rng_below(&rng, (uint64_t)graph->n),
                           (int32_t)npi_rng_below(&rng, (uint64_t)graph->n)};
        if (npi_graph_allows(graph, pair.u, pair.v) && !npgnn_graph_has_edge(graph, pair.u, pair.v))
            out[i++] = pair;
    }
    return count;
}

static int by_probability(const void *a, const void *b)
{
    const npgnn_prediction *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

/* Bins of equal promise, best first; weight: how many pairs each of the others stands for. */
static void measure_intervals(totals *t, npgnn_prediction *p, size_t links, size_t others, double weight)
{
    typedef struct judged {
        npgnn_prediction p;
        double weight;
        int link;
    } judged;
    judged *all = need(links + others, sizeof *all);
    double promised = 0;
    for (size_t i = 0; i < links + others; i++) {
        all[i] = (judged){p[i], i < links ? 1 : weight, i < links};
        promised += all[i].weight * (double)p[i].probability;
    }
    qsort(all, links + others, sizeof *all, by_probability);
    double sum = 0, low = 0, high = 0, true_links = 0;
    for (size_t i = 0; i < links + others; i++) {
        sum += all[i].weight * (double)all[i].p.probability;
        low += all[i].weight * (double)all[i].p.low;
        high += all[i].weight * (double)all[i].p.high;
        true_links += all[i].link;
        if (sum >= promised / BINS || i + 1 == links + others) {
            t->bins++;
            t->covered += low <= true_links && true_links <= high;
            t->with_chance += low - 1.96 * sqrt(low) <= true_links && true_links <= high + 1.96 * sqrt(high);
            t->width += (high - low) / (sum > 0 ? sum : 1);
            sum = low = high = true_links = 0;
        }
    }
    free(all);
}

static int is_hidden(const npgnn_pair *sorted, size_t count, npgnn_pair pair)
{
    return npi_pairs_contain(sorted, count, pair);
}

static void run(totals *t, const settings *s, const npgnn_graph *graph, uint64_t seed, const char *name)
{
    static const int32_t tops[2] = {100, TOP};
    npgnn_error err = {0};
    npgnn_env env = {.size = sizeof env, .threads = s->threads};
    npgnn_pair *hidden;
    npgnn_graph *known;
    size_t links = hide(&hidden, &known, graph, seed);
    double unknown = (double)npi_graph_count_pairs(graph) - (double)known->m;
    if (links < LEAST_HIDDEN || unknown < 2 * (double)links) {
        free(hidden);
        npgnn_graph_free(known);
        return;
    }
    const npgnn_env plain = npi_env_resolve(&env);
    npgnn_model *model = NULL;
    npgnn_options options = {.size = sizeof options};
    int code = strcmp(s->model, "universal") == 0 ? npgnn_model_universal(&model, &env, &err)
                                                  : npgnn_options_preset(&options, s->model, &err);
    options.seed = seed;
    if (!code && !model)
        code = npgnn_fit(&model, known, &options, &env, &err);
    npgnn_predict_options how = {
        .size = sizeof how, .seed = seed, .samples = s->samples, .link_rate = (double)links / unknown};
    npgnn_predictor *predictor = NULL;
    if (!code)
        code = npgnn_predictor_new(&predictor, model, known, &how, &env, &err);
    npgnn_link *best = need(TOP, sizeof *best);
    int32_t found = 0;
    if (!code)
        code = npgnn_predictor_top_links(best, &found, predictor, TOP, NULL, &err);
    if (!code)
        code = npi_pairs_sort(hidden, links, &plain, &err);
    if (code)
        stop(&err);
    double expected = 0, observed = 0, variance = 0;
    char line[200] = "";
    t->runs++;
    for (int i = 0, k = 0; i < found; i++) {
        double p = (double)best[i].prediction.probability;
        expected += p;
        variance += p * (1 - p);
        observed += is_hidden(hidden, links, best[i].pair);
        if (i + 1 != tops[k] && i + 1 != found)
            continue;
        double apart = fabs(expected - observed);
        int within = (expected <= WITHIN * observed && observed <= WITHIN * expected) || apart <= 2 * sqrt(variance);
        t->tops[k]++;
        t->within[k] += within;
        t->log_ratio[k] += log((expected + 1) / (observed + 1));
        snprintf(line + strlen(line), sizeof line - strlen(line), "  top %d: %.1f promised, %.0f true%s", i + 1,
                 expected, observed, within ? "" : " (!)");
        if (++k == 2)
            break;
    }
    for (int i = 0; s->samples > 0 && i < 2; i++) {
        const npgnn_top_options top = {.size = sizeof top, .rank = i ? NPGNN_BY_LOW : NPGNN_BY_PROBABILITY};
        if (npgnn_predictor_top_links(best, &found, predictor, tops[0], &top, &err))
            stop(&err);
        for (int j = 0; j < found; j++)
            *(i ? &t->by_low : &t->by_mean) += is_hidden(hidden, links, best[j].pair);
    }
    npgnn_pair *pairs = need(links + NON_LINKS, sizeof *pairs);
    npgnn_prediction *p = need(links + NON_LINKS, sizeof *p);
    float *probability = need(2 * (links + NON_LINKS), sizeof *probability), *score = probability + links + NON_LINKS;
    memcpy(pairs, hidden, links * sizeof *pairs);
    size_t others = draw_others(pairs + links, NON_LINKS, graph, seed);
    if (npgnn_predictor_run(p, predictor, pairs, links + others, &err))
        stop(&err);
    for (size_t i = 0; i < links + others; i++) {
        probability[i] = p[i].probability;
        score[i] = p[i].score;
    }
    npgnn_calibration c = {0};
    double auc = 0, ap = 0;
    if (npgnn_calibration_measure(&c, probability, probability + links, links, others, how.link_rate, &env, &err) ||
        npgnn_auc_ap(&auc, &ap, score, score + links, links, others, &env, &err))
        stop(&err);
    t->ece += 100 * c.balanced_ece;
    t->auc += 100 * auc;
    if (s->samples > 0)
        measure_intervals(t, p, links, others, (unknown - (double)links) / (double)others);
    printf("%-28s seed %llu%s  ECE %.2f %%  AUC %.2f\n", name, (unsigned long long)seed, line, 100 * c.balanced_ece,
           100 * auc);
    fflush(stdout);
    free(score - (links + NON_LINKS));
    free(p);
    free(pairs);
    free(best);
    npgnn_predictor_free(predictor);
    npgnn_model_free(model);
    npgnn_graph_free(known);
    free(hidden);
}

static void print(const char *name, const totals *t)
{
    double runs = t->runs ? t->runs : 1, bins = t->bins > 0 ? t->bins : 1;
    printf("= %-24s %4d runs", name, t->runs);
    for (int k = 0; k < 2; k++) {
        double tops = t->tops[k] ? t->tops[k] : 1;
        printf("  top %d: ratio %.2f, within %.0f %%", k ? TOP : 100, exp(t->log_ratio[k] / tops),
               100 * t->within[k] / tops);
    }
    printf("  ECE %.2f  AUC %.2f", t->ece / runs, t->auc / runs);
    if (t->bins > 0) {
        printf("  true of the best hundred: %.1f by the mean, %.1f by the lower end", t->by_mean / runs,
               t->by_low / runs);
        printf("  covered %.0f %%, with chance %.0f %% of %.0f bins, width %.2f", 100 * t->covered / bins,
               100 * t->with_chance / bins, bins, t->width / bins);
    }
    putchar('\n');
}

static void merge(totals *all, const totals *t)
{
    all->runs += t->runs;
    for (int k = 0; k < 2; k++) {
        all->within[k] += t->within[k];
        all->tops[k] += t->tops[k];
        all->log_ratio[k] += t->log_ratio[k];
    }
    all->by_low += t->by_low;
    all->by_mean += t->by_mean;
    all->ece += t->ece;
    all->auc += t->auc;
    all->covered += t->covered;
    all->with_chance += t->with_chance;
    all->bins += t->bins;
    all->width += t->width;
}

/* ---- a corpus ---- */

typedef struct corpus {
    const settings *s;
    totals all;
    int index;
} corpus;

/* The graph without the nodes that have no links: how many links these miss is another question. */
static npgnn_graph *without_new_nodes(npgnn_graph *graph)
{
    npgnn_graph *linked = NULL;
    npgnn_error err = {0};
    int32_t *node = need((size_t)graph->n, sizeof *node), count = 0;
    for (int32_t i = 0; i < graph->n; i++)
        if (graph->a.ptr[i + 1] > graph->a.ptr[i])
            node[count++] = i;
    if (npi_graph_induce(&linked, graph, node, count, &err))
        stop(&err);
    free(node);
    npgnn_graph_free(graph);
    return linked;
}

static int see(void *user, const char *name, npgnn_graph *graph)
{
    corpus *c = user;
    graph = without_new_nodes(graph);
    if (graph->m <= c->s->most_links && (!c->s->kind || strstr(name, c->s->kind)))
        for (int seed = 1; seed <= c->s->seeds; seed++)
            run(&c->all, c->s, graph, (uint64_t)seed, name);
    npgnn_graph_free(graph);
    return 0;
}

int main(int argc, char **argv)
{
    settings s = {.model = "universal", .seeds = 3, .most_links = 20000};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *key = argv[i], *value = argv[i + 1];
        if (strcmp(key, "--corpus") == 0)
            s.corpus = value;
        else if (strcmp(key, "--model") == 0)
            s.model = value;
        else if (strcmp(key, "--kind") == 0)
            s.kind = value;
        else if (strcmp(key, "--seeds") == 0)
            s.seeds = atoi(value);
        else if (strcmp(key, "--threads") == 0)
            s.threads = atoi(value);
        else if (strcmp(key, "--samples") == 0)
            s.samples = atoi(value);
        else if (strcmp(key, "--most-links") == 0)
            s.most_links = atoll(value);
        else
            stop(&(npgnn_error){.text = "unknown option; see the top of promises.c"});
    }
    corpus c = {.s = &s};
    npgnn_error err = {0};
    npgnn_env env = {.size = sizeof env};
    if (s.corpus && npgnn_load_each(s.corpus, see, &c, 0, &env, &err))
        stop(&err);
    for (int family = 0; !s.corpus && family < FAMILIES; family++) {
        totals t = {0};
        if (s.kind && strcmp(s.kind, families[family].name) != 0)
            continue;
        for (int seed = 1; seed <= s.seeds; seed++) {
            npgnn_graph *graph = generate(family, (uint64_t)seed);
            run(&t, &s, graph, (uint64_t)seed, families[family].name);
            npgnn_graph_free(graph);
        }
        print(families[family].name, &t);
        merge(&c.all, &t);
    }
    print("all", &c.all);
    return 0;
}

/* What is the latent z of a process across graphs worth, on graphs of families that training never saw?
 *
 *     build/bench/latent CORPUS [--folds K] [--steps N] [--seed N] [--threads N]
 *                               [--least-links N] [--cap N] [--coarse 1]
 *
 * A family is all graphs whose names agree up to the last dot or dash or, without these, up to the last underscore
 * (--coarse 1: up to the first of these or the first digit). The families are divided into K folds. For each fold, a
 * process is learnt from the graphs of all other folds, as `npgnn pretrain` does, and tested on the graphs of the fold
 * with at least --least-links hidden links, at most --cap per family: 15 % of the links are hidden; a third of these,
 * at most 256, and as many non-links are the context C; the others are the targets. The score of a target is that of
 * the process alone, without the stacked fit. Six ways to choose z:
 *
 *     context      the posterior mean given C
 *     none         the prior mean
 *     shuffled     given C, its labels permuted at random
 *     unlabelled   given as many uniform random pairs that are not links, without labels
 *     fixed        the mean of the posterior means of the tasks that training saw
 *     no labels    given C, all labels unknown
 *
 * AUC of each; differences paired by graph and by family (mean over its graphs), with Wilcoxon's test. Then, on the
 * graphs with 640 hidden links, for contexts of 1, 4, 16, 64 and 256 links: AUC, the standard deviation of z, the width
 * of the 95 % interval of the log-odds over draws of z, and its coverage. Covered is a target whose score, with z given
 * 256 *other* links of the same graph, lies inside the interval: the interval is about what is not known of z, not
 * about whether the pair is linked. `joint` allows for the variance of that second score, too; `factor` is by how much
 * the standard deviations would have to be multiplied for that coverage to be 95 %. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "linalg/blas.h"
#include "train/pretrain.h"

enum {
    MAX_FOLDS = 10,
    MAX_NAME = 64,
    MAX_LINKS = 640, /* hidden links of a task (examples/tasks.c) */
    CONTEXT = 256,   /* links of the largest context */
    DRAWS = 100,     /* of z, for intervals */
    SIZES = 5
};
static const int sizes[SIZES] = {1, 4, 16, 64, 256};

typedef enum { WITH, NONE, SHUFFLED, UNLABELLED, FIXED, NO_LABELS, WAYS } way;
static const char *const way_names[WAYS] = {"context", "none", "shuffled", "unlabelled", "fixed", "no labels"};

/* Kinds of tasks, by their place among the tasks of a graph (npi_tasks_add). */
enum { WHOLE, OTHER_FEATURES, NEW_NODES, KINDS };
static const char *const kind_names[KINDS] = {"whole graphs", "shuffled or no features", "new nodes"};

typedef struct unit {
    int family, fold, kind, featured;
    int task; /* index in tasks */
    double auc[WAYS], degree_auc[WAYS];
} unit;

typedef struct experiment {
    npgnn_env env;
    npi_tasks tasks;
    char (*family)[MAX_NAME]; /* names */
    int families;
    int *featured; /* (families) */
    int *tested;   /* (families) graphs that are tested */
    int *fold;     /* (families) */
    unit *units;
    int unit_count, unit_capacity;
    int least_links, cap, coarse;
    uint64_t seed;
    npgnn_error err;
    /* intervals: sums over graphs, by size */
    double sigma[SIZES], width[SIZES], covered[SIZES], joint[SIZES], auc[SIZES], graphs;
    double *ratio[SIZES]; /* (ratios) of every target: distance of the two scores in joint standard deviations */
    size_t ratios, ratio_capacity;
} experiment;

/* ---- the corpus ---- */

static void *must(void *block)
{
    if (block)
        return block;
    fprintf(stderr, "\nlatent: out of memory\n");
    exit(1);
}

static int family_of(experiment *x, const char *path)
{
    char family[MAX_NAME] = "";
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *dot = strrchr(name, '.'); /* without an ending such as .npz */
    size_t length = dot && dot > name && isalpha((unsigned char)dot[1]) ? (size_t)(dot - name) : strlen(name);
    snprintf(family, sizeof family, "%.*s", (int)length, name);
    char *end = family + strlen(family);
    for (const char *marks[] = {".-", "_", NULL}, **m = marks; *m && !*end; m++)
        for (char *at = family + strlen(family) - 1; at > family && !*end; at--)
            if (strchr(*m, *at))
                end = at;
    family[x->coarse ? strcspn(family, "0123456789.-_") : (size_t)(end - family)] = '\0';
    for (int f = 0; f < x->families; f++)
        if (strcmp(x->family[f], family) == 0)
            return f;
    x->family = must(realloc(x->family, ((size_t)x->families + 1) * sizeof *x->family));
    x->featured = must(realloc(x->featured, ((size_t)x->families + 1) * sizeof *x->featured));
    x->tested = must(realloc(x->tested, ((size_t)x->families + 1) * sizeof *x->tested));
    memcpy(x->family[x->families], family, sizeof family);
    x->featured[x->families] = x->tested[x->families] = 0;
    return x->families++;
}

/* Tasks 0 to 8 of a graph with features are: whole, half, fifth, shuffled, without, without and thinned, shuffled and
 * thinned, new nodes, new nodes. Those of a graph without: whole and half. */
static int kind_of(int index, int featured)
{
    if (index == 0)
        return WHOLE;
    if (!featured || index < 3 || index > 8)
        return -1;
    return index < 7 ? OTHER_FEATURES : NEW_NODES;
}

static int add_graph(void *user, const char *name, npgnn_graph *graph)
{
    experiment *x = user;
    int family = family_of(x, name);
    size_t first = x->tasks.count;
    x->tasks.groups = x->families;
    int code = npi_tasks_add(&x->tasks, graph, family, x->seed + (uint64_t)first, &x->err);
    int featured = graph->x->f > 0 && x->tasks.count > first && x->tasks.items[first].has_features;
    x->featured[family] |= featured;
    int wanted = x->tasks.count > first && x->tasks.items[first].links >= x->least_links && x->tested[family] < x->cap;
    x->tested[family] += wanted;
    for (size_t t = first; !code && wanted && t < x->tasks.count; t++) {
        int kind = kind_of((int)(t - first), featured);
        if (kind < 0 || x->tasks.items[t].links < x->least_links)
            continue;
        if (x->unit_count == x->unit_capacity) {
            x->unit_capacity = x->unit_capacity ? 2 * x->unit_capacity : 256;
            x->units = must(realloc(x->units, (size_t)x->unit_capacity * sizeof *x->units));
        }
        x->units[x->unit_count++] = (unit){.family = family, .kind = kind, .featured = featured, .task = (int)t};
    }
    npgnn_graph_free(graph);
    fprintf(stderr, "\r%zu tasks of %d families ", x->tasks.count, x->families);
    return code;
}

/* Families with features and families without are dealt out in turn, in a random order. */
static void deal(experiment *x, int folds)
{
    int64_t *order = must(malloc((size_t)x->families * sizeof *order));
    npi_rng rng = npi_rng_make(x->seed, NPI_RNG_TEST, 0);
    int next[2] = {0, 0};
    x->fold = must(malloc((size_t)x->families * sizeof *x->fold));
    npi_rng_permutation(order, x->families, &rng);
    for (int i = 0; i < x->families; i++)
        x->fold[order[i]] = next[x->featured[order[i]]]++ % folds;
    for (int i = 0; i < x->unit_count; i++)
        x->units[i].fold = x->fold[x->units[i].family];
    free(order);
}

/* ---- one graph ---- */

typedef struct scorer {
    const npi_process *process;
    npi_process_encoder encoder;
    npi_head head;
    real *mean, *precision; /* (d) */
    real *z;                /* (d) */
} scorer;

/* z from pairs of a task. */
static void infer(scorer *s, const float *evidence, const float *label, int count)
{
    const npi_process_context context = {evidence, label, count};
    npi_process_encode(s->mean, s->precision, &s->encoder, &s->process->params, &context);
}

static void score(float *out, scorer *s, const real *z, const float *evidence, int count)
{
    npi_head_specialize(&s->head, &s->process->params, z);
    for (int i = 0; i < count; i++)
        out[i] = npi_head_score(&s->head, evidence + i * NPI_COLUMNS);
}

/* How a task is divided: hidden links and uniform non-links [0, context) are the context; links from `context` on, and
 * non-links from 2 `context` on (those before may be the unlabelled pairs), are the targets. */
static int context_of(const npi_task_data *task)
{
    return task->links >= MAX_LINKS ? CONTEXT : task->links / 3;
}

/* Evidence of the context: `count` links and as many non-links, from `first` on. */
static void gather(float *evidence, float *label, const npi_task_data *task, int first, int count)
{
    size_t row = NPI_COLUMNS * sizeof(float);
    memcpy(evidence, task->evidence + first * NPI_COLUMNS, (size_t)count * row);
    memcpy(evidence + count * NPI_COLUMNS, task->evidence + (task->links + first) * NPI_COLUMNS, (size_t)count * row);
    for (int i = 0; i < 2 * count; i++)
        label[i] = i < count ? 1 : -1;
}

static void measure(unit *u, experiment *x, scorer *s, const npi_task_data *task, const real *fixed)
{
    int k = context_of(task), links = task->links - k, others = task->links - 2 * k;
    float *evidence = must(malloc(2 * CONTEXT * NPI_COLUMNS * sizeof *evidence)), label[2 * CONTEXT];
    float *value = must(malloc((size_t)(links + others + task->matched + 1) * sizeof *value));
    npi_rng rng = npi_rng_make(x->seed, NPI_RNG_TEST, (uint32_t)u->task + 1);
    for (int w = 0; w < WAYS; w++) {
        gather(evidence, label, task, 0, k);
        if (w == UNLABELLED)
            memcpy(evidence, task->evidence + task->links * NPI_COLUMNS, 2 * (size_t)k * NPI_COLUMNS * sizeof(float));
        for (int i = 2 * k - 1; w == SHUFFLED && i > 0; i--) {
            int j = (int)npi_rng_below(&rng, (uint64_t)i + 1);
            float other = label[i];
            label[i] = label[j];
            label[j] = other;
        }
        for (int i = 0; (w == UNLABELLED || w == NO_LABELS) && i < 2 * k; i++)
            label[i] = 0;
        infer(s, evidence, label, w == NONE ? 0 : 2 * k);
        const real *z = w == FIXED ? fixed : s->mean;
        double unused;
        score(value, s, z, task->evidence + k * NPI_COLUMNS, links);
        score(value + links, s, z, task->evidence + (task->links + 2 * k) * NPI_COLUMNS, others);
        score(value + links + others, s, z, task->evidence + 2 * task->links * NPI_COLUMNS, task->matched);
        npgnn_auc_ap(&u->auc[w], &unused, value, value + links, (size_t)links, (size_t)others, NULL, NULL);
        u->degree_auc[w] = (double)NAN;
        if (task->matched > 0)
            npgnn_auc_ap(&u->degree_auc[w], &unused, value, value + links + others, (size_t)links,
                         (size_t)task->matched, NULL, NULL);
    }
    free(evidence);
    free(value);
}

/* The interval of each target for contexts of each size, against the score that 256 other links give. */
static void measure_intervals(experiment *x, scorer *s, const npi_task_data *task)
{
    enum { FIRST = 2 * CONTEXT };
    int d = s->process->params.size.d, links = task->links - FIRST, count = 2 * links;
    float *evidence = must(malloc(2 * CONTEXT * NPI_COLUMNS * sizeof *evidence)), label[2 * CONTEXT];
    float *target = must(malloc((size_t)count * NPI_COLUMNS * sizeof *target)),
          *value = must(malloc((size_t)count * sizeof *value));
    float *reference = must(malloc((size_t)count * sizeof *reference));
    double *sum = must(malloc((size_t)count * sizeof *sum)), *square = must(malloc((size_t)count * sizeof *square));
    double *own = must(malloc((size_t)count * sizeof *own)); /* variance of the reference */
    while (x->ratios + (size_t)count > x->ratio_capacity) {
        x->ratio_capacity = x->ratio_capacity ? 2 * x->ratio_capacity : 4096;
        for (int size = 0; size < SIZES; size++)
            x->ratio[size] = must(realloc(x->ratio[size], x->ratio_capacity * sizeof *x->ratio[size]));
    }
    memcpy(target, task->evidence + FIRST * NPI_COLUMNS, (size_t)links * NPI_COLUMNS * sizeof *target);
    memcpy(target + links * NPI_COLUMNS, task->evidence + (task->links + FIRST) * NPI_COLUMNS,
           (size_t)links * NPI_COLUMNS * sizeof *target);
    for (int size = -1; size < SIZES; size++) { /* -1: the reference, from the other 256 links */
        gather(evidence, label, task, size < 0 ? CONTEXT : 0, size < 0 ? CONTEXT : sizes[size]);
        infer(s, evidence, label, 2 * (size < 0 ? CONTEXT : sizes[size]));
        score(size < 0 ? reference : value, s, s->mean, target, count);
        double auc = 0, unused;
        if (size >= 0)
            npgnn_auc_ap(&auc, &unused, value, value + links, (size_t)links, (size_t)links, NULL, NULL);
        memset(sum, 0, (size_t)count * sizeof *sum);
        memset(square, 0, (size_t)count * sizeof *square);
        double sigma = 0;
        for (int c = 0; c < d; c++)
            sigma += 1 / sqrt((double)s->precision[c]) / d;
        for (int draw = 0; draw < DRAWS; draw++) {
            npi_rng rng = npi_rng_make(x->seed, NPI_RNG_PREDICT, (uint32_t)draw);
            for (int c = 0; c < d; c++)
                s->z[c] =
                    (real)((double)s->mean[c] + npi_rng_normal_at(&rng, (uint64_t)c) / sqrt((double)s->precision[c]));
            score(value, s, s->z, target, count);
            for (int i = 0; i < count; i++) {
                sum[i] += (double)value[i] / DRAWS;
                square[i] += (double)value[i] * (double)value[i] / DRAWS;
            }
        }
        for (int i = 0; i < count; i++) {
            double variance = fmax(square[i] - sum[i] * sum[i], 0), apart = fabs(sum[i] - (double)reference[i]);
            if (size < 0) {
                own[i] = variance;
                continue;
            }
            x->width[size] += 2 * 1.96 * sqrt(variance) / count;
            x->covered[size] += (apart <= 1.96 * sqrt(variance)) / (double)count;
            x->ratio[size][x->ratios + (size_t)i] = apart / sqrt(variance + own[i] + 1e-12);
            x->joint[size] += (apart <= 1.96 * sqrt(variance + own[i])) / (double)count;
        }
        if (size >= 0) {
            x->sigma[size] += sigma;
            x->auc[size] += auc;
        }
    }
    x->ratios += (size_t)count;
    x->graphs++;
    free(evidence);
    free(target);
    free(value);
    free(reference);
    free(sum);
    free(square);
    free(own);
}

/* ---- one fold ---- */

static int show(void *user, const npgnn_progress *p)
{
    (void)user;
    if (p->iteration % 50 == 0)
        fprintf(stderr, "\rstep %d of %d, loss %.4f ", p->iteration, p->iterations, p->loss);
    return 0;
}

/* Copies of the tasks of other folds, whose evidence training standardises. */
static int training_tasks(npi_tasks *out, const experiment *x, int fold)
{
    *out = (npi_tasks){.env = x->env, .groups = x->families};
    out->items = npi_alloc(&x->env, x->tasks.count, sizeof *out->items, NULL);
    for (size_t t = 0; out->items && t < x->tasks.count; t++) {
        npi_task_data task = x->tasks.items[t];
        size_t bytes = (2 * (size_t)task.links + (size_t)task.matched) * NPI_COLUMNS * sizeof(float);
        if (x->fold[task.group] == fold)
            continue;
        const float *evidence = task.evidence;
        task.evidence = npi_alloc(&x->env, bytes, 1, NULL);
        if (!task.evidence)
            return NPGNN_E_MEMORY;
        memcpy(task.evidence, evidence, bytes);
        out->items[out->count++] = task;
    }
    return out->items ? 0 : NPGNN_E_MEMORY;
}

/* A copy of a task of the fold, standardised. */
static npi_task_data standardized(const npi_task_data *task, const npi_process *process)
{
    size_t rows = npi_task_pairs(task);
    npi_task_data copy = *task;
    copy.evidence = must(malloc(rows * NPI_COLUMNS * sizeof(float)));
    memcpy(copy.evidence, task->evidence, rows * NPI_COLUMNS * sizeof(float));
    npi_process_standardize(copy.evidence, process, task->has_features, rows);
    return copy;
}

static int run_fold(experiment *x, int fold, int steps)
{
    npi_pretrain_options how = npi_pretrain_defaults();
    npi_tasks training = {0};
    npi_process process = {0};
    scorer s = {.process = &process};
    npgnn_env env = x->env;
    if (steps > 0)
        how.steps = steps;
    how.seed = x->seed;
    env.progress = show;
    int code = training_tasks(&training, x, fold);
    if (!code)
        code = npi_pretrain(&process, &training, &how, NULL, &env, &x->err);
    npi_process_sizes size = process.params.size;
    s.mean = must(calloc((size_t)size.d, 4 * sizeof *s.mean));
    s.precision = s.mean + size.d;
    s.z = s.precision + size.d;
    real *fixed = s.z + size.d;
    if (!code)
        code = npi_process_encoder_new(&s.encoder, size, 2 * CONTEXT, &x->env, &x->err);
    if (!code)
        code = npi_head_new(&s.head, size.e, size.h, &x->env, &x->err);
    npi_blas_begin(1);
    double seen = 0;
    for (size_t t = 0; !code && t < training.count; t++) { /* they are standardised already */
        float *evidence = must(malloc(2 * CONTEXT * NPI_COLUMNS * sizeof *evidence)), label[2 * CONTEXT];
        int k = context_of(&training.items[t]);
        gather(evidence, label, &training.items[t], 0, k);
        infer(&s, evidence, label, 2 * k);
        seen++;
        for (int c = 0; c < size.d; c++)
            fixed[c] += (real)(((double)s.mean[c] - (double)fixed[c]) / seen);
        free(evidence);
    }
    for (int i = 0; !code && i < x->unit_count; i++) {
        if (x->units[i].fold != fold)
            continue;
        npi_task_data task = standardized(&x->tasks.items[x->units[i].task], &process);
        measure(&x->units[i], x, &s, &task, fixed);
        if (x->units[i].kind == WHOLE && task.links >= MAX_LINKS)
            measure_intervals(x, &s, &task);
        free(task.evidence);
    }
    npi_blas_end(1);
    fprintf(stderr, "\rfold %d: learnt from %zu tasks\n", fold + 1, training.count);
    npi_process_encoder_free(&x->env, &s.encoder);
    npi_head_free(&x->env, &s.head);
    free(s.mean);
    npi_process_free(&x->env, &process);
    npi_tasks_free(&training);
    return code;
}

/* ---- the report ---- */

typedef int filter_fn(const unit *u);

static int whole(const unit *u)
{
    return u->kind == WHOLE;
}
static int whole_plain(const unit *u)
{
    return u->kind == WHOLE && !u->featured;
}
static int whole_featured(const unit *u)
{
    return u->kind == WHOLE && u->featured;
}
static int other_features(const unit *u)
{
    return u->kind == OTHER_FEATURES;
}
static int new_nodes(const unit *u)
{
    return u->kind == NEW_NODES;
}

/* One line: the mean over units of the difference between two ways, or over families (means over their units). */
static void compare(const experiment *x, filter_fn *in, int one, int other, int by_family, int degree)
{
    double *difference = must(calloc((size_t)x->unit_count + (size_t)x->families, sizeof *difference));
    double *count = must(calloc((size_t)x->families, sizeof *count));
    double *zeros = must(calloc((size_t)x->unit_count + (size_t)x->families, sizeof *zeros));
    npgnn_paired result = {.size = sizeof result, .p = (double)NAN};
    int n = 0;
    for (int i = 0; i < x->unit_count; i++) {
        const unit *u = &x->units[i];
        double apart = degree ? u->degree_auc[one] - u->degree_auc[other] : u->auc[one] - u->auc[other];
        if (!in(u) || isnan(apart))
            continue;
        if (by_family) {
            difference[u->family] += apart;
            count[u->family]++;
        } else {
            difference[n++] = apart;
        }
    }
    for (int f = 0; by_family && f < x->families; f++)
        if (count[f] > 0)
            difference[n++] = difference[f] / count[f];
    npgnn_error err = {0};
    if (n > 0 && npgnn_paired_compare(&result, difference, zeros, n, 1, NULL, &err) != 0)
        must(NULL); /* out of memory: differences that are not finite were left out */
    printf("  %-10s - %-10s %s%-8s %4d  %+6.2f  %4d %4d  %.2g\n", way_names[one], way_names[other],
           degree ? "deg. " : "     ", by_family ? "families" : "graphs", n, 100 * result.mean, result.better,
           result.worse, result.p);
    free(difference);
    free(zeros);
    free(count);
}

static void report(const experiment *x, const char *title, filter_fn *in)
{
    double auc[WAYS] = {0}, degree[WAYS] = {0}, n = 0, matched = 0;
    for (int i = 0; i < x->unit_count; i++) {
        const unit *u = &x->units[i];
        n += in(u);
        matched += in(u) && !isnan(u->degree_auc[0]);
        for (int w = 0; in(u) && w < WAYS; w++) {
            auc[w] += 100 * u->auc[w];
            degree[w] += isnan(u->degree_auc[w]) ? 0 : 100 * u->degree_auc[w];
        }
    }
    printf("\n%s: %.0f tasks\n", title, n);
    if (n == 0)
        return;
    for (int w = 0; w < WAYS; w++)
        printf("  %-10s AUC %6.2f  degree AUC %6.2f\n", way_names[w], auc[w] / n, degree[w] / matched);
    printf("  %-23s %-13s %4s  %6s  %4s %4s  %s\n", "difference", "over", "n", "AUC", "up", "down", "p");
    static const int others[] = {NONE, FIXED, SHUFFLED, UNLABELLED, NO_LABELS};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        for (int by_family = 0; by_family < 2; by_family++)
            compare(x, in, WITH, others[i], by_family, 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        compare(x, in, WITH, others[i], 0, 1);
    compare(x, in, UNLABELLED, NONE, 0, 0);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What the standard deviations of contexts of one size must be multiplied by for a coverage of 95 %. */
static double factor_of(experiment *x, int size)
{
    qsort(x->ratio[size], x->ratios, sizeof *x->ratio[size], ascending);
    return x->ratio[size][(size_t)(0.95 * (double)x->ratios)] / 1.96;
}

int main(int argc, char **argv)
{
    int folds = 2, steps = 0, threads = 0;
    experiment x = {.seed = 1, .least_links = 30, .cap = 15};
    for (int i = 2; i + 1 < argc; i += 2) {
        long value = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--folds") == 0)
            folds = (int)value;
        else if (strcmp(argv[i], "--steps") == 0)
            steps = (int)value;
        else if (strcmp(argv[i], "--seed") == 0)
            x.seed = (uint64_t)value;
        else if (strcmp(argv[i], "--threads") == 0)
            threads = (int)value;
        else if (strcmp(argv[i], "--least-links") == 0)
            x.least_links = (int)value;
        else if (strcmp(argv[i], "--cap") == 0)
            x.cap = (int)value;
        else if (strcmp(argv[i], "--coarse") == 0)
            x.coarse = (int)value;
        else
            argc = 0;
    }
    if (argc < 2 || argc % 2 || folds < 2 || folds > MAX_FOLDS || x.least_links < 6) {
        fprintf(stderr, "usage: latent CORPUS [--folds 2..10] [--steps N] [--seed N] [--threads N] [--least-links N] "
                        "[--cap N] [--coarse 1]\n");
        return 2;
    }
    x.env = npi_env_resolve(&(npgnn_env){.size = sizeof(npgnn_env), .threads = threads});
    x.tasks.env = x.env;
    int code = npgnn_load_each(argv[1], add_graph, &x, 0, &x.env, &x.err);
    if (!code) {
        deal(&x, folds);
        for (int fold = 0; !code && fold < folds; fold++)
            code = run_fold(&x, fold, steps);
    }
    if (code) {
        fprintf(stderr, "\nlatent: %s\n", x.err.text);
        return 1;
    }
    printf("%d tasks with at least %d hidden links, %d families in %d folds, seed %" PRIu64 "; percent\n", x.unit_count,
           x.least_links, x.families, folds, x.seed);
    report(&x, "whole graphs", whole);
    report(&x, "  without features", whole_plain);
    report(&x, "  with features", whole_featured);
    report(&x, kind_names[OTHER_FEATURES], other_features);
    report(&x, kind_names[NEW_NODES], new_nodes);
    printf(
        "\nthe interval, %.0f graphs with %d hidden links: AUC, mean sigma of z, width in log-odds, percent covered\n",
        x.graphs, MAX_LINKS);
    printf("  %5s  %6s  %6s  %6s  %8s  %8s  %6s\n", "links", "AUC", "sigma", "width", "covered", "joint", "factor");
    for (int i = 0; x.graphs > 0 && i < SIZES; i++)
        printf("  %5d  %6.2f  %6.3f  %6.2f  %8.1f  %8.1f  %6.1f\n", sizes[i], 100 * x.auc[i] / x.graphs,
               x.sigma[i] / x.graphs, x.width[i] / x.graphs, 100 * x.covered[i] / x.graphs, 100 * x.joint[i] / x.graphs,
               factor_of(&x, i));
    npi_tasks_free(&x.tasks);
    free(x.family);
    free(x.featured);
    free(x.tested);
    for (int i = 0; i < SIZES; i++)
        free(x.ratio[i]);
    free(x.fold);
    free(x.units);
    return 0;
}

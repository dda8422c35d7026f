/* What a job will take, without doing it: a short one of the same kind is run and measured.
 *
 * The short job differs from the whole one only in the number of its iterations, searched nodes, pairs or seeds. So it
 * allocates what the whole job would, which a counting allocator sees. A training or a search is a series of steps;
 * their progress tells how long one takes:
 *
 *     seconds = seeds (seconds of the short job + Σ over its series of (steps left) plain + (validations left) check)
 *
 * where plain is the time of a step without validation, and check what a validation adds to it. */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "graph/graph.h"
#include "jobs/fit.h"
#include "jobs/methods.h"
#include "model/options.h"
#include "predict/predictor.h"

/* Of a short training: the first iteration warms up, every third is validated, the others are what an
 * iteration takes. */
enum { SHORT = 6, VALIDATE_EVERY = 3 };

enum { BATCH = 1 << 18, MOST_RESULTS = 1 << 20 }; /* pairs that are predicted at once, results of a search */

/* Iterations of one training, or nodes of one search. */
typedef struct series {
    int64_t done, all;    /* steps in the short job, and in the whole one */
    double latest;        /* when `done` were */
    int64_t plain;        /* steps without validation after the first report, */
    double plain_seconds; /* and their time */
    int checks;           /* steps with validation, */
    double check_seconds; /* and their time */
} series;

/* A short job while it runs. */
typedef struct watch {
    npgnn_env env;      /* the caller's, resolved */
    npgnn_env watched;  /* the short job's: counts memory and steps, and passes on what the caller wants to see */
    npgnn_error why;    /* of the short job */
    int64_t wanted;     /* steps of each series in the whole job; 0: as many as it says, and it is stopped early */
    int validate_every; /* in the whole job */
    size_t bytes, peak;
    double start;
    int stopped;       /* by this file, not by the caller */
    series now;        /* the series that is under way */
    double left_out;   /* seconds that the whole job takes besides the short one */
    double stepping;   /* seconds of all steps of the whole job without validation, */
    int64_t all_steps; /* and how many they are */
} watch;

/* ---- memory ---- */

/* In front of every block: how large it is. */
typedef union head {
    size_t size;
    max_align_t alignment;
} head;

static void *count_resize(void *user, void *block, size_t size)
{
    watch *w = user;
    const npgnn_allocator *given = &w->env.allocator;
    head *old = block ? (head *)block - 1 : NULL;
    size_t before = old ? old->size : 0;
    head *fresh = given->resize(given->user, old, size ? size + sizeof *fresh : 0);
    if (size > 0 && !fresh)
        return NULL;
    w->bytes = w->bytes - before + size;
    w->peak = w->bytes > w->peak ? w->bytes : w->peak;
    if (size == 0)
        return NULL;
    fresh->size = size;
    return fresh + 1;
}

/* ---- time ---- */

/* Ends a series: adds what the whole one takes besides the steps that were run. */
static void series_end(watch *w)
{
    const series *s = &w->now;
    double plain = s->plain > 0 ? s->plain_seconds / (double)s->plain : 0, check = 0, checks_left = 0;
    if (s->plain == 0 && s->all > s->done) /* the only report also counts the preparations */
        plain = s->done > 0 ? (s->latest - w->start) / (double)s->done : 0;
    if (s->checks > 0) { /* the last iteration is validated, too */
        int64_t all = s->all / w->validate_every + (s->all % w->validate_every != 0);
        check = fmax(s->check_seconds / s->checks - plain, 0);
        checks_left = fmax((double)(all - s->checks), 0);
    }
    if (s->all > s->done)
        w->left_out += (double)(s->all - s->done) * plain + checks_left * check;
    w->stepping += (double)s->all * plain;
    w->all_steps += s->all;
    w->now = (series){0};
}

/* Takes the time since the report before. The time that the caller's own callback takes does not count. */
static int on_progress(void *user, const npgnn_progress *p)
{
    watch *w = user;
    series *s = &w->now;
    double now = npi_clock_seconds();
    if (p->iteration <= s->done) /* it begins to count again: another training */
        series_end(w);
    if (s->done > 0 && p->validated) {
        s->checks++;
        s->check_seconds += now - s->latest;
    } else if (s->done > 0) {
        s->plain += p->iteration - s->done;
        s->plain_seconds += now - s->latest;
    }
    s->done = p->iteration;
    s->all = w->wanted ? w->wanted : p->iterations;
    s->latest = npi_clock_seconds();
    if (w->env.progress && w->env.progress(w->env.user, p))
        return 1;
    w->stopped = w->wanted == 0 && p->iteration >= SHORT && p->iteration < p->iterations;
    return w->stopped;
}

static void pass_log(void *user, const char *message)
{
    const watch *w = user;
    w->env.log(w->env.user, message);
}

/* ---- a measurement: begin, the short job with w->watched and w->why, end ---- */

/* wanted: steps of a series in the whole job; 0 where only the job knows. */
static void watch_begin(watch *w, int64_t wanted, int validate_every, const npgnn_env *resolved)
{
    *w = (watch){.env = *resolved, .wanted = wanted, .validate_every = validate_every};
    w->watched = (npgnn_env){.size = sizeof w->watched,
                             .threads = resolved->threads,
                             .progress = on_progress,
                             .log = resolved->log ? pass_log : NULL,
                             .user = w,
                             .stop = resolved->stop,
                             .allocator = {count_resize, w}};
    w->start = npi_clock_seconds();
}

/* code: what the short job returned; times: how often the whole job does what was measured. */
static int watch_end(npgnn_cost *out, watch *w, int code, int times, npgnn_error *err)
{
    double seconds = npi_clock_seconds() - w->start;
    if (code && !(code == NPGNN_E_CANCELLED && w->stopped)) {
        if (err)
            *err = w->why;
        return code;
    }
    series_end(w);
    const npgnn_cost cost = {.size = sizeof cost,
                             .bytes = (int64_t)w->peak,
                             .seconds = times * (seconds + w->left_out),
                             .steps = times * w->all_steps,
                             .step_seconds = w->all_steps > 0 ? w->stepping / (double)w->all_steps : 0};
    return npi_sized_write(out, &cost, sizeof cost, "npgnn_cost", err);
}

static void shorten(npgnn_options *options)
{
    options->iterations = options->iterations < SHORT ? options->iterations : SHORT;
    options->validate_every = VALIDATE_EVERY;
}

/* ---- training, evaluation, transfer: few iterations, one seed ---- */

int npgnn_estimate_fit(npgnn_cost *out, const npgnn_graph *graph, const npgnn_split *split,
                       const npgnn_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_options training = {0};
    if (npi_env_check(env, err) || npi_options_read(&training, options, err) || npi_sized_check(out, "npgnn_cost", err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_model *model = NULL;
    watch w;
    watch_begin(&w, training.iterations, training.validate_every, &resolved);
    shorten(&training);
    int code = npi_fit(&model, NULL, graph, split, &training, &w.watched, &w.why);
    npgnn_model_free(model);
    return watch_end(out, &w, code, 1, err);
}

int npgnn_estimate_evaluate(npgnn_cost *out, const npgnn_graph *graph, int seeds, const npgnn_eval_options *options,
                            const npgnn_env *env, npgnn_error *err)
{
    npgnn_eval_options evaluation = {0};
    npgnn_options training = {0};
    if (npi_env_check(env, err) || npi_sized_read(&evaluation, sizeof evaluation, options, "npgnn_eval_options", err) ||
        npi_options_read(&training, evaluation.model, err) || npi_sized_check(out, "npgnn_cost", err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_eval_run run = {.size = sizeof run};
    watch w;
    watch_begin(&w, npi_method_is_model(evaluation.method) ? training.iterations : 0, training.validate_every,
                &resolved);
    shorten(&training);
    evaluation.model = &training;
    evaluation.scores = NULL;
    int code = npgnn_evaluate(&run, graph, 1, &evaluation, &w.watched, &w.why);
    return watch_end(out, &w, code, seeds, err);
}

int npgnn_estimate_transfer(npgnn_cost *out, const npgnn_graph *graph, const npgnn_model *model, int seeds,
                            const npgnn_transfer_options *options, const npgnn_env *env, npgnn_error *err)
{
    npgnn_transfer_options transfer = {0};
    npgnn_options training = {0};
    if (npi_env_check(env, err) || npi_sized_read(&transfer, sizeof transfer, options, "npgnn_transfer_options", err) ||
        npi_options_read(&training, transfer.model, err) || npi_sized_check(out, "npgnn_cost", err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_eval_run way[NPGNN_TRANSFER_WAYS] = {{.size = sizeof way[0]}};
    watch w;
    watch_begin(&w, training.iterations, training.validate_every, &resolved);
    shorten(&training);
    transfer.model = &training;
    int code = npgnn_transfer(way, NULL, graph, model, 1, &transfer, &w.watched, &w.why);
    return watch_end(out, &w, code, seeds, err);
}

/* ---- prediction: one batch of pairs ---- */

int npgnn_estimate_predict(npgnn_cost *out, const npgnn_model *model, const npgnn_graph *graph, int64_t count,
                           const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err) || npi_sized_check(out, "npgnn_cost", err))
        return NPGNN_E_ARGUMENT;
    if (count < 0 || graph->n < 1)
        return npi_fail(err, NPGNN_E_ARGUMENT, "there is no pair to predict");
    npgnn_env resolved = npi_env_resolve(env);
    size_t batch = count < BATCH ? (size_t)count : BATCH;
    npgnn_cost cost = {.size = sizeof cost};
    npgnn_pair *pairs = npi_alloc(&resolved, batch, sizeof *pairs, err);
    npgnn_prediction *predictions = pairs ? npi_alloc(&resolved, batch, sizeof *predictions, err) : NULL;
    int code = NPGNN_E_MEMORY;
    double seconds = 0; /* of the pairs alone */
    if (predictions) {
        /* pairs that are nowhere near each other, as those of a user may be */
        uint64_t stride = UINT64_C(2654435761), n = (uint64_t)graph->n;
        for (size_t i = 0; i < batch; i++)
            pairs[i] = (npgnn_pair){(int32_t)(i * stride % n), (int32_t)((i * stride >> 7) % n)};

        npgnn_predictor *predictor = NULL;
        watch w;
        watch_begin(&w, 0, 1, &resolved);
        code = npgnn_predictor_new(&predictor, model, graph, options, &w.watched, &w.why);
        double start = npi_clock_seconds();
        if (!code)
            code = npgnn_predictor_run(predictions, predictor, pairs, batch, &w.why);
        seconds = npi_clock_seconds() - start;
        npgnn_predictor_free(predictor);
        code = watch_end(&cost, &w, code, 1, err);
    }
    npi_free(&resolved, pairs);
    npi_free(&resolved, predictions);
    if (code)
        return code;

    /* the batches that were left out take as long as this one */
    cost.steps = count;
    cost.step_seconds = batch > 0 ? seconds / (double)batch : 0;
    cost.seconds += (double)(count - (int64_t)batch) * cost.step_seconds;
    return npi_sized_write(out, &cost, sizeof cost, "npgnn_cost", err);
}

/* ---- search of a large graph: of a part of it ---- */

enum {
    PART_NODES = 1 << 14, /* of the part */
    LARGE = 2 * PART_NODES,
    SOME_ROWS = 1024, /* nodes of the part that are searched by candidates, */
    FEW_ROWS = 128    /* and exactly */
};

/* Nodes that are near each other, so that the part has the density of the whole: breadth first from some node; where that
 * ends, from the next one that was not reached. */
static int part_of(npgnn_graph **out, const npgnn_graph *graph, const npgnn_env *env, npgnn_error *err)
{
    const npi_csr *a = &graph->a;
    int32_t *queue = npi_alloc(env, PART_NODES, sizeof *queue, err), count = 0, next = graph->n / 3;
    unsigned char *seen = npi_alloc(env, (size_t)graph->n, 1, err);
    int code = queue && seen ? 0 : NPGNN_E_MEMORY;
    for (int32_t done = 0; !code && count < PART_NODES; done++) {
        while (done == count) { /* a node that was not reached */
            if (!seen[next]) {
                seen[next] = 1;
                queue[count++] = next;
            }
            next = (next + 1) % graph->n;
        }
        for (int64_t p = a->ptr[queue[done]]; p < a->ptr[queue[done] + 1] && count < PART_NODES; p++)
            if (!seen[a->col[p]]) {
                seen[a->col[p]] = 1;
                queue[count++] = a->col[p];
            }
    }
    for (int32_t i = 0, kept = 0; !code && i < graph->n; i++) /* ascending */
        if (seen[i])
            queue[kept++] = i;
    if (!code)
        code = npi_graph_induce(out, graph, queue, count, err);
    npi_free(env, queue);
    npi_free(env, seen);
    return code;
}

/* Seconds of a search for `rows` nodes of the part, evenly spread; 0 or a code. */
static int time_search(double *seconds, npgnn_predictor *p, int32_t rows, int32_t k, npgnn_top_options o,
                       npgnn_error *err)
{
    int32_t n = p->graph->n, *from = npi_alloc(&p->env, (size_t)rows, sizeof *from, err);
    int32_t *found = npi_alloc(&p->env, (size_t)rows, sizeof *found, err);
    npgnn_link *links = npi_alloc(&p->env, (size_t)rows * (size_t)k, sizeof *links, err);
    int code = from && found && links ? 0 : NPGNN_E_MEMORY;
    for (int32_t i = 0; !code && i < rows; i++)
        from[i] = (int32_t)((int64_t)i * n / rows);
    o.from = from;
    o.from_count = rows;
    double start = npi_clock_seconds();
    if (!code)
        code = npgnn_predictor_top(links, found, p, k, &o, err);
    *seconds = npi_clock_seconds() - start;
    npi_free(&p->env, from);
    npi_free(&p->env, found);
    npi_free(&p->env, links);
    return code;
}

/* What a search of `rows` nodes of a large graph takes: preparing grows with nodes and links, a pair costs what it does in the
 * part, and so does a node that meets candidates. halved: each pair is scored once for both ends. */
static int estimate_large(npgnn_cost *out, const npgnn_model *model, const npgnn_graph *graph, int32_t rows, int32_t k,
                          int by_candidates, int halved, const npgnn_predict_options *predict, npgnn_top_options o,
                          const npgnn_env *env, npgnn_error *err)
{
    npgnn_graph *part = NULL;
    npgnn_predictor *p = NULL;
    watch w;
    double prepare = 0, first = 0, some = 0, few = 0;
    o = (npgnn_top_options){.size = sizeof o, .candidates = o.candidates, .known = o.known, .unchecked = 1};
    k = k < PART_NODES / 4 ? k : PART_NODES / 4;
    watch_begin(&w, SOME_ROWS, 1, env); /* for its memory, and so that the caller can stop it */
    int code = part_of(&part, graph, env, err);
    if (code)
        return code;
    npgnn_env quiet = w.watched;
    quiet.log = NULL;
    double start = npi_clock_seconds();
    code = npgnn_predictor_new(&p, model, part, predict, &quiet, err);
    prepare = npi_clock_seconds() - start;
    o.search = NPGNN_SEARCH_CANDIDATES;
    if (!code && by_candidates)
        code = time_search(&first, p, 1, k, o, err);
    if (!code && by_candidates)
        code = time_search(&some, p, SOME_ROWS, k, o, err);
    /* what grows with the graph; the exact search of a few nodes takes as much for every graph */
    double grows = (double)w.peak;
    o.search = NPGNN_SEARCH_EXACT;
    if (!code)
        code = time_search(&few, p, FEW_ROWS, k, o, err);
    double nodes = graph->n, size = (nodes + 2 * (double)graph->m) / ((double)part->n + 2 * (double)part->m);
    double pair = few / ((double)FEW_ROWS * part->n), checked = rows < NPGNN_CHECKED_NODES ? rows : NPGNN_CHECKED_NODES;
    double node = by_candidates ? some / SOME_ROWS : pair * nodes * (halved ? 0.5 : 1);
    npgnn_predictor_free(p);
    const npgnn_cost cost = {.size = sizeof cost,
                             .bytes = (int64_t)(grows * nodes / part->n) + (int64_t)((double)w.peak - grows),
                             .seconds = size * (prepare + first) + rows * node +
                                        (by_candidates ? checked * (pair * nodes + node) : 0),
                             .steps = rows,
                             .step_seconds = node};
    npgnn_graph_free(part);
    return code ? code : npi_sized_write(out, &cost, sizeof cost, "npgnn_cost", err);
}

/* ---- search: from some of the nodes ---- */

int npgnn_estimate_top(npgnn_cost *out, const npgnn_model *model, const npgnn_graph *graph, int32_t k, int links,
                       const npgnn_predict_options *predict, const npgnn_top_options *options, const npgnn_env *env,
                       npgnn_error *err)
{
    npgnn_top_options search = {0};
    if (npi_env_check(env, err) || npi_sized_read(&search, sizeof search, options, "npgnn_top_options", err) ||
        npi_sized_check(out, "npgnn_cost", err))
        return NPGNN_E_ARGUMENT;
    if (k < 1 || graph->n < 1)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "k must be at least 1 and the graph must have nodes, got k %d and %d nodes", k, graph->n);
    npgnn_env resolved = npi_env_resolve(env);

    /* Nodes to search from: enough for several reports of a search on so many threads, since the first is warming up;
     * but k results for each of them must not take more memory than a user would give them. */
    int32_t rows = search.from ? search.from_count : graph->n, per_node = links ? 1 : k;
    if (graph->n > LARGE && model->kind->retrieve) {
        int by_candidates = search.search == NPGNN_SEARCH_CANDIDATES ||
                            (search.search == NPGNN_SEARCH_AUTO && (int64_t)rows * graph->n > NPGNN_EXACT_PAIRS);
        return estimate_large(out, model, graph, rows, k, by_candidates, !links && !search.from && !search.to, predict,
                              search, &resolved, err);
    }
    int64_t enough = 2048 * (int64_t)resolved.threads, most = MOST_RESULTS / per_node > 0 ? MOST_RESULTS / per_node : 1;
    enough = enough < most ? enough : most;
    int32_t count = rows < enough ? rows : (int32_t)enough;

    int32_t *from = npi_alloc(&resolved, (size_t)count, sizeof *from, err);
    int32_t *found = from ? npi_alloc(&resolved, (size_t)count + 1, sizeof *found, err) : NULL;
    npgnn_link *results =
        found ? npi_alloc(&resolved, (size_t)k * (links ? 1 : (size_t)count), sizeof *results, err) : NULL;
    int code = NPGNN_E_MEMORY;
    if (results) {
        for (int32_t i = 0; i < count; i++) { /* evenly spread over those that the whole search begins with */
            int32_t at = (int32_t)((int64_t)i * rows / count);
            from[i] = search.from ? search.from[at] : at;
        }
        search.from = from;
        search.from_count = count;

        npgnn_predictor *predictor = NULL;
        watch w;
        watch_begin(&w, rows, 1, &resolved);
        code = npgnn_predictor_new(&predictor, model, graph, predict, &w.watched, &w.why);
        if (!code && links)
            code = npgnn_predictor_top_links(results, found, predictor, k, &search, &w.why);
        else if (!code)
            code = npgnn_predictor_top(results, found, predictor, k, &search, &w.why);
        npgnn_predictor_free(predictor);
        code = watch_end(out, &w, code, 1, err);
    }
    npi_free(&resolved, from);
    npi_free(&resolved, found);
    npi_free(&resolved, results);
    return code;
}

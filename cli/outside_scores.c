/* Writes the test pairs of each seed, and measures scores that another program computed for them.
 *
 * Both directions use one order: the test pairs with u < v, sorted by (u, v). Line i of pairs-SEED.tsv is therefore
 * pair i - 1 of that order, and neither the order nor the direction of a pair tells links from non-links. */
#include "outside_scores.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "output.h"
#include "pairs_file.h"

/* A test pair and its place in the split, where the links come first. */
typedef struct test_pair {
    npgnn_pair pair;
    size_t place;
    double score;
} test_pair;

/* The test pairs of one seed. */
typedef struct test_set {
    const npgnn_split *split; /* owned, or the fixed one: */
    npgnn_split *owned;       /* NULL: the split is fixed */
    test_pair *pairs;         /* (count), sorted */
    size_t positives, count;
} test_set;

static npgnn_pair ordered(npgnn_pair pair)
{
    return pair.u <= pair.v ? pair : (npgnn_pair){pair.v, pair.u};
}

static int compare_pairs(npgnn_pair a, npgnn_pair b)
{
    return a.u != b.u ? (a.u < b.u ? -1 : 1) : (a.v > b.v) - (a.v < b.v);
}

static int by_pair(const void *a, const void *b)
{
    return compare_pairs(((const test_pair *)a)->pair, ((const test_pair *)b)->pair);
}

static void test_set_free(test_set *set)
{
    npgnn_split_free(set->owned);
    free(set->pairs);
}

/* Free the set also after a failure. */
static int test_set_new(test_set *set, const npgnn_graph *graph, const split_settings *splits, const npgnn_split *fixed,
                        uint64_t seed, const npgnn_env *env)
{
    npgnn_split_options options = split_settings_options(splits);
    npgnn_error err = {0};
    const npgnn_pair *pairs;
    memset(set, 0, sizeof *set);
    options.seed = seed;
    if (!fixed && npgnn_split_new(&set->owned, graph, &options, env, &err) != 0)
        return print_error("%s", err.text);
    set->split = fixed ? fixed : set->owned;
    set->count = npgnn_split_pairs(&pairs, &set->positives, set->split, NPGNN_SET_TEST);
    if (set->positives == 0 || set->positives == set->count)
        return print_error("there are no test pairs: --test must be above 0");
    set->pairs = calloc(set->count, sizeof *set->pairs);
    if (!set->pairs)
        return print_error("out of memory");
    for (size_t i = 0; i < set->count; i++)
        set->pairs[i] = (test_pair){ordered(pairs[i]), i, 0};
    qsort(set->pairs, set->count, sizeof *set->pairs, by_pair);
    return 0;
}

/* ---- splits for other programs ---- */

static int save_seed(const char *folder, const test_set *set, const npgnn_graph *graph, uint64_t seed)
{
    char path[4096], first[12], second[12];
    npgnn_error err = {0};
    cli_output out;
    int length = snprintf(path, sizeof path, "%s/split-%" PRIu64 ".tsv", folder, seed);
    if (length < 0 || (size_t)length >= sizeof path)
        return print_error("path is too long: %.100s...", folder);
    if (npgnn_split_save(set->split, path, &err) != 0)
        return print_error("%s", err.text);
    snprintf(path, sizeof path, "%s/pairs-%" PRIu64 ".tsv", folder, seed); /* as long as the path above */
    if (output_open(&out, path) != 0)
        return EXIT_FAILED;
    for (size_t i = 0; i < set->count; i++)
        fprintf(out.file, "%s\t%s\n", npgnn_graph_name(graph, set->pairs[i].pair.u, first),
                npgnn_graph_name(graph, set->pairs[i].pair.v, second));
    return output_commit(&out);
}

int outside_save_splits(const char *folder, const npgnn_graph *graph, const split_settings *splits,
                        const npgnn_split *fixed, const npgnn_env *env)
{
    int status = output_make_folders(folder);
    for (int i = 0; status == 0 && i < splits->seeds; i++) {
        uint64_t seed = splits->seed + (uint64_t)i;
        test_set set;
        status = test_set_new(&set, graph, splits, fixed, seed, env);
        if (status == 0)
            status = save_seed(folder, &set, graph, seed);
        test_set_free(&set);
    }
    return status;
}

/* ---- scores of other programs ---- */

/* By seed and pair. Lines that agree in both keep the order of the file. */
static int by_seed_and_pair(const void *a, const void *b)
{
    const scored_line *left = a, *right = b;
    if (left->seed != right->seed)
        return left->seed < right->seed ? -1 : 1;
    int order = compare_pairs(left->pair, right->pair);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

/* Gives the test pairs of a seed the scores of `lines`, which are those of the seed, sorted: both lists are walked
 * along together. */
static int match_scores(test_set *set, const scored_line *lines, size_t count, const npgnn_graph *graph,
                        const char *path, uint64_t seed)
{
    size_t missing = 0, first_missing = 0, at = 0;
    char u[12], v[12];
    for (size_t i = 0; i < set->count; i++) {
        test_pair *wanted = &set->pairs[i];
        const scored_line *line = at < count ? &lines[at] : NULL;
        int order = line ? compare_pairs(line->pair, wanted->pair) : 1;
        if (order < 0)
            break; /* the line is no test pair */
        if (order > 0) {
            first_missing = missing++ ? first_missing : i;
            continue;
        }
        wanted->score = line->score;
        at++;
        if (at < count && compare_pairs(lines[at].pair, wanted->pair) == 0)
            return print_error("%s:%" PRId64 ": seed %" PRIu64 " has a score for this pair already, on line %" PRId64,
                               path, lines[at].line, seed, line->line);
    }
    if (at < count)
        return print_error("%s:%" PRId64 ": '%.100s' and '%.100s' are not a test pair of seed %" PRIu64
                           "; --save-splits with the same data and split options writes the test pairs",
                           path, lines[at].line, npgnn_graph_name(graph, lines[at].pair.u, u),
                           npgnn_graph_name(graph, lines[at].pair.v, v), seed);
    if (missing > 0)
        return print_error("%s: %zu of %zu test pairs of seed %" PRIu64
                           " have no score; the first is line %zu of pairs-%" PRIu64 ".tsv: '%.100s' and '%.100s'",
                           path, missing, set->count, seed, first_missing + 1, seed,
                           npgnn_graph_name(graph, set->pairs[first_missing].pair.u, u),
                           npgnn_graph_name(graph, set->pairs[first_missing].pair.v, v));
    return 0;
}

static int by_score(const void *a, const void *b)
{
    double x = ((const test_pair *)a)->score, y = ((const test_pair *)b)->score;
    return (x > y) - (x < y);
}

/* Measures one seed. The metrics look at the order of the scores only. They take floats, in which close scores would
 * become ties, so each score is replaced by its rank among the distinct scores. */
static int measure(npgnn_eval_run *run, cli_curves *curves, test_set *set, uint64_t seed, const npgnn_env *env)
{
    static const int k[] = {1, 10, 100};
    double hits[3], nan = (double)NAN;
    npgnn_error err = {0};
    float *scores = calloc(set->count, sizeof *scores);
    if (!scores)
        return print_error("out of memory");
    qsort(set->pairs, set->count, sizeof *set->pairs, by_score);
    size_t rank = 0;
    for (size_t i = 0; i < set->count; i++) {
        rank += i > 0 && set->pairs[i].score > set->pairs[i - 1].score;
        scores[set->pairs[i].place] = (float)rank;
    }
    const float *others = scores + set->positives;
    size_t negatives = set->count - set->positives;
    *run = (npgnn_eval_run){.size = sizeof *run,
                            .seed = seed,
                            .split_hash = npgnn_split_hash(set->split),
                            .hard_mrr = nan,
                            .hard_hits1 = nan,
                            .hard_hits10 = nan,
                            .hard_hits100 = nan,
                            .val_auc = nan,
                            .val_ap = nan,
                            .auc_interval = {nan, nan},
                            .ap_interval = {nan, nan},
                            .train_seconds = nan,
                            .degree_auc = nan,
                            .full_mrr = nan,
                            .full_hits10 = nan,
                            .full_mrr_se = nan,
                            .full_hits10_se = nan,
                            .full_ends = nan,
                            .untuned_auc = nan,
                            .untuned_ap = nan};
    run->calibration.link_rate = run->calibration.ece = run->calibration.balanced_ece = nan;
    int code = npgnn_auc_ap(&run->auc, &run->ap, scores, others, set->positives, negatives, env, &err);
    if (code == 0)
        code = npgnn_mrr_hits(&run->mrr, hits, scores, others, set->positives, negatives, k, 3, env, &err);
    if (code == 0) {
        run->hits1 = hits[0];
        run->hits10 = hits[1];
        run->hits100 = hits[2];
        curves_scores(curves, run, scores, set->positives, set->count);
    }
    free(scores);
    return code ? print_error("%s", err.text) : 0;
}

int outside_evaluate(npgnn_eval_run *runs, cli_curves *curves, const char *path, const npgnn_graph *graph,
                     const split_settings *splits, const npgnn_split *fixed, const npgnn_env *env)
{
    scored_line *lines;
    size_t count, begin = 0;
    int status = pairs_read_scores(&lines, &count, path, graph);
    for (size_t i = 0; status == 0 && i < count; i++) {
        lines[i].pair = ordered(lines[i].pair);
        if (lines[i].seed < splits->seed || lines[i].seed - splits->seed >= (uint64_t)splits->seeds)
            status = print_error("%s:%" PRId64 ": seed %" PRIu64 " is not compared; the seeds are %" PRIu64
                                 " to %" PRIu64 " (--seed and --seeds)",
                                 path, lines[i].line, lines[i].seed, splits->seed,
                                 splits->seed + (uint64_t)splits->seeds - 1);
    }
    if (status == 0 && count == 0)
        status = print_error("%s has no scores", path);
    if (status == 0)
        qsort(lines, count, sizeof *lines, by_seed_and_pair);
    for (int i = 0; status == 0 && i < splits->seeds; i++) {
        uint64_t seed = splits->seed + (uint64_t)i;
        size_t end = begin;
        test_set set;
        while (end < count && lines[end].seed == seed)
            end++;
        status = test_set_new(&set, graph, splits, fixed, seed, env);
        if (status == 0)
            status = match_scores(&set, lines + begin, end - begin, graph, path, seed);
        if (status == 0)
            status = measure(&runs[i], curves, &set, seed, env);
        test_set_free(&set);
        begin = end;
    }
    free(lines);
    return status;
}

/* Every public call that can fail, with 0, 1, 2, ... allocations that succeed, of its own and of Jansson: E_MEMORY with
 * its description until it works, outputs untouched, nothing leaked. Run by tests/inject.c, the same with the first,
 * second, ... system call that fails, is interrupted or is cut short. tests/memory_calls.sh checks that no call is
 * missing here. */
#define _GNU_SOURCE
#include "check.h"

#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "graph/graph.h"
#include "inject.h"
#include "meter.h"
#include "network.h"

enum { NODES = 40, COLUMNS = 6, PAIRS = 5 };

/* Outputs of the calls. */
typedef struct results {
    npgnn_graph *graph;
    npgnn_split *split;
    npgnn_model *model;
    npgnn_trainer *trainer;
    npgnn_predictor *predictor;
    npgnn_live *live;
    npgnn_lines *lines;
    npgnn_pairs_loss *loss;
    npgnn_prediction predictions[PAIRS];
    npgnn_link links[2 * NODES];
    int32_t found[NODES];
    npgnn_eval_run runs[NPGNN_TRANSFER_WAYS];
    npgnn_test_counts counts;
    npgnn_calibration calibration;
    npgnn_paired paired;
    npgnn_progress progress;
    npgnn_cost cost;
    npgnn_options options;
    npgnn_split_options split_options;
    npgnn_graph_info graph_info;
    npgnn_model_info model_info;
    npgnn_explanation explanation;
    npgnn_live_info live_info;
    npgnn_embed_accuracy embed_accuracy;
    float embedding[NODES * 48];
    double numbers[2];
    char text[32];
} results;

/* Inputs of the calls, made for each call in metered memory. */
typedef struct world {
    meter memory;
    npgnn_env env;
    npgnn_options options;
    npgnn_graph *graph;
    npgnn_split *split;
    npgnn_model *model;
    npgnn_trainer *trainer;
    npgnn_predictor *predictor;
    npgnn_predictor *applied; /* of a model across graphs, for the calls that need one */
    npgnn_live *live;         /* the same */
    npgnn_lines *lines;       /* of a file */
    char path[64];            /* for a call that writes: gone again after a failure */
    results out;
} world;

static char folder[] = "/tmp/npgnn-memory-XXXXXX";
static npgnn_graph *plain;   /* without features: it gives one task to learn from */
static npgnn_model *process; /* learnt across graphs */
static char corpus_path[64], member_path[2][96];
static char model_path[64], checkpoint_path[64], split_path[64], edges_path[64], features_path[64];

static npgnn_pair edge(int i)
{
    return (npgnn_pair){i / 2 % NODES, (i / 2 + (i % 2 ? 7 : 1)) % NODES};
}

static npgnn_options small_options(void)
{
    npgnn_options options = rich_network();
    options.hidden = options.latent_size = options.decoder_hidden = options.output_size = 2;
    options.iterations = 3;
    options.validate_every = 2;
    return options;
}

static void fill(npgnn_pair edges[2 * NODES], float features[NODES * COLUMNS])
{
    for (int i = 0; i < 2 * NODES; i++)
        edges[i] = edge(i);
    for (int i = 0; i < NODES * COLUMNS; i++)
        features[i] = (float)(i % 7 == 0) + (float)(i % 5 == 1);
}

static void world_begin(world *w)
{
    npgnn_pair edges[2 * NODES];
    float features[NODES * COLUMNS];
    npgnn_error err = {0};
    memset(w, 0, sizeof *w);
    w->memory.allow = -1;
    w->env = metered_env(&w->memory);
    w->options = small_options();
    fill(edges, features);
    assert_ok(npgnn_graph_from_arrays(&w->graph, edges, features, NODES, 2 * NODES, COLUMNS, &w->env, &err), err);
    assert_ok(npgnn_split_new(&w->split, w->graph, NULL, &w->env, &err), err);
    assert_ok(npgnn_model_load(&w->model, model_path, &w->env, &err), err);
    assert_ok(npgnn_trainer_new(&w->trainer, w->graph, w->split, &w->options, &w->env, &err), err);
    assert_ok(npgnn_predictor_new(&w->predictor, w->model, w->graph, NULL, &w->env, &err), err);
    assert_ok(npgnn_lines_open(&w->lines, edges_path, 0, &w->env, &err), err);
    snprintf(w->path, sizeof w->path, "%s/written", folder);
    memset(w->out.predictions, 0xA5, sizeof w->out - offsetof(results, predictions));
    w->out.runs[0].size = sizeof w->out.runs[0];
    w->out.counts.size = sizeof w->out.counts;
    w->out.paired.size = sizeof w->out.paired;
    w->out.progress.size = sizeof w->out.progress;
    w->out.cost.size = sizeof w->out.cost;
    w->out.options.size = sizeof w->out.options;
    w->out.split_options.size = sizeof w->out.split_options;
    w->out.graph_info.size = sizeof w->out.graph_info;
    w->out.model_info.size = sizeof w->out.model_info;
    w->out.explanation.size = sizeof w->out.explanation;
    w->out.live_info.size = sizeof w->out.live_info;
    w->out.embed_accuracy.size = sizeof w->out.embed_accuracy;
}

static void world_end(world *w)
{
    npgnn_pairs_loss_free(w->out.loss);
    npgnn_live_free(w->out.live);
    npgnn_live_free(w->live);
    npgnn_lines_free(w->out.lines);
    npgnn_lines_free(w->lines);
    npgnn_predictor_free(w->out.predictor);
    npgnn_trainer_free(w->out.trainer);
    npgnn_model_free(w->out.model);
    npgnn_split_free(w->out.split);
    npgnn_graph_free(w->out.graph);
    npgnn_predictor_free(w->applied);
    npgnn_predictor_free(w->predictor);
    npgnn_trainer_free(w->trainer);
    npgnn_model_free(w->model);
    npgnn_split_free(w->split);
    npgnn_graph_free(w->graph);
    unlink(w->path);
    assert_int_equal(w->memory.blocks, 0);
}

/* ---- the calls ---- */

typedef int call(world *w, npgnn_error *err);

static int options_preset(world *w, npgnn_error *err)
{
    return npgnn_options_preset(&w->out.options, "authors", err);
}

static int options_set(world *w, npgnn_error *err)
{
    return npgnn_options_set(&w->options, "hidden", "3", err);
}

static int options_get(world *w, npgnn_error *err)
{
    return npgnn_options_get(w->out.text, sizeof w->out.text, &w->options, "hidden", err);
}

static int options_uses(world *w, npgnn_error *err)
{
    int used = npgnn_options_uses(&w->options, "hidden", err);
    return used < 0 ? used : 0;
}

static int split_options_default(world *w, npgnn_error *err)
{
    return npgnn_split_options_default(&w->out.split_options, NPGNN_PRODUCTION, err);
}

static int load(world *w, npgnn_error *err)
{
    npgnn_load_options options = {.size = sizeof options, .features = NULL, .normalize = 1, .binarize = 1};
    return npgnn_load(&w->out.graph, edges_path, &options, &w->env, err);
}

static int graph_from_arrays(world *w, npgnn_error *err)
{
    npgnn_pair edges[2 * NODES];
    float features[NODES * COLUMNS];
    fill(edges, features);
    return npgnn_graph_from_arrays(&w->out.graph, edges, features, NODES, 2 * NODES, COLUMNS, &w->env, err);
}

static int graph_from_csr(world *w, npgnn_error *err)
{
    static const npgnn_pair edges[2] = {{0, 1}, {1, 2}};
    static const int64_t ptr[4] = {0, 1, 1, 3};
    static const int32_t col[3] = {4, 0, 2};
    static const float val[3] = {1, 2, 3};
    return npgnn_graph_from_csr(&w->out.graph, edges, ptr, col, val, 3, 2, 5, &w->env, err);
}

static int graph_new(world *w, npgnn_error *err)
{
    static const npgnn_pair edges[2] = {{0, 3}, {1, 2}};
    static const char *const names[4] = {"a", "b", "c", "d"}, *const words[2] = {"red", "blue"};
    static const double numbers[2] = {3, 0.5}, times[2] = {1, 2};
    static const float weights[2] = {1, 2};
    static const int32_t labels[4] = {0, 1, -1, 0};
    static const npgnn_column table[3] = {
        {"age", NULL, numbers, NULL, 0}, {"colour", "category", NULL, words, 0}, {"price", "number", numbers, NULL, 1}};
    npgnn_graph_data data = {.size = sizeof data, .nodes = 4, .sources = 2, .names = names, .labels = labels};
    data.edges = edges;
    data.edge_count = 2;
    data.weights = weights;
    data.times = times;
    data.table = table;
    data.table_columns = 3;
    return npgnn_graph_new(&w->out.graph, &data, &w->env, err);
}

static int graph_extend(world *w, npgnn_error *err)
{
    return npgnn_graph_extend(&w->out.graph, w->graph, features_path, err);
}

static int graph_with_edges(world *w, npgnn_error *err)
{
    static const npgnn_pair edges[2] = {{0, 3}, {1, 2}};
    return npgnn_graph_with_edges(&w->out.graph, w->graph, edges, 2, err);
}

static int graph_describe(world *w, npgnn_error *err)
{
    return npgnn_graph_describe(&w->out.graph_info, w->graph, err);
}

static int graph_subgraph(world *w, npgnn_error *err)
{
    static const int32_t nodes[3] = {2, 3, 9};
    return npgnn_graph_subgraph(&w->out.graph, w->graph, nodes, 3, err);
}

static int graph_synthetic(world *w, npgnn_error *err)
{
    return npgnn_graph_synthetic(&w->out.graph, "nodes=100,topics=2,words=100,length=5", &w->env, err);
}

static int fit(world *w, npgnn_error *err)
{
    return npgnn_fit(&w->out.model, w->graph, &w->options, &w->env, err);
}

static int predict(world *w, npgnn_error *err)
{
    static const npgnn_pair pairs[PAIRS] = {{0, 1}, {0, 5}, {3, 9}, {2, 2}, {39, 1}};
    npgnn_predict_options options = {.size = sizeof options, .samples = 3};
    return npgnn_predict(w->out.predictions, w->model, w->graph, pairs, PAIRS, &options, &w->env, err);
}

static int test(world *w, npgnn_error *err)
{
    static const npgnn_pair pairs[3] = {{0, 1}, {0, 5}, {3, 9}};
    npgnn_test_options options = {.size = sizeof options, .negatives = NPGNN_NEGATIVES_HARD, .bootstrap = 3};
    return npgnn_test(w->out.runs, &w->out.counts, w->model, w->graph, pairs, 3, 3, &options, &w->env, err);
}

static int evaluate_with(world *w, npgnn_protocol protocol, npgnn_error *err)
{
    npgnn_split_options cut = {.size = sizeof cut};
    npgnn_eval_options options = {
        .size = sizeof options, .model = &w->options, .split = &cut, .negatives = NPGNN_NEGATIVES_HARD, .bootstrap = 5};
    npgnn_split_options_default(&cut, protocol, NULL);
    cut.val = cut.test = 0.2;
    return npgnn_evaluate(w->out.runs, w->graph, 1, &options, &w->env, err);
}

static int evaluate(world *w, npgnn_error *err)
{
    return evaluate_with(w, NPGNN_TRANSDUCTIVE, err);
}

static int evaluate_inductive(world *w, npgnn_error *err)
{
    return evaluate_with(w, NPGNN_INDUCTIVE, err);
}

static int transfer(world *w, npgnn_error *err)
{
    npgnn_transfer_options options = {
        .size = sizeof options, .model = &w->options, .train_nodes = 0.5, .context_nodes = 0.5, .test = 0.3};
    return npgnn_transfer(w->out.runs, w->out.numbers, w->graph, NULL, 1, &options, &w->env, err);
}

static int split_new(world *w, npgnn_error *err)
{
    npgnn_split_options options = {.size = sizeof options};
    npgnn_split_options_default(&options, NPGNN_PRODUCTION, NULL);
    options.test = options.val = 0.25;
    return npgnn_split_new(&w->out.split, w->graph, &options, &w->env, err);
}

static int split_authors(world *w, npgnn_error *err)
{
    return npgnn_split_authors(&w->out.split, w->graph, &w->env, err);
}

static int lines_open(world *w, npgnn_error *err)
{
    return npgnn_lines_open(&w->out.lines, edges_path, 0, &w->env, err);
}

static int lines_next(world *w, npgnn_error *err)
{
    const char *const *fields;
    int count, code = npgnn_lines_next(&fields, &count, w->lines, 1, err);
    return code < 0 ? code : 0;
}

static int split_load(world *w, npgnn_error *err)
{
    return npgnn_split_load(&w->out.split, w->graph, split_path, &w->env, err);
}

static int split_save(world *w, npgnn_error *err)
{
    return npgnn_split_save(w->split, w->path, err);
}

/* Writes a folder, which is removed at once. */
static int graph_save(world *w, npgnn_error *err)
{
    static const char *const files[] = {"edges.tsv", "features.mtx", "features.npy"};
    int code = npgnn_graph_save(w->graph, w->path, err);
    for (size_t i = 0; code == 0 && i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", w->path, files[i]);
        unlink(path);
    }
    assert_true(code || rmdir(w->path) == 0);
    return code;
}

static int split_check(world *w, npgnn_error *err)
{
    return npgnn_split_check(w->split, err);
}

static int trainer_new(world *w, npgnn_error *err)
{
    return npgnn_trainer_new(&w->out.trainer, w->graph, w->split, &w->options, &w->env, err);
}

static int trainer_step(world *w, npgnn_error *err)
{
    return npgnn_trainer_step(&w->out.progress, w->trainer, err);
}

static int trainer_run(world *w, npgnn_error *err)
{
    return npgnn_trainer_run(w->trainer, err);
}

static int trainer_progress(world *w, npgnn_error *err)
{
    return npgnn_trainer_progress(&w->out.progress, w->trainer, err);
}

static int trainer_model(world *w, npgnn_error *err)
{
    return npgnn_trainer_model(&w->out.model, w->trainer, err);
}

static int trainer_save(world *w, npgnn_error *err)
{
    return npgnn_trainer_save(w->trainer, w->path, err);
}

static int trainer_restore(world *w, npgnn_error *err)
{
    return npgnn_trainer_restore(w->trainer, checkpoint_path, err);
}

static int checkpoint_options(world *w, npgnn_error *err)
{
    return npgnn_checkpoint_options(&w->out.options, checkpoint_path, &w->env, err);
}

static int model_save(world *w, npgnn_error *err)
{
    return npgnn_model_save(w->model, w->path, err);
}

static int model_describe(world *w, npgnn_error *err)
{
    return npgnn_model_describe(&w->out.model_info, w->model, err);
}

static int model_options(world *w, npgnn_error *err)
{
    return npgnn_model_options(&w->out.options, w->model, err);
}

static int model_load(world *w, npgnn_error *err)
{
    return npgnn_model_load(&w->out.model, model_path, &w->env, err);
}

static int model_embed(world *w, npgnn_error *err)
{
    return npgnn_model_embed(w->out.embedding, w->model, w->graph, &w->env, err);
}

static int model_embed_test(world *w, npgnn_error *err)
{
    return npgnn_model_embed_test(&w->out.embed_accuracy, w->model, w->graph, 1, &w->env, err);
}

static int model_adapt(world *w, npgnn_error *err)
{
    return npgnn_model_adapt(&w->out.model, w->model, w->graph, &w->env, err);
}

static int model_calibrate(world *w, npgnn_error *err)
{
    npgnn_model_info before = {.size = sizeof before}, after = {.size = sizeof after};
    npgnn_model_describe(&before, w->model, NULL);
    int code = npgnn_model_calibrate(w->model, w->split, &w->env, err);
    npgnn_model_describe(&after, w->model, NULL);
    if (code)
        assert_memory_equal(&after, &before, sizeof before);
    return code;
}

static int predictor_new(world *w, npgnn_error *err)
{
    npgnn_predict_options options = {.size = sizeof options, .samples = 2};
    return npgnn_predictor_new(&w->out.predictor, w->model, w->graph, &options, &w->env, err);
}

static int predictor_run(world *w, npgnn_error *err)
{
    static const npgnn_pair pairs[PAIRS] = {{0, 1}, {0, 5}, {3, 9}, {2, 2}, {39, 1}};
    return npgnn_predictor_run(w->out.predictions, w->predictor, pairs, PAIRS, err);
}

static int predictor_top(world *w, npgnn_error *err)
{
    return npgnn_predictor_top(w->out.links, w->out.found, w->predictor, 2, NULL, err);
}

static int predictor_top_links(world *w, npgnn_error *err)
{
    return npgnn_predictor_top_links(w->out.links, w->out.found, w->predictor, PAIRS, NULL, err);
}

/* Tests are not built with the module that it loads. */
static int comm_open(world *w, npgnn_error *err)
{
    npgnn_comm *comm = NULL;
    int code = npgnn_comm_open(&comm, &w->env, err);
    npgnn_comm_free(comm);
    return code == NPGNN_E_IO ? 0 : code;
}

static int comm_simulate(world *w, npgnn_error *err)
{
    npgnn_comm *comm[2] = {NULL, NULL};
    int code = npgnn_comm_simulate(comm, 2, &w->env, err);
    npgnn_comm_free(comm[0]);
    npgnn_comm_free(comm[1]);
    return code;
}

static int comm_describe(world *w, npgnn_error *err)
{
    npgnn_comm_info info = {.size = sizeof info};
    (void)w;
    return npgnn_comm_describe(&info, NULL, err);
}

static int comm_agree(world *w, npgnn_error *err)
{
    return npgnn_comm_agree(w->env.comm, 0, err);
}

static int comm_same(world *w, npgnn_error *err)
{
    return npgnn_comm_same(w->env.comm, 0, "the number", err);
}

static int estimate_fit(world *w, npgnn_error *err)
{
    return npgnn_estimate_fit(&w->out.cost, w->graph, NULL, &w->options, &w->env, err);
}

static int estimate_evaluate(world *w, npgnn_error *err)
{
    npgnn_split_options cut = {.size = sizeof cut};
    npgnn_eval_options options = {.size = sizeof options, .model = &w->options, .split = &cut};
    npgnn_split_options_default(&cut, NPGNN_TRANSDUCTIVE, NULL);
    cut.val = cut.test = 0.2;
    return npgnn_estimate_evaluate(&w->out.cost, w->graph, 2, &options, &w->env, err);
}

static int estimate_transfer(world *w, npgnn_error *err)
{
    npgnn_transfer_options options = {
        .size = sizeof options, .model = &w->options, .train_nodes = 0.5, .context_nodes = 0.5, .test = 0.3};
    return npgnn_estimate_transfer(&w->out.cost, w->graph, NULL, 2, &options, &w->env, err);
}

static int estimate_predict(world *w, npgnn_error *err)
{
    return npgnn_estimate_predict(&w->out.cost, w->model, w->graph, 9, NULL, &w->env, err);
}

static int estimate_top(world *w, npgnn_error *err)
{
    return npgnn_estimate_top(&w->out.cost, w->model, w->graph, 2, 0, NULL, NULL, &w->env, err);
}

static const float scores[6] = {0.1F, 0.9F, 0.4F, 0.4F, 0.2F, 0.7F};

static int auc_ap(world *w, npgnn_error *err)
{
    return npgnn_auc_ap(&w->out.numbers[0], &w->out.numbers[1], scores, scores + 3, 3, 3, &w->env, err);
}

static int mrr_hits(world *w, npgnn_error *err)
{
    static const int k = 2;
    return npgnn_mrr_hits(&w->out.numbers[0], &w->out.numbers[1], scores, scores + 3, 3, 3, &k, 1, &w->env, err);
}

static int paired_compare(world *w, npgnn_error *err)
{
    static const double values[2] = {0.5, 0.75}, reference[2] = {0.25, 1};
    return npgnn_paired_compare(&w->out.paired, values, reference, 2, 1, &w->env, err);
}

static int calibration_measure(world *w, npgnn_error *err)
{
    return npgnn_calibration_measure(&w->out.calibration, scores, scores + 3, 3, 3, 0.2, &w->env, err);
}

static int pairs_loss_new(world *w, npgnn_error *err)
{
    return npgnn_pairs_loss_new(&w->out.loss, w->graph, 2, 0, NPGNN_WEIGHTED, 1, &w->env, err);
}

static int pairs_loss_new_sampled(world *w, npgnn_error *err)
{
    return npgnn_pairs_loss_new(&w->out.loss, w->graph, 2, 3, NPGNN_PLAIN, 1, &w->env, err);
}

/* ---- models across graphs ---- */

static int model_universal(world *w, npgnn_error *err)
{
    return npgnn_model_universal(&w->out.model, &w->env, err);
}

static int drop_graph(void *user, const char *name, npgnn_graph *graph)
{
    (void)user;
    (void)name;
    npgnn_graph_free(graph);
    return 0;
}

static int load_each(world *w, npgnn_error *err)
{
    return npgnn_load_each(corpus_path, drop_graph, NULL, 1, &w->env, err); /* a lack of memory is not a broken graph */
}

static int pretrain(world *w, npgnn_error *err)
{
    static const int family = 0;
    const npgnn_graph *graph = plain;
    const npgnn_pretrain_options options = {.size = sizeof options, .steps = 1};
    return npgnn_pretrain(&w->out.model, &graph, &family, 1, &options, &w->env, err);
}

static int model_save_process(world *w, npgnn_error *err)
{
    return npgnn_model_save(process, w->path, err);
}

static int predictor_new_process(world *w, npgnn_error *err)
{
    const npgnn_predict_options options = {.size = sizeof options, .samples = 2};
    return npgnn_predictor_new(&w->out.predictor, process, w->graph, &options, &w->env, err);
}

/* A predictor, which the call at hand need not pay for. */
static npgnn_predictor *apply(world *w)
{
    const npgnn_predict_options options = {.size = sizeof options, .samples = 2};
    npgnn_error err = {0};
    long allow = w->memory.allow;
    w->memory.allow = -1;
    assert_ok(npgnn_predictor_new(&w->applied, process, w->graph, &options, &w->env, &err), err);
    w->memory.allow = allow;
    return w->applied;
}

static int predictor_run_process(world *w, npgnn_error *err)
{
    npgnn_predictor *predictor = apply(w);
    npgnn_prediction predictions[PAIRS]; /* some of which may be written before the memory runs out */
    npgnn_pair pairs[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = edge(3 * i);
    return npgnn_predictor_run(predictions, predictor, pairs, PAIRS, err);
}

static int predictor_top_process(world *w, npgnn_error *err)
{
    return npgnn_predictor_top(w->out.links, w->out.found, apply(w), 2, NULL, err);
}

static int predictor_top_links_process(world *w, npgnn_error *err)
{
    return npgnn_predictor_top_links(w->out.links, w->out.found, apply(w), 2, NULL, err);
}

static int predictor_explain(world *w, npgnn_error *err)
{
    return npgnn_predictor_explain(&w->out.explanation, apply(w), edge(5), err);
}

static int predictor_gather(world *w, npgnn_error *err)
{
    npgnn_pair pair = edge(5);
    return npgnn_predictor_gather(apply(w), &pair, 1, err);
}

/* ---- live graphs ---- */

static int live_new(world *w, npgnn_error *err)
{
    return npgnn_live_new(&w->out.live, process, w->graph, NULL, &w->env, err);
}

/* A live graph, which the call at hand need not pay for. */
static npgnn_live *live_of(world *w)
{
    npgnn_error err = {0};
    long allow = w->memory.allow;
    w->memory.allow = -1;
    assert_ok(npgnn_live_new(&w->live, process, w->graph, NULL, &w->env, &err), err);
    w->memory.allow = allow;
    return w->live;
}

/* After a failure everything is as it was: the call works once there is memory. */
static int live_add_nodes(world *w, npgnn_error *err)
{
    static const npgnn_cell cell = {"2", "1.5"};
    const npgnn_new_node node = {.size = sizeof node, .name = "zoe", .cells = &cell, .cell_count = 1};
    npgnn_live *live = live_of(w);
    int code = npgnn_live_add_nodes(live, &node, 1, err);
    w->memory.allow = -1;
    assert_int_equal(npgnn_live_add_nodes(live, &node, 1, NULL),
                     code ? 0 : NPGNN_E_ARGUMENT); /* the name is taken now */
    return code;
}

static int live_add_links(world *w, npgnn_error *err)
{
    static const npgnn_pair links[2] = {{0, 20}, {3, 21}};
    npgnn_live *live = live_of(w);
    int64_t added = 0;
    int code = npgnn_live_add_links(NULL, live, links, 2, err);
    w->memory.allow = -1;
    assert_int_equal(npgnn_live_add_links(&added, live, links, 2, NULL), 0);
    assert_int_equal(added, code ? 2 : 0);
    return code;
}

static int live_refresh(world *w, npgnn_error *err)
{
    return npgnn_live_refresh(live_of(w), err);
}

static int live_describe(world *w, npgnn_error *err)
{
    return npgnn_live_describe(&w->out.live_info, live_of(w), err);
}

static int live_top(world *w, npgnn_error *err)
{
    return npgnn_live_top(w->out.links, w->out.found, live_of(w), 3, 2, err);
}

static int live_score(world *w, npgnn_error *err)
{
    const npgnn_pair pairs[2] = {edge(1), edge(8)};
    return npgnn_live_score(w->out.predictions, live_of(w), pairs, 2, err);
}

static int live_explain(world *w, npgnn_error *err)
{
    return npgnn_live_explain(&w->out.explanation, live_of(w), edge(5), err);
}

/* ---- methods without a model ---- */

static int method_score(world *w, npgnn_error *err)
{
    const npgnn_method_options options = {.size = sizeof options, .method = "katz"};
    npgnn_pair pairs[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = edge(3 * i);
    return npgnn_method_score(w->out.embedding, w->graph, pairs, PAIRS, &options, &w->env, err);
}

static int method_top(world *w, npgnn_error *err)
{
    const npgnn_method_options options = {.size = sizeof options, .method = "adamic-adar"};
    int32_t found[NODES]; /* is zeroed before the memory runs out */
    return npgnn_method_top(w->out.links, found, w->graph, 2, 0, &options, NULL, &w->env, err);
}

/* ---- the test ---- */

/* The number of allocations of a call that has all the memory it wants; LONG_MAX for one that lifts the limit itself. */
static long allocations_of(call *work)
{
    world w;
    npgnn_error err = {0};
    world_begin(&w);
    w.memory.allow = LONG_MAX;
    assert_ok(work(&w, &err), err);
    long made = w.memory.allow < 0 ? LONG_MAX : LONG_MAX - w.memory.allow;
    w.memory.allow = -1;
    world_end(&w);
    return made;
}

/* Lets 0, 1, 2, ... allocations of one call succeed, up to the first time it works. Returns how many it needed. In the
 * middle of a call that makes many, where the same is done again and again, one in seventeen has to do. */
static long starve(call *work)
{
    enum { FIRST = 40, LAST = 60, STRIDE = 17 };
    long most = allocations_of(work), allow = 0;
    for (int code = NPGNN_E_MEMORY; code; allow++) {
        if (allow >= FIRST && allow < most - LAST && allow % STRIDE != 0)
            continue;
        world w;
        npgnn_error err = {0};
        world_begin(&w);
        results before = w.out;
        w.memory.allow = allow;
        code = work(&w, &err);
        w.memory.allow = -1;
        if (code) {
            assert_int_equal(code, NPGNN_E_MEMORY);
            assert_int_equal(err.code, code);
            assert_true(strstr(err.text, "memory") != NULL);
            assert_memory_equal(&w.out, &before, sizeof before);
            assert_int_not_equal(access(w.path, F_OK), 0);
        }
        world_end(&w);
    }
    return allow - 1;
}

/* ---- memory of the JSON library, which uses malloc ---- */

static long json_allow = -1; /* blocks before the one that is refused; negative: none will be */

static void *json_malloc(size_t size)
{
    return json_allow >= 0 && json_allow-- == 0 ? NULL : malloc(size);
}

static off_t size_of(const char *path)
{
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    return file.st_size;
}

/* The same where one allocation of Jansson fails. What it built or parsed is complete, or the call fails. */
static long starve_json(call *work)
{
    for (long allow = 0;; allow++) {
        world w;
        npgnn_error err = {0};
        world_begin(&w);
        results before = w.out;
        json_allow = allow;
        int code = work(&w, &err);
        int refused = json_allow < 0; /* by one more than it was allowed */
        json_allow = -1;
        if (code) {
            assert_int_equal(code, NPGNN_E_MEMORY);
            assert_memory_equal(&w.out, &before, sizeof before);
            assert_int_not_equal(access(w.path, F_OK), 0);
        } else if (work == model_save) {
            assert_int_equal(size_of(w.path), size_of(model_path)); /* what it was loaded from */
        }
        world_end(&w);
        if (!refused)
            return allow;
    }
}

static void test_call(void **state)
{
    call **work = *state;
    json_malloc_t before_malloc;
    json_free_t before_free;
    starve(*work);
    json_get_alloc_funcs(&before_malloc, &before_free);
    json_set_alloc_funcs(json_malloc, free);
    starve_json(*work);
    json_set_alloc_funcs(before_malloc, before_free);
}

/* ---- system calls that fail ---- */

static const struct {
    const char *name;
    int error; /* 0 and EINTR: for reading, the call works all the same */
} faults[] = {
#define INJECT_X(name, kind, error) {name, error},
    INJECT_FAULTS(INJECT_X)
#undef INJECT_X
};

static long injected(int what, int fault, long k)
{
    return syscall(SYS_prctl, INJECT_PRCTL, what, fault, k, 0);
}

static long strikes; /* in all tests */

/* What a graph, split or model is, in one number; 0 where there is none. */
static uint64_t content(const world *w)
{
    const char *text = w->out.model ? npgnn_model_encoding(w->out.model) : NULL;
    return (w->out.graph ? npi_graph_fingerprint(w->out.graph) : 0) ^
           (w->out.split ? npgnn_split_hash(w->out.split) : 0) ^ (text ? strlen(text) : 0);
}

/* The k-th system call of a kind fails while the call is at work; k = 0: none does. Either the call works as ever, or
 * it fails with a description and leaves its outputs, and no file. Returns the content. */
static uint64_t disturb(long counts[INJECT_KINDS], call *work, int fault, long k)
{
    world w;
    npgnn_error err = {0};
    uint64_t found = 0;
    world_begin(&w);
    results before = w.out;
    assert_int_equal(injected(INJECT_ARM, fault, k), 1);
    int code = work(&w, &err);
    int struck = (int)injected(INJECT_DISARM, 0, 0);
    for (int i = 0; counts && i < INJECT_KINDS; i++)
        counts[i] = injected(INJECT_COUNT, i, 0);
    assert_int_equal(struck, k > 0);
    strikes += struck;
    const char *name = faults[fault].name;
    int reading = strncmp(name, "read", 4) == 0;
    if (code == 0) {
        found = content(&w);
    } else {
        /* what reads goes on after an interruption and after half of the bytes */
        int allowed =
            k > 0 && (code == NPGNN_E_IO || code == NPGNN_E_FORMAT) && !(reading && faults[fault].error != EIO);
        if (!allowed || err.code != code || !err.text[0])
            fail_msg("%s, number %ld: code %d, '%s'", name, k, code, err.text);
        assert_memory_equal(&w.out, &before, sizeof before);
        /* the last fsync is that of the folder: the file is there and complete, but might not outlive a power
         * failure */
        assert_true(access(w.path, F_OK) != 0 || strcmp(name, "fsync fails") == 0);
    }
    world_end(&w);
    return found;
}

static void test_disturbed(void **state)
{
    call **work = *state;
    long counts[INJECT_KINDS];
    uint64_t wanted = disturb(counts, *work, 0, 0);
    for (int fault = 0; fault < INJECT_KINDS; fault++)
        for (long k = 1; k <= counts[fault]; k++) {
            uint64_t got = disturb(NULL, *work, fault, k);
            assert_true(got == wanted || got == 0);
        }
}

/* The parent does what it says: the calls that read and write files were disturbed. */
static void test_strikes(void **state)
{
    (void)state;
    print_message("%ld system calls failed\n", strikes);
    assert_true(strikes > 150);
}

/* The same call once with everything going well, then with err NULL and no memory: a failure may go undescribed. */
static void test_without_error_output(void **state)
{
    (void)state;
    call *calls[] = {load, fit, evaluate, split_new, trainer_new, model_load, model_save, predictor_new};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        world w;
        world_begin(&w);
        w.memory.allow = 0;
        assert_int_equal(calls[i](&w, NULL), NPGNN_E_MEMORY);
        w.memory.allow = -1;
        world_end(&w);
    }
}

/* The meter stops the calls that allocate and no others. */
static void test_what_needs_memory(void **state)
{
    (void)state;
    assert_true(starve(graph_from_arrays) > 3);
    assert_true(starve(trainer_new) > 10);
    assert_int_equal(starve(trainer_step), 0);
    assert_int_equal(starve(options_set), 0);
    json_malloc_t before_malloc;
    json_free_t before_free;
    json_get_alloc_funcs(&before_malloc, &before_free);
    json_set_alloc_funcs(json_malloc, free);
    assert_true(starve_json(model_save) > 20 && starve_json(model_load) > 20);
    json_set_alloc_funcs(before_malloc, before_free);
}

/* ---- files that the calls read ---- */

static void write_files(void)
{
    npgnn_pair edges[2 * NODES];
    float features[NODES * COLUMNS];
    npgnn_options options = small_options();
    npgnn_graph *graph = NULL;
    npgnn_split *split = NULL;
    npgnn_model *model = NULL;
    npgnn_trainer *trainer = NULL;
    npgnn_error err = {0};
    fill(edges, features);
    assert_ok(npgnn_graph_from_arrays(&graph, edges, features, NODES, 2 * NODES, COLUMNS, NULL, &err), err);
    assert_ok(npgnn_split_new(&split, graph, NULL, NULL, &err), err);
    assert_ok(npgnn_fit(&model, graph, &options, NULL, &err), err);
    assert_ok(npgnn_model_save(model, model_path, &err), err);
    assert_ok(npgnn_split_save(split, split_path, &err), err);
    assert_ok(npgnn_trainer_new(&trainer, graph, split, &options, NULL, &err), err);
    assert_ok(npgnn_trainer_save(trainer, checkpoint_path, &err), err);
    npgnn_trainer_free(trainer);
    npgnn_model_free(model);
    npgnn_split_free(split);
    npgnn_graph_free(graph);

    static const int family = 0;
    const npgnn_pretrain_options steps = {.size = sizeof steps, .steps = 1};
    assert_ok(npgnn_graph_from_arrays(&plain, edges, NULL, NODES, 2 * NODES, 0, NULL, &err), err);
    const npgnn_graph *all = plain;
    assert_ok(npgnn_pretrain(&process, &all, &family, 1, &steps, NULL, &err), err);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_files(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(model_path, sizeof model_path, "%s/model", folder);
    snprintf(checkpoint_path, sizeof checkpoint_path, "%s/checkpoint", folder);
    snprintf(split_path, sizeof split_path, "%s/split", folder);
    snprintf(edges_path, sizeof edges_path, "%s/edges", folder);
    snprintf(features_path, sizeof features_path, "%s/features.svm", folder);
    snprintf(corpus_path, sizeof corpus_path, "%s/corpus", folder);
    if (mkdir(corpus_path, 0700))
        return -1;
    for (int i = 0; i < 2; i++) {
        snprintf(member_path[i], sizeof member_path[i], "%s/%d.edges", corpus_path, i);
        write_text(member_path[i], "ann bob\nbob 7\n");
    }
    write_text(edges_path, "ann bob\nbob 7\n7 8\n");
    write_text(features_path, "0 1:1 6:2\n0 2:1\n");
    write_files();
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    npgnn_graph_free(plain);
    npgnn_model_free(process);
    unlink(member_path[0]);
    unlink(member_path[1]);
    rmdir(corpus_path);
    unlink(model_path);
    unlink(checkpoint_path);
    unlink(split_path);
    unlink(edges_path);
    unlink(features_path);
    return rmdir(folder);
}

/* A test named after the public call, whose function above has the same name without the prefix. */
#define CALL(name)                                                                                                     \
    {                                                                                                                  \
        "npgnn_" #name, test_call, NULL, NULL, &(call *)                                                               \
        {                                                                                                              \
            name                                                                                                       \
        }                                                                                                              \
    }

int main(void)
{
    struct CMUnitTest tests[] = {
        CALL(options_preset),
        CALL(options_set),
        CALL(options_get),
        CALL(options_uses),
        CALL(split_options_default),
        CALL(load),
        CALL(fit),
        CALL(predict),
        CALL(evaluate),
        CALL(evaluate_inductive),
        CALL(transfer),
        CALL(test),
        CALL(graph_from_arrays),
        CALL(graph_from_csr),
        CALL(graph_new),
        CALL(graph_synthetic),
        CALL(graph_extend),
        CALL(graph_save),
        CALL(graph_subgraph),
        CALL(graph_with_edges),
        CALL(graph_describe),
        CALL(split_new),
        CALL(split_authors),
        CALL(lines_open),
        CALL(lines_next),
        CALL(split_load),
        CALL(split_save),
        CALL(split_check),
        CALL(trainer_new),
        CALL(trainer_step),
        CALL(trainer_run),
        CALL(trainer_progress),
        CALL(trainer_model),
        CALL(trainer_save),
        CALL(trainer_restore),
        CALL(checkpoint_options),
        CALL(model_save),
        CALL(model_describe),
        CALL(model_options),
        CALL(model_load),
        CALL(model_embed),
        CALL(model_embed_test),
        CALL(model_adapt),
        CALL(model_calibrate),
        CALL(predictor_new),
        CALL(predictor_run),
        CALL(predictor_top),
        CALL(predictor_top_links),
        CALL(comm_open),
        CALL(comm_simulate),
        CALL(comm_describe),
        CALL(comm_agree),
        CALL(comm_same),
        CALL(estimate_fit),
        CALL(estimate_evaluate),
        CALL(estimate_transfer),
        CALL(estimate_predict),
        CALL(estimate_top),
        CALL(auc_ap),
        CALL(mrr_hits),
        CALL(calibration_measure),
        CALL(paired_compare),
        CALL(pairs_loss_new),
        CALL(pairs_loss_new_sampled),
        CALL(model_universal),
        CALL(load_each),
        CALL(pretrain),
        CALL(model_save_process),
        CALL(predictor_new_process),
        CALL(predictor_run_process),
        CALL(predictor_top_process),
        CALL(predictor_top_links_process),
        CALL(predictor_explain),
        CALL(predictor_gather),
        CALL(live_new),
        CALL(live_add_nodes),
        CALL(live_add_links),
        CALL(live_refresh),
        CALL(live_describe),
        CALL(live_top),
        CALL(live_score),
        CALL(live_explain),
        CALL(method_score),
        CALL(method_top),
        cmocka_unit_test(test_without_error_output),
        cmocka_unit_test(test_what_needs_memory),
    };
    const size_t last = sizeof tests / sizeof tests[0] - 1;
    if (injected(INJECT_ARE_YOU_THERE, 0, 0) == 1) { /* the parent is tests/inject.c */
        for (size_t i = 0; i < last; i++)
            if (tests[i].test_func == test_call)
                tests[i].test_func = test_disturbed;
        tests[last] = (struct CMUnitTest)cmocka_unit_test(test_strikes);
    }
    return cmocka_run_group_tests(tests, make_files, remove_files);
}

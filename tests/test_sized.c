/* Structs that carry their size: programs that were compiled against an older header (smaller structs) or a newer one
 * (larger structs) get what they know and keep the rest of their memory; a size that was not set is refused by every
 * public call. tests/sized_calls.sh checks that no call and no struct is missing from the table below. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <string.h>

#include "folder.h"
#include "model/model.h"
#include "network.h"
#include "train/trainer.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define GARBAGE 0xA5
enum { PAIRS = 3, SEEDS = 2, K = 2, NODES = 100 };
#define SPEC "nodes=100,words=100,seed=2"

static const npgnn_pair pairs[PAIRS] = {{0, 1}, {0, 5}, {3, 9}};
static const float scores[6] = {0.1F, 0.9F, 0.4F, 0.4F, 0.2F, 0.7F};

/* ---- one of every struct, and of what calls need besides ---- */

/* X(type without its prefix, which is the name of the member of a world too) */
#define STRUCTS(X)                                                                                                     \
    X(env)                                                                                                             \
    X(progress)                                                                                                        \
    X(options)                                                                                                         \
    X(load_options)                                                                                                    \
    X(predict_options)                                                                                                 \
    X(split_options)                                                                                                   \
    X(eval_run)                                                                                                        \
    X(eval_options)                                                                                                    \
    X(transfer_options)                                                                                                \
    X(test_options)                                                                                                    \
    X(test_counts)                                                                                                     \
    X(graph_info)                                                                                                      \
    X(model_info)                                                                                                      \
    X(top_options)                                                                                                     \
    X(search_info)                                                                                                     \
    X(cost)                                                                                                            \
    X(pretrain_options)                                                                                                \
    X(explanation)                                                                                                     \
    X(method_options)                                                                                                  \
    X(new_node)                                                                                                        \
    X(live_info)                                                                                                       \
    X(embed_accuracy)                                                                                                  \
    X(comm_info)                                                                                                       \
    X(graph_data)                                                                                                      \
    X(paired)

typedef struct world {
#define MEMBER(name)                                                                                                   \
    npgnn_##name name;                                                                                                 \
    char after_##name[sizeof(npgnn_eval_run) * SEEDS * NPGNN_TRANSFER_WAYS]; /* of a newer program, or more elements */
    STRUCTS(MEMBER)
#undef MEMBER
    /* what a call makes */
    npgnn_graph *graph;
    npgnn_split *split;
    npgnn_model *model;
    npgnn_trainer *trainer;
    npgnn_predictor *predictor;
    npgnn_pairs_loss *loss;
    npgnn_lines *lines;
    npgnn_prediction predictions[PAIRS];
    npgnn_link links[NODES * K];
    int32_t found[NODES];
    npgnn_calibration calibration;
    float embedding[NODES * 2];
    double numbers[2];
    char text[64];
} world;

static const struct {
    const char *name, *type;
    size_t at, size; /* where it is in a world */
} structs[] = {
#define ROW(name) {#name, "npgnn_" #name, offsetof(world, name), sizeof(npgnn_##name)},
    STRUCTS(ROW)
#undef ROW
};

/* What calls work on. */
static npgnn_graph *graph;
static npgnn_split *split;
static npgnn_model *model;
static npgnn_trainer *trainer;
static npgnn_predictor *predictor;
static npgnn_model *universal;
static npgnn_predictor *applied; /* of universal */
static npgnn_live *live;

static int make_all(void **state)
{
    npgnn_options o = {.size = sizeof o};
    int code = make_folder(state) || npgnn_graph_synthetic(&graph, SPEC, NULL, NULL) ||
               npgnn_split_new(&split, graph, NULL, NULL, NULL) || npgnn_options_preset(&o, NULL, NULL);
    o.hidden = o.latent_size = o.decoder_hidden = o.output_size = 2;
    o.iterations = 3;
    return code || npgnn_trainer_new(&trainer, graph, split, &o, NULL, NULL) || npgnn_trainer_run(trainer, NULL) ||
           npgnn_trainer_model(&model, trainer, NULL) ||
           npgnn_predictor_new(&predictor, model, graph, NULL, NULL, NULL) ||
           npgnn_model_universal(&universal, NULL, NULL) ||
           npgnn_predictor_new(&applied, universal, graph, NULL, NULL, NULL) ||
           npgnn_live_new(&live, universal, graph, NULL, NULL, NULL) ||
           npgnn_model_save(model, path_of("model"), NULL) || npgnn_split_save(split, path_of("split"), NULL) ||
           npgnn_trainer_save(trainer, path_of("checkpoint"), NULL);
}

static int free_all(void **state)
{
    npgnn_live_free(live);
    npgnn_predictor_free(applied);
    npgnn_model_free(universal);
    npgnn_predictor_free(predictor);
    npgnn_trainer_free(trainer);
    npgnn_model_free(model);
    npgnn_split_free(split);
    npgnn_graph_free(graph);
    empty_folder();
    return remove_folder(state);
}

/* Structs of this version, with defaults and little to do. */
static void world_begin(world *w)
{
    memset(w, 0, sizeof *w);
    for (size_t i = 0; i < COUNT(structs); i++)
        memcpy((char *)w + structs[i].at, &structs[i].size, sizeof structs[i].size);
    npgnn_options_preset(&w->options, NULL, NULL);
    w->options.hidden = w->options.latent_size = w->options.decoder_hidden = w->options.output_size = 2;
    w->options.iterations = 3;
    npgnn_split_options_default(&w->split_options, NPGNN_TRANSDUCTIVE, NULL);
    w->env.threads = 1;
    w->pretrain_options.steps = 2;
    w->method_options.method = "katz";
    w->graph_data.nodes = 10;
    w->graph_data.edges = pairs;
    w->graph_data.edge_count = PAIRS;
    w->eval_options.model = w->transfer_options.model = &w->options;
    w->eval_options.split = &w->split_options;
}

static void world_end(world *w)
{
    npgnn_pairs_loss_free(w->loss);
    npgnn_predictor_free(w->predictor);
    npgnn_trainer_free(w->trainer);
    npgnn_model_free(w->model);
    npgnn_split_free(w->split);
    npgnn_lines_free(w->lines);
    npgnn_graph_free(w->graph);
}

/* ---- the calls ---- */

typedef int call(world *w, npgnn_error *err);

static int options_preset(world *w, npgnn_error *err)
{
    return npgnn_options_preset(&w->options, "authors", err);
}

static int options_set(world *w, npgnn_error *err)
{
    return npgnn_options_set(&w->options, "hidden", "3", err);
}

static int options_get(world *w, npgnn_error *err)
{
    return npgnn_options_get(w->text, sizeof w->text, &w->options, "hidden", err);
}

static int options_uses(world *w, npgnn_error *err)
{
    int used = npgnn_options_uses(&w->options, "hidden", err);
    return used < 0 ? used : 0;
}

static int load(world *w, npgnn_error *err)
{
    return npgnn_load(&w->graph, "synthetic:" SPEC, &w->load_options, &w->env, err);
}

static int fit(world *w, npgnn_error *err)
{
    return npgnn_fit(&w->model, graph, &w->options, &w->env, err);
}

static int predict(world *w, npgnn_error *err)
{
    return npgnn_predict(w->predictions, model, graph, pairs, PAIRS, &w->predict_options, &w->env, err);
}

static int split_options_default(world *w, npgnn_error *err)
{
    return npgnn_split_options_default(&w->split_options, NPGNN_FEW_SHOT, err);
}

static int evaluate(world *w, npgnn_error *err)
{
    return npgnn_evaluate(&w->eval_run, graph, SEEDS, &w->eval_options, &w->env, err);
}

static int transfer(world *w, npgnn_error *err)
{
    return npgnn_transfer(&w->eval_run, NULL, graph, NULL, SEEDS, &w->transfer_options, &w->env, err);
}

static int test(world *w, npgnn_error *err)
{
    return npgnn_test(&w->eval_run, &w->test_counts, model, graph, pairs, PAIRS, PAIRS, &w->test_options, &w->env, err);
}

static int graph_from_arrays(world *w, npgnn_error *err)
{
    return npgnn_graph_from_arrays(&w->graph, pairs, NULL, 10, PAIRS, 0, &w->env, err);
}

static int graph_from_csr(world *w, npgnn_error *err)
{
    static const int64_t ptr[11] = {0};
    return npgnn_graph_from_csr(&w->graph, pairs, ptr, NULL, NULL, 10, PAIRS, 1, &w->env, err);
}

static int graph_new(world *w, npgnn_error *err)
{
    return npgnn_graph_new(&w->graph, &w->graph_data, &w->env, err);
}

static int graph_synthetic(world *w, npgnn_error *err)
{
    return npgnn_graph_synthetic(&w->graph, SPEC, &w->env, err);
}

static int graph_describe(world *w, npgnn_error *err)
{
    return npgnn_graph_describe(&w->graph_info, graph, err);
}

static int split_new(world *w, npgnn_error *err)
{
    return npgnn_split_new(&w->split, graph, &w->split_options, &w->env, err);
}

static int split_authors(world *w, npgnn_error *err)
{
    return npgnn_split_authors(&w->split, graph, &w->env, err);
}

static int lines_open(world *w, npgnn_error *err)
{
    return npgnn_lines_open(&w->lines, path_of("split"), 0, &w->env, err);
}

static int split_load(world *w, npgnn_error *err)
{
    return npgnn_split_load(&w->split, graph, path_of("split"), &w->env, err);
}

static int trainer_new(world *w, npgnn_error *err)
{
    return npgnn_trainer_new(&w->trainer, graph, split, &w->options, &w->env, err);
}

/* The trainer has reached its end: another is needed. */
static int trainer_step(world *w, npgnn_error *err)
{
    npgnn_options o = {.size = sizeof o};
    npgnn_options_preset(&o, NULL, NULL);
    assert_int_equal(npgnn_trainer_new(&w->trainer, graph, split, &o, NULL, NULL), 0);
    return npgnn_trainer_step(&w->progress, w->trainer, err);
}

static int trainer_progress(world *w, npgnn_error *err)
{
    return npgnn_trainer_progress(&w->progress, trainer, err);
}

static int checkpoint_options(world *w, npgnn_error *err)
{
    return npgnn_checkpoint_options(&w->options, path_of("checkpoint"), &w->env, err);
}

static int model_load(world *w, npgnn_error *err)
{
    return npgnn_model_load(&w->model, path_of("model"), &w->env, err);
}

static int model_describe(world *w, npgnn_error *err)
{
    return npgnn_model_describe(&w->model_info, model, err);
}

static int model_options(world *w, npgnn_error *err)
{
    return npgnn_model_options(&w->options, model, err);
}

static int model_calibrate(world *w, npgnn_error *err)
{
    return npgnn_model_calibrate(model, split, &w->env, err);
}

static int model_embed(world *w, npgnn_error *err)
{
    return npgnn_model_embed(w->embedding, model, graph, &w->env, err);
}

static int model_embed_test(world *w, npgnn_error *err)
{
    return npgnn_model_embed_test(&w->embed_accuracy, model, graph, 1, &w->env, err);
}

static int model_adapt(world *w, npgnn_error *err)
{
    return npgnn_model_adapt(&w->model, model, graph, &w->env, err);
}

static int predictor_new(world *w, npgnn_error *err)
{
    return npgnn_predictor_new(&w->predictor, model, graph, &w->predict_options, &w->env, err);
}

static int predictor_top(world *w, npgnn_error *err)
{
    return npgnn_predictor_top(w->links, w->found, predictor, K, &w->top_options, err);
}

static int predictor_top_links(world *w, npgnn_error *err)
{
    return npgnn_predictor_top_links(w->links, w->found, predictor, K, &w->top_options, err);
}

/* What a search tells of itself. */
static int predictor_searched(world *w, npgnn_error *err)
{
    const npgnn_top_options options = {.size = sizeof options, .info = &w->search_info};
    return npgnn_predictor_top(w->links, w->found, predictor, K, &options, err);
}

static int predictor_explain(world *w, npgnn_error *err)
{
    return npgnn_predictor_explain(&w->explanation, applied, pairs[1], err);
}

static int live_new(world *w, npgnn_error *err)
{
    npgnn_live *made = NULL;
    int code = npgnn_live_new(&made, universal, graph, &w->predict_options, &w->env, err);
    npgnn_live_free(made);
    return code;
}

static int live_add_nodes(world *w, npgnn_error *err)
{
    static char name[16]; /* another one in every call */
    static int number;
    snprintf(name, sizeof name, "new %d", number++);
    w->new_node.name = name;
    int code = npgnn_live_add_nodes(live, &w->new_node, 1, err);
    w->new_node.name = NULL;
    return code;
}

static int live_describe(world *w, npgnn_error *err)
{
    return npgnn_live_describe(&w->live_info, live, err);
}

static int live_explain(world *w, npgnn_error *err)
{
    return npgnn_live_explain(&w->explanation, live, pairs[1], err);
}

static int method_score(world *w, npgnn_error *err)
{
    return npgnn_method_score(w->embedding, graph, pairs, PAIRS, &w->method_options, &w->env, err);
}

static int method_top(world *w, npgnn_error *err)
{
    return npgnn_method_top(w->links, w->found, graph, K, 0, &w->method_options, &w->top_options, &w->env, err);
}

static int estimate_fit(world *w, npgnn_error *err)
{
    return npgnn_estimate_fit(&w->cost, graph, NULL, &w->options, &w->env, err);
}

static int estimate_evaluate(world *w, npgnn_error *err)
{
    return npgnn_estimate_evaluate(&w->cost, graph, SEEDS, &w->eval_options, &w->env, err);
}

static int estimate_transfer(world *w, npgnn_error *err)
{
    return npgnn_estimate_transfer(&w->cost, graph, NULL, SEEDS, &w->transfer_options, &w->env, err);
}

static int estimate_predict(world *w, npgnn_error *err)
{
    return npgnn_estimate_predict(&w->cost, model, graph, PAIRS, &w->predict_options, &w->env, err);
}

static int estimate_top(world *w, npgnn_error *err)
{
    return npgnn_estimate_top(&w->cost, model, graph, K, 0, &w->predict_options, &w->top_options, &w->env, err);
}

static int auc_ap(world *w, npgnn_error *err)
{
    return npgnn_auc_ap(&w->numbers[0], &w->numbers[1], scores, scores + 3, 3, 3, &w->env, err);
}

static int mrr_hits(world *w, npgnn_error *err)
{
    static const int k = 2;
    return npgnn_mrr_hits(&w->numbers[0], &w->numbers[1], scores, scores + 3, 3, 3, &k, 1, &w->env, err);
}

static int paired_compare(world *w, npgnn_error *err)
{
    static const double values[2] = {0.5, 0.75}, reference[2] = {0.25, 1};
    return npgnn_paired_compare(&w->paired, values, reference, 2, 1, &w->env, err);
}

static int calibration_measure(world *w, npgnn_error *err)
{
    return npgnn_calibration_measure(&w->calibration, scores, scores + 3, 3, 3, 0.2, &w->env, err);
}

static int pairs_loss_new(world *w, npgnn_error *err)
{
    return npgnn_pairs_loss_new(&w->loss, graph, 2, 0, NPGNN_WEIGHTED, 1, &w->env, err);
}

static int model_universal(world *w, npgnn_error *err)
{
    return npgnn_model_universal(&w->model, &w->env, err);
}

static int keep_graph(void *user, const char *name, npgnn_graph *loaded)
{
    (void)name;
    ((world *)user)->graph = loaded;
    return 0;
}

static int load_each(world *w, npgnn_error *err)
{
    return npgnn_load_each("synthetic:" SPEC, keep_graph, w, 0, &w->env, err);
}

static int pretrain(world *w, npgnn_error *err)
{
    static const int family = 0;
    const npgnn_graph *all = graph;
    return npgnn_pretrain(&w->model, &all, &family, 1, &w->pretrain_options, &w->env, err);
}

/* Tests are not built with the module that it loads: E_IO says that the environment was accepted. */
static int comm_open(world *w, npgnn_error *err)
{
    npgnn_comm *comm = NULL;
    int code = npgnn_comm_open(&comm, &w->env, err);
    npgnn_comm_free(comm);
    return code == NPGNN_E_IO ? 0 : code;
}

static int comm_simulate(world *w, npgnn_error *err)
{
    npgnn_comm *comm = NULL;
    int code = npgnn_comm_simulate(&comm, 1, &w->env, err);
    npgnn_comm_free(comm);
    return code;
}

static int comm_describe(world *w, npgnn_error *err)
{
    return npgnn_comm_describe(&w->comm_info, NULL, err);
}

/* The structs of each call, in the order of its arguments. */
#define CALL(name, uses)                                                                                               \
    {                                                                                                                  \
        "npgnn_" #name, name, uses                                                                                     \
    }
static const struct {
    const char *name;
    call *work;
    const char *uses;
} calls[] = {
    CALL(options_preset, "options"),
    CALL(options_set, "options"),
    CALL(options_get, "options"),
    CALL(options_uses, "options"),
    CALL(load, "load_options env"),
    CALL(fit, "options env"),
    CALL(predict, "predict_options env"),
    CALL(split_options_default, "split_options"),
    CALL(evaluate, "eval_run eval_options env"),
    CALL(transfer, "eval_run transfer_options env"),
    CALL(test, "eval_run test_counts test_options env"),
    CALL(graph_from_arrays, "env"),
    CALL(graph_from_csr, "env"),
    CALL(graph_new, "graph_data env"),
    CALL(graph_synthetic, "env"),
    CALL(graph_describe, "graph_info"),
    CALL(split_new, "split_options env"),
    CALL(split_authors, "env"),
    CALL(lines_open, "env"),
    CALL(split_load, "env"),
    CALL(trainer_new, "options env"),
    CALL(trainer_step, "progress"),
    CALL(trainer_progress, "progress"),
    CALL(checkpoint_options, "options env"),
    CALL(model_load, "env"),
    CALL(model_describe, "model_info"),
    CALL(model_options, "options"),
    CALL(model_calibrate, "env"),
    CALL(model_embed, "env"),
    CALL(model_embed_test, "embed_accuracy env"),
    CALL(model_adapt, "env"),
    CALL(predictor_new, "predict_options env"),
    CALL(predictor_top, "top_options"),
    CALL(predictor_top_links, "top_options"),
    CALL(predictor_searched, "search_info"),
    CALL(predictor_explain, "explanation"),
    CALL(live_new, "predict_options env"),
    CALL(live_add_nodes, "new_node"),
    CALL(live_describe, "live_info"),
    CALL(live_explain, "explanation"),
    CALL(method_score, "method_options env"),
    CALL(method_top, "method_options top_options env"),
    CALL(estimate_fit, "cost options env"),
    CALL(estimate_evaluate, "cost eval_options env"),
    CALL(estimate_transfer, "cost transfer_options env"),
    CALL(estimate_predict, "cost predict_options env"),
    CALL(estimate_top, "cost predict_options top_options env"),
    CALL(auc_ap, "env"),
    CALL(mrr_hits, "env"),
    CALL(calibration_measure, "env"),
    CALL(paired_compare, "paired env"),
    CALL(pairs_loss_new, "env"),
    CALL(model_universal, "env"),
    CALL(load_each, "env"),
    CALL(pretrain, "pretrain_options env"),
    CALL(comm_open, "env"),
    CALL(comm_simulate, "env"),
    CALL(comm_describe, "comm_info"),
};

/* Whether `uses` has the word `name`. */
static int has_word(const char *uses, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = uses; (at = strstr(at, name)); at += length)
        if ((at == uses || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return 1;
    return 0;
}

/* ---- sizes that cannot be ---- */

/* Refused with the name of the struct, nothing written. */
static void check_refused(size_t which, call *work, const char *caller, size_t size)
{
    static world w, before;
    npgnn_error err = {0};
    char words[64];
    world_begin(&w);
    memcpy((char *)&w + structs[which].at, &size, sizeof size);
    memcpy(&before, &w, sizeof w);
    int code = work(&w, &err);
    snprintf(words, sizeof words, "struct %s is %zu", structs[which].type, size);
    if (code != NPGNN_E_ARGUMENT || err.code != code || !strstr(err.text, words))
        fail_msg("%s, %s of %zu bytes: %d, '%s'", caller, structs[which].type, size, code, err.text);
    npgnn_trainer_free(w.trainer); /* trainer_step made one */
    w.trainer = NULL;
    assert_memory_equal(&w, &before, sizeof w);
    world_end(&w);
}

static void test_refusals(void **state)
{
    (void)state;
    static const size_t bad[] = {0, 4, sizeof(size_t), sizeof(size_t) + 1};
    for (size_t c = 0; c < COUNT(calls); c++)
        for (size_t s = 0; s < COUNT(structs); s++)
            for (size_t b = 0; b < COUNT(bad) && has_word(calls[c].uses, structs[s].name); b++)
                check_refused(s, calls[c].work, calls[c].name, bad[b]);
    /* structs that others point to */
    const size_t options = 2, split_options = 5;
    assert_string_equal(structs[options].name, "options");
    assert_string_equal(structs[split_options].name, "split_options");
    call *const with_model[] = {evaluate, transfer, estimate_evaluate, estimate_transfer};
    for (size_t c = 0; c < COUNT(with_model); c++)
        check_refused(options, with_model[c], "model", 0);
    check_refused(split_options, evaluate, "split", 0);
    check_refused(split_options, estimate_evaluate, "split", 0);
}

/* The same calls do work with the right sizes: it is the size that was refused. */
static void test_right_sizes(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(calls); c++) {
        static world w;
        npgnn_error err = {0};
        world_begin(&w);
        int code = calls[c].work(&w, &err);
        if (code)
            fail_msg("%s: %d, %s", calls[c].name, code, err.text);
        world_end(&w);
    }
}

/* ---- results ---- */

/* Calls `work` with a result struct of `size` bytes amid garbage. Its bytes up to `compared` must be as in `complete`,
 * those past its end garbage still. */
static void check_written(size_t which, call *work, const char *caller, size_t size, size_t compared,
                          const char *complete)
{
    static world w;
    npgnn_error err = {0};
    char *at = (char *)&w + structs[which].at;
    size_t room = structs[which].size + sizeof w.after_env;
    world_begin(&w);
    memset(at, GARBAGE, room);
    memcpy(at, &size, sizeof size);
    int code = work(&w, &err);
    if (code)
        fail_msg("%s, %s of %zu bytes: %d, %s", caller, structs[which].type, size, code, err.text);
    size_t kept;
    memcpy(&kept, at, sizeof kept);
    assert_int_equal(kept, size);
    compared = compared < size ? compared : size;
    compared = compared < structs[which].size ? compared : structs[which].size;
    assert_memory_equal(at + sizeof size, complete + sizeof size, compared - sizeof size);
    for (size_t i = size; i < room; i++)
        if ((unsigned char)at[i] != GARBAGE)
            fail_msg("%s, %s of %zu bytes: byte %zu was written", caller, structs[which].type, size, i);
    world_end(&w);
}

/* With every size that a program can have: from one member to 16 bytes more than this version knows. */
static void check_result(const char *name, call *work, size_t compared)
{
    static world w;
    npgnn_error err = {0};
    size_t which = 0;
    while (strcmp(structs[which].name, name) != 0)
        which++;
    world_begin(&w);
    memset((char *)&w + structs[which].at + sizeof(size_t), 0, structs[which].size - sizeof(size_t));
    assert_ok(work(&w, &err), err);
    char *complete = malloc(structs[which].size);
    assert_non_null(complete);
    memcpy(complete, (char *)&w + structs[which].at, structs[which].size);
    world_end(&w);
    for (size_t size = 2 * sizeof(size_t); size <= structs[which].size + 16; size += sizeof(size_t))
        check_written(which, work, name, size, compared, complete);
    free(complete);
}

static int test_counts_of(world *w, npgnn_error *err)
{
    return npgnn_test(&w->eval_run, &w->test_counts, model, graph, pairs, PAIRS, PAIRS, NULL, NULL, err);
}

static int one_seed(world *w, npgnn_error *err)
{
    return npgnn_evaluate(&w->eval_run, graph, 1, &w->eval_options, &w->env, err);
}

static void test_results(void **state)
{
    (void)state;
    const size_t all = SIZE_MAX, none = sizeof(size_t); /* what is compared: times differ from run to run */
    check_result("graph_info", graph_describe, all);
    check_result("model_info", model_describe, all);
    check_result("progress", trainer_progress, offsetof(npgnn_progress, seconds));
    check_result("options", options_preset, all);
    check_result("options", model_options, all);
    check_result("options", checkpoint_options, all);
    check_result("split_options", split_options_default, all);
    check_result("test_counts", test_counts_of, all);
    check_result("paired", paired_compare, all);
    check_result("eval_run", test_counts_of, offsetof(npgnn_eval_run, train_seconds));
    check_result("eval_run", one_seed, offsetof(npgnn_eval_run, train_seconds));
    check_result("explanation", predictor_explain, all);
    check_result("explanation", live_explain, none);
    check_result("live_info", live_describe, all);
    check_result("embed_accuracy", model_embed_test, all);
    check_result("search_info", predictor_searched, offsetof(npgnn_search_info, recall)); /* NaN from there on */
    check_result("cost", estimate_fit, none);
    check_result("cost", estimate_predict, none);
}

/* An array of results has the stride of its first element's size. */
static void check_array(call *work, size_t count, size_t stride)
{
    static world right, w;
    npgnn_error err = {0};
    npgnn_eval_run *complete = &right.eval_run;
    char *at = (char *)&w.eval_run;
    world_begin(&right);
    assert_ok(work(&right, &err), err);
    world_begin(&w);
    memset(at, GARBAGE, sizeof w.eval_run + sizeof w.after_eval_run);
    memcpy(at, &stride, sizeof stride);
    assert_ok(work(&w, &err), err);
    size_t known = stride < sizeof *complete ? stride : offsetof(npgnn_eval_run, train_seconds);
    for (size_t i = 0; i < count; i++) {
        size_t size;
        memcpy(&size, at + i * stride, sizeof size);
        assert_int_equal(size, stride);
        assert_memory_equal(at + i * stride + sizeof size, (char *)&complete[i] + sizeof size, known - sizeof size);
        for (size_t b = sizeof *complete; b < stride; b++)
            assert_int_equal((unsigned char)at[i * stride + b], GARBAGE);
    }
    assert_int_equal((unsigned char)at[count * stride], GARBAGE);
    world_end(&right);
    world_end(&w);
}

static void test_arrays(void **state)
{
    (void)state;
    const size_t strides[] = {offsetof(npgnn_eval_run, mrr), offsetof(npgnn_eval_run, calibration),
                              sizeof(npgnn_eval_run), sizeof(npgnn_eval_run) + 16};
    for (size_t i = 0; i < COUNT(strides); i++) {
        check_array(evaluate, SEEDS, strides[i]);
        check_array(transfer, SEEDS * NPGNN_TRANSFER_WAYS, strides[i]);
    }
}

/* ---- options ---- */

/* Options of an older program, with garbage where newer members are: those have their defaults. */
static void test_model_options(void **state)
{
    (void)state;
    npgnn_options best = rich_network(), standard = {.size = sizeof standard};
    npgnn_error err = {0};
    assert_ok(npgnn_options_preset(&standard, NULL, &err), err);
    for (size_t size = 2 * sizeof(size_t); size <= sizeof best; size += sizeof(size_t)) {
        npgnn_options given;
        npgnn_trainer *made = NULL;
        memset(&given, GARBAGE, sizeof given);
        memcpy(&given, &best, size);
        given.size = size;
        assert_ok(npgnn_trainer_new(&made, graph, split, &given, NULL, &err), err);
        const char *asked = (const char *)&made->asked;
        assert_int_equal(made->asked.size, sizeof best);
        assert_memory_equal(asked + sizeof size, (char *)&best + sizeof size, size - sizeof size);
        assert_memory_equal(asked + size, (char *)&standard + size, sizeof best - size);
        npgnn_trainer_free(made);
    }
}

/* Keys of members that an older program does not have are unknown to it, and its memory behind them stays. */
static void test_keys(void **state)
{
    (void)state;
    npgnn_option_info info;
    npgnn_options complete = {.size = sizeof complete};
    npgnn_options_preset(&complete, NULL, NULL);
    for (size_t size = 2 * sizeof(size_t); size <= sizeof complete; size += sizeof(size_t)) {
        int known = 0, unknown = 0;
        for (int i = 0; npgnn_options_info(&info, i); i++) {
            char value[64];
            npgnn_options older, before;
            npgnn_error err = {0};
            npgnn_options_get(value, sizeof value, &complete, info.key, NULL);
            memset(&older, GARBAGE, sizeof older);
            memcpy(&older, &complete, size);
            older.size = size;
            memcpy(&before, &older, sizeof before);
            int code = npgnn_options_set(&older, info.key, value, &err);
            assert_memory_equal(&older, &before, sizeof before);
            assert_int_equal(npgnn_options_get(value, sizeof value, &older, info.key, NULL), code);
            assert_true(code == 0 || (code == NPGNN_E_ARGUMENT && strstr(err.text, "there is no option")));
            known += code == 0;
            unknown += code != 0;
        }
        assert_true(known > 0);
        assert_int_equal(unknown == 0, size == sizeof complete);
    }
}

/* An options struct of `size` bytes amid garbage does what the complete one, which has defaults there, does. */
static void make_older(void *member, size_t member_size, size_t size)
{
    memset((char *)member + size, GARBAGE, member_size - size);
    memcpy(member, &size, sizeof size);
}

/* A newer program's options have more, which this version does not look at. */
static void make_newer(void *member, size_t member_size, char *after)
{
    size_t size = member_size + 16;
    memset(after, GARBAGE, 16);
    memcpy(member, &size, sizeof size);
}

/* What a call gives, in numbers. */
static double outcome(call *work, world *w)
{
    npgnn_error err = {0};
    assert_ok(work(w, &err), err);
    double sum = w->eval_run.auc + (double)w->test_counts.drawn + (double)w->predictions[1].score;
    for (int i = 0; i < K; i++)
        sum += w->links[i].pair.v;
    if (w->split)
        sum += (double)npgnn_split_hash(w->split);
    if (w->graph)
        sum += (double)npgnn_graph_edges(w->graph);
    if (w->model)
        sum += (double)(w->model->params.block ? w->model->params.block[0] : w->model->process.params.block[0]);
    world_end(w);
    return sum;
}

static void test_other_options(void **state)
{
    (void)state;
    /* older programs know what comes before `size` */
#define INPUT(name, size)                                                                                              \
    {                                                                                                                  \
#name, offsetof(world, name), offsetof(world, after_##name), sizeof(npgnn_##name), size                        \
    }
    static const struct {
        const char *name;
        size_t at, after, size, older;
    } inputs[] = {
        INPUT(env, offsetof(npgnn_env, progress)),
        INPUT(load_options, offsetof(npgnn_load_options, features)),
        INPUT(predict_options, offsetof(npgnn_predict_options, seed)),
        INPUT(split_options, offsetof(npgnn_split_options, test)),
        INPUT(eval_options, offsetof(npgnn_eval_options, fixed)),
        INPUT(transfer_options, offsetof(npgnn_transfer_options, train_nodes)),
        INPUT(test_options, offsetof(npgnn_test_options, negative_ratio)),
        INPUT(top_options, offsetof(npgnn_top_options, from_count)),
        INPUT(pretrain_options, offsetof(npgnn_pretrain_options, seed)),
        INPUT(method_options, offsetof(npgnn_method_options, seed)),
        INPUT(graph_data, offsetof(npgnn_graph_data, weights)),
    };
#undef INPUT
    double right[COUNT(calls)]; /* the outcome of each call with structs of the right size */
    int known[COUNT(calls)] = {0};
    for (size_t i = 0; i < COUNT(inputs); i++) {
        int tried = 0;
        for (size_t c = 0; c < COUNT(calls); c++) {
            static world w;
            if (!has_word(calls[c].uses, inputs[i].name) || calls[c].work == split_options_default)
                continue;
            if (!known[c]) {
                world_begin(&w);
                right[c] = outcome(calls[c].work, &w);
                known[c] = 1;
            }
            double expected = right[c];
            world_begin(&w);
            make_older((char *)&w + inputs[i].at, inputs[i].size, inputs[i].older);
            double older = outcome(calls[c].work, &w);
            world_begin(&w);
            make_newer((char *)&w + inputs[i].at, inputs[i].size, (char *)&w + inputs[i].after);
            double newer = outcome(calls[c].work, &w);
            if (!(older == expected && newer == expected))
                fail_msg("%s with %s: %g, older %g, newer %g", calls[c].name, inputs[i].name, expected, older, newer);
            tried++;
        }
        assert_true(tried > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_right_sizes),   cmocka_unit_test(test_results),
        cmocka_unit_test(test_arrays),        cmocka_unit_test(test_model_options), cmocka_unit_test(test_keys),
        cmocka_unit_test(test_other_options),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}

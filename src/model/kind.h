/* The kinds of models, and what each can do. Nobody asks a model which kind it is: callers call its functions.
 *
 *   network   parameters trained on one graph; a score is the inner product of two embeddings
 *   process   parameters learnt across graphs, perhaps tuned on one; a score comes from the evidence of a pair
 *
 * Each function is in the folder that is named above it; jobs/kinds.c, which may include all of them, has the two tables. A
 * kind that cannot do something has a function that fails with E_ARGUMENT and says what to do instead. */
#ifndef NPI_MODEL_KIND_H
#define NPI_MODEL_KIND_H

#include <stdint.h>
#include <stdio.h>

#include "base/env.h"

enum { NPI_EMBEDDING_WIDTH = 48 }; /* of a process */

struct npi_predict_batch;
struct npi_safetensors;
struct npi_scorer;
struct npi_scorer_use;

typedef struct npi_model_kind {
    /* ---- model ---- */

    /* Whether training with these options uses the option `key`. */
    int (*uses_option)(const npgnn_options *options, const char *key);
    /* The hash of the parameters, continuing from `hash`. */
    uint64_t (*hash)(uint64_t hash, const npgnn_model *model);
    void (*free_parameters)(npgnn_model *model);

    /* ---- jobs, train: options are complete and checked, env is resolved ---- */

    int (*fit)(npgnn_model **out, npgnn_progress *last, const npgnn_graph *graph, const npgnn_split *split,
               const npgnn_options *options, const npgnn_env *env, npgnn_error *err);
    int (*calibrate)(npgnn_model *model, const npgnn_split *split, const npgnn_env *env, npgnn_error *err);

    /* ---- store ---- */

    const char *format; /* that a file names */
    /* Reads a model from a file whose header is open. */
    int (*read)(npgnn_model **out, const struct npi_safetensors *file, const npgnn_env *env);
    /* The header of its file, to be freed with free(); NULL where memory is out. */
    char *(*header)(const npgnn_model *model);
    /* Writes the tensors in the order of the header. A write that fails is noticed by npi_atomic_commit. */
    int (*write_tensors)(FILE *file, const npgnn_model *model, npgnn_error *err);

    /* ---- predict ---- */

    /* The share of all pairs that are linked, which predictions on this graph assume by themselves. */
    double (*link_rate)(const npgnn_model *model, const npgnn_graph *graph);
    /* Encodes z from another graph. */
    int (*adapt)(npgnn_model **out, const npgnn_model *model, const npgnn_graph *context, const npgnn_env *env,
                 npgnn_error *err);
    /* A predictor. Collective where env->comm has several processes, which then may divide the evidence. */
    int (*apply)(npgnn_predictor **out, const npgnn_model *model, const npgnn_graph *graph,
                 const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err);
    /* Memory for batches of `count` pairs, and the scores of a batch: see predict/predictor.h. */
    int (*batch_new)(struct npi_predict_batch *out, const npgnn_predictor *predictor, size_t count, npgnn_error *err);
    int (*score)(struct npi_predict_batch *batch, const npgnn_predictor *predictor, const npgnn_pair *pairs,
                 size_t count, npgnn_error *err);
    int (*explain)(npgnn_explanation *out, npgnn_predictor *predictor, npgnn_pair pair, npgnn_error *err);
    int (*gather)(npgnn_predictor *predictor, const npgnn_pair *pairs, size_t count, npgnn_error *err);
    void (*free_predictor)(npgnn_predictor *predictor);

    /* ---- search ---- */

    /* Makes what a search needs beyond the scores of pairs. Collective as apply. */
    int (*complete)(npgnn_predictor *predictor, npgnn_error *err);
    /* The embeddings (n, width) of all nodes, from a predictor without draws that is not divided among processes. */
    int (*embed)(float *embedding, npgnn_predictor *predictor, npgnn_error *err);
    int embedding_width; /* 0: options.output_size */
    /* Prepares searches that retrieve candidates instead of scoring all pairs; NULL: there are none. */
    int (*retrieve)(npgnn_predictor *predictor, npgnn_error *err);
    /* What scores pairs in a search (search/scorer.h). */
    int (*scorer)(struct npi_scorer *out, npgnn_predictor *predictor, const struct npi_scorer_use *use,
                  npgnn_error *err);

    /* ---- live ---- */

    /* Prepares a predictor for questions about single nodes. */
    int (*quicken)(npgnn_predictor *predictor, uint64_t seed, npgnn_error *err);
    /* Lets a predictor follow its graph, which has grown to `graph`; touched (count): nodes whose links have changed. NULL: a
     * predictor of the whole graph is made anew for each addition, and there is nothing to refresh. */
    int (*extend)(npgnn_predictor *predictor, const npgnn_graph *graph, const int32_t *touched, size_t count,
                  npgnn_error *err);
} npi_model_kind;

extern const npi_model_kind npi_network_kind, npi_process_kind;

/* The kind of model that training with these options makes. */
const npi_model_kind *npi_model_kind_of(const npgnn_options *options);

/* All kinds: those with index 0, 1, ...; NULL after the last one. */
const npi_model_kind *npi_model_kind_at(int index);

#endif

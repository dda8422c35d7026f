/* A predictor: a model applied to a graph. The calls are in predict.c; network.c and process.c have what differs by the
 * kind of the model. */
#ifndef NPI_PREDICT_PREDICTOR_H
#define NPI_PREDICT_PREDICTOR_H

#include <math.h>

#include "graph/graph.h"
#include "model/embedder.h"
#include "model/model.h"
#include "predict/applied.h"

/* Sums over the draws for one pair. */
typedef struct npi_sums {
    double probability, probability_square, log_odds, log_odds_square, score;
} npi_sums;

struct npgnn_predictor {
    npgnn_env env;    /* without comm */
    npgnn_comm *comm; /* the processes that share the questions; NULL: one */
    const npgnn_model *model;
    const npgnn_graph *graph;
    npi_features *x; /* (n, f) features of the graph, with the columns of the model */
    int samples;     /* 0: the mean of z */
    uint64_t seed;
    int threads;                 /* that answer a question; those of `env` prepared the predictor */
    npi_calibration calibration; /* with the link rate */
    size_t batch;                /* pairs scored at a time */
    /* used only by networks: */
    npi_embedder embedder; /* X W2x and, without draws, u at the mean of z */
    /* used only by processes: */
    npi_applied applied;
    struct npi_explainer *explainer; /* NULL until the first explanation */
    struct npi_retriever *retriever; /* NULL until a search by candidates (search/retrieve.h) */
    void (*retriever_free)(const npgnn_env *env, struct npi_retriever *retriever);
};

/* What a call needs to score a batch of pairs. */
typedef struct npi_predict_batch {
    float *score;          /* (heads, batch): with the heads of a process, draws are scored together */
    npi_sums *sums;        /* (batch) over the draws of z; NULL without draws */
    npi_embedder embedder; /* networks with draws: u at the current draw */
} npi_predict_batch;

/* The options of a caller, over the defaults. */
int npi_predict_options_read(npgnn_predict_options *out, const npgnn_predict_options *given, npgnn_error *err);

/* Memory for `count` pairs, scored by several heads at a time. On failure, too, it is to be freed. */
int npi_predict_batch_new(npi_predict_batch *out, const npgnn_predictor *predictor, int heads, size_t count,
                          npgnn_error *err);

/* ---- for the tables of the kinds (model/kind.h) ---- */

double npi_network_link_rate(const npgnn_model *model, const npgnn_graph *graph);
double npi_process_link_rate(const npgnn_model *model, const npgnn_graph *graph);

/* The share of links among the pairs without a known link (npi_calibration_at) that a link rate stands for, where `own` is that
 * of the graph: 0 for a rate far beyond it, which is that of other pairs, such as a list with as many links as non-links. */
static inline double npi_hidden_share(double rate, double own)
{
    return rate <= 4 * own ? rate : 0;
}

int npi_network_adapt(npgnn_model **out, const npgnn_model *model, const npgnn_graph *context, const npgnn_env *env,
                      npgnn_error *err);
int npi_process_adapt(npgnn_model **out, const npgnn_model *model, const npgnn_graph *context, const npgnn_env *env,
                      npgnn_error *err);
int npi_network_apply(npgnn_predictor **out, const npgnn_model *model, const npgnn_graph *graph,
                      const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err);
int npi_process_apply(npgnn_predictor **out, const npgnn_model *model, const npgnn_graph *graph,
                      const npgnn_predict_options *options, const npgnn_env *env, npgnn_error *err);
int npi_network_embed(float *embedding, npgnn_predictor *predictor, npgnn_error *err);
int npi_network_batch_new(npi_predict_batch *out, const npgnn_predictor *predictor, size_t count, npgnn_error *err);
int npi_process_batch_new(npi_predict_batch *out, const npgnn_predictor *predictor, size_t count, npgnn_error *err);
int npi_network_score(npi_predict_batch *batch, const npgnn_predictor *predictor, const npgnn_pair *pairs, size_t count,
                      npgnn_error *err);
int npi_process_score(npi_predict_batch *batch, const npgnn_predictor *predictor, const npgnn_pair *pairs, size_t count,
                      npgnn_error *err);
int npi_network_explain(npgnn_explanation *out, npgnn_predictor *predictor, npgnn_pair pair, npgnn_error *err);
int npi_process_explain(npgnn_explanation *out, npgnn_predictor *predictor, npgnn_pair pair, npgnn_error *err);
int npi_network_gather(npgnn_predictor *predictor, const npgnn_pair *pairs, size_t count, npgnn_error *err);
int npi_process_gather(npgnn_predictor *predictor, const npgnn_pair *pairs, size_t count, npgnn_error *err);
int npi_network_complete(npgnn_predictor *predictor, npgnn_error *err);
int npi_process_complete(npgnn_predictor *predictor, npgnn_error *err);
int npi_network_quicken(npgnn_predictor *predictor, uint64_t seed, npgnn_error *err);
int npi_process_quicken(npgnn_predictor *predictor, uint64_t seed, npgnn_error *err);
void npi_network_free_predictor(npgnn_predictor *predictor);
void npi_process_free_predictor(npgnn_predictor *predictor);

/* ---- predictors of processes ---- */

/* The heads that score a pair, and how many they are: one per draw of z, or that of its mean. */
static inline const npi_head *npi_predictor_heads(int *count, const npgnn_predictor *p)
{
    *count = p->samples > 0 ? p->samples : 1;
    return p->samples > 0 ? p->applied.draw_head : &p->applied.head;
}

/* The calibration of a draw. Those of a network have one in common. */
static inline const npi_calibration *npi_predictor_calibration(const npgnn_predictor *p, int draw)
{
    return p->applied.draws > 0 ? &p->applied.draw_calibration[draw] : &p->calibration;
}

/* Frees what explanations need (explain.c); NULL is allowed. */
void npi_explainer_free(struct npi_explainer *explainer);

/* Lets the explainer follow a graph that has gained nodes or links. What it has drawn and counted stays as it is.
 * E_MEMORY: it is freed, and the next explanation prepares a new one. */
void npi_explainer_follow(npgnn_predictor *predictor);

/* u of a draw, or -1: of the mean of z, into an embedder with the X W2x of the predictor. E_DIVERGED where a score of
 * two of these embeddings might not be finite. */
int npi_predictor_decode(npi_embedder *out, const npgnn_predictor *predictor, int draw, npgnn_error *err);

/* E_ARGUMENT unless both nodes of every pair are nodes of the graph. */
int npi_predictor_check_pairs(const npgnn_predictor *predictor, const npgnn_pair *pairs, size_t count,
                              npgnn_error *err);

/* npgnn_predictor_run for pairs of this process alone, in batches. The predictor stays as it is, so that several
 * threads may call it at once. Where the evidence is divided among processes, all of them call it, each with pairs of
 * its own, and return the same code. */
int npi_predictor_run_share(npgnn_prediction *out, const npgnn_predictor *predictor, const npgnn_pair *pairs,
                            size_t count, npgnn_error *err);

/* ---- from scores to a prediction: the same arithmetic, hence the same bits, wherever a pair is judged ---- */

static inline npgnn_prediction npi_prediction_of(const npi_calibration *calibration, float score)
{
    float probability = (float)npi_calibration_probability(calibration, (double)score);
    return (npgnn_prediction){.probability = probability, .low = probability, .high = probability, .score = score};
}

static inline void npi_sums_add(npi_sums *sums, const npi_calibration *calibration, float score)
{
    double log_odds = npi_calibration_log_odds(calibration, (double)score), probability = npi_sigmoid(log_odds);
    sums->probability += probability;
    sums->probability_square += probability * probability;
    sums->log_odds += log_odds;
    sums->log_odds_square += log_odds * log_odds;
    sums->score += (double)score;
}

static inline double npi_deviation(double sum, double square, double count)
{
    /* mean of the squares - square of the mean, which rounding may leave below 0 */
    double variance = square / count - sum / count * (sum / count);
    return sqrt(variance > 0 ? variance : 0);
}

/* Standard deviations on either side of the mean: 95 % of a normal distribution. */
#define NPI_INTERVAL 1.96

static inline npgnn_prediction npi_prediction_mean(const npi_sums *sums, int draws)
{
    /* the interval is one of log-odds, which are nearly normal, and whose ends are probabilities between 0 and 1 */
    double middle = sums->log_odds / draws,
           apart = NPI_INTERVAL * npi_deviation(sums->log_odds, sums->log_odds_square, draws);
    return (npgnn_prediction){.probability = (float)(sums->probability / draws),
                              .spread = (float)npi_deviation(sums->probability, sums->probability_square, draws),
                              .low = (float)npi_sigmoid(middle - apart),
                              .high = (float)npi_sigmoid(middle + apart),
                              .score = (float)(sums->score / draws)};
}

#endif

/* The predictor as its two users see it: the scoring of given pairs (predict.c) and the search for the best (top.c). */
#ifndef NPI_PREDICT_PREDICTOR_H
#define NPI_PREDICT_PREDICTOR_H

#include <math.h>

#include "graph/graph.h"
#include "model/evidence.h"
#include "model/model.h"
#include "model/net.h"

/* Of one pair, over the draws of z. */
typedef struct npi_sums {
    double probability, square, score;
} npi_sums;

struct npgnn_predictor {
    npgnn_env env;
    const npgnn_model *model;
    const npgnn_graph *graph;
    npi_features *x; /* of the graph, with the columns of the model */
    int samples;     /* 0: the mean of z */
    uint64_t seed;
    npi_embedder embedder; /* u of the draw at hand; without draws, of the mean */
    npi_evidence evidence;
    npi_weights weights;
    real *z;        /* (d) */
    float *score;   /* (batch) */
    float *value;   /* (columns of the evidence, batch) */
    npi_sums *sums; /* (batch) */
};

/* Brings the embeddings of a draw into predictor->embedder.u; -1: of the mean of z. */
void npi_predictor_decode(npgnn_predictor *predictor, int draw);

/* ---- from scores to a prediction: the same arithmetic, hence the same bits, wherever a pair is judged ---- */

static inline double npi_probability(double score)
{
    return 1 / (1 + exp(-score));
}

static inline npgnn_prediction npi_prediction_of(float score)
{
    return (npgnn_prediction){(float)npi_probability((double)score), 0, score};
}

static inline void npi_sums_add(npi_sums *sums, float score)
{
    double probability = npi_probability((double)score);
    sums->probability += probability;
    sums->square += probability * probability;
    sums->score += (double)score;
}

static inline npgnn_prediction npi_prediction_mean(const npi_sums *sums, int draws)
{
    double mean = sums->probability / draws, variance = sums->square / draws - mean * mean;
    return (npgnn_prediction){(float)mean, (float)sqrt(variance > 0 ? variance : 0), (float)(sums->score / draws)};
}

#endif

/* The state of a training, for trainer.c and for checkpoints. */
#ifndef NPI_TRAIN_TRAINER_H
#define NPI_TRAIN_TRAINER_H

#include "features/dropout.h"
#include "graph/context.h"
#include "model/net.h"
#include "train/adam.h"
#include "train/rehearsal.h"
#include "train/validation.h"

struct npgnn_trainer {
    npgnn_env env; /* comm NULL: one process */
    /* what the caller asked for */
    npgnn_options asked;
    const npgnn_graph *graph;
    const npgnn_split *split; /* NULL: all of the graph is known */
    uint64_t fingerprint;     /* of the graph; 0 until a checkpoint wants it */
    /* the current phase: the rehearsal, or the training proper */
    npgnn_split *rehearsal; /* what the rehearsal holds out; NULL: this is the training proper */
    int has_found;          /* 1: the rehearsal is over, and `found` is what it found */
    npi_findings found;
    npgnn_options options;
    const npgnn_graph *known; /* what training knows */
    npi_partition rows;       /* how its nodes are divided among processes; this process has, of all that is below: */
    npi_features *x;          /* the features of its nodes */
    npi_adj adj;              /* the rows of `known`; where there is one process, the pattern is borrowed */
    npi_pairs_loss loss;      /* weights of the pairs */
    npi_dropout dropout;      /* of its features, with input_dropout */
    npi_context *context;
    npi_net *net;
    npi_params params, gradient;
    npi_adam adam;
    real *epsilon; /* (samples, d) */
    real *q;       /* (2, d) */
    npi_validation val;
    npgnn_progress progress;
};

/* Puts the trainer before its first iteration: of the training proper, given what the rehearsal found; or, when that is
 * NULL, of everything, which may begin with a rehearsal. After a failure the trainer can only be freed. */
int npi_trainer_begin(npgnn_trainer *trainer, const npi_findings *found, npgnn_error *err);

#endif

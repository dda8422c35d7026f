/* What a process learns of a graph from examples (examples/context.h): z and the stacked fit, which give a head, and the
 * calibration of its scores. A draw has learnt from a random sample of the examples, with replacement, and has a draw of z: how
 * far draws are apart is how little the examples tell (the bootstrap, Efron 1979). */
#ifndef NPI_PREDICT_FIT_H
#define NPI_PREDICT_FIT_H

#include "examples/context.h"
#include "model/calibration.h"

/* Some of the examples, by their numbers; a number may occur more than once. */
typedef struct npi_picked {
    size_t *link, *other, *random; /* (links), (others), (randoms) random: non-links that are not near */
    size_t links, others, randoms;
} npi_picked;

/* All examples. E_MEMORY. */
int npi_picked_all(npi_picked *out, const npi_examples *examples, const npgnn_env *env, npgnn_error *err);

/* As many links and random non-links with replacement, and at most `most` of all non-links. A function of seed and draw.
 * E_MEMORY. */
int npi_picked_draw(npi_picked *out, const npi_picked *all, size_t most, uint64_t seed, int draw, const npgnn_env *env,
                    npgnn_error *err);
void npi_picked_free(const npgnn_env *env, npi_picked *sample);

/* Adds the stacked fit (process/stack.h) to a head, from the links of the sample and as many random non-links. E_MEMORY. */
int npi_fit_head(npi_head *head, const npi_examples *examples, const npi_picked *sample, const npgnn_env *env,
                 npgnn_error *err);

/* Calibrates a head. Examples of known nodes have scores from fewer links than there are: these are carried (model/carry.h) to
 * the graph with all links, from which `again` (examples->others, e) is the evidence of the non-links. E_MEMORY. */
int npi_fit_calibration(npi_calibration *out, const npi_head *head, const npi_examples *examples,
                        const npi_picked *sample, const float *again, const npgnn_env *env, npgnn_error *err);

#endif

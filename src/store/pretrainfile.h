/* Checkpoints of pretraining: safetensors with the parameters, the moments of Adam and a checksum
 * (docs/use/formats.md). With the same corpus, seed and number of steps, the training resumes to the same bits: random
 * numbers are functions of seed and step. */
#ifndef NPI_STORE_PRETRAINFILE_H
#define NPI_STORE_PRETRAINFILE_H

#include "train/pretrain.h"

/* What must be the same for a training to be resumed. */
typedef struct npi_pretrain_identity {
    int steps;
    uint64_t seed;
    uint64_t corpus; /* hash of the graphs and their families */
} npi_pretrain_identity;

/* Writes the state at `path`, atomically; the file before becomes PATH.prev. */
int npi_pretrain_write(const npi_pretrain_state *state, const npi_pretrain_identity *identity, const char *path,
                       npgnn_error *err);

/* Fills a state of the same sizes; with NULL, only checks that the file can be resumed from. E_MISMATCH where the
 * training is another one; the state is untouched then. */
int npi_pretrain_read(npi_pretrain_state *state, const npi_pretrain_identity *identity, const char *path,
                      const npgnn_env *env, npgnn_error *err);

#endif

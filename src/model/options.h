/* Reading and checking the options of a caller. */
#ifndef NPI_MODEL_OPTIONS_H
#define NPI_MODEL_OPTIONS_H

#include "base/error.h"

/* The widest layer that the options allow. Buffers on the stack have this size. */
#define NPI_MAX_WIDTH 4096

/* The most draws of z at prediction, each of which is held in memory: a model file must not ask for gigabytes. */
#define NPI_MOST_DRAWS 1000

/* The options that a caller gave, over the defaults; NULL: the defaults. E_ARGUMENT as below. */
int npi_options_read(npgnn_options *out, const npgnn_options *given, npgnn_error *err);

/* E_ARGUMENT naming the first option that is out of its range. */
int npi_options_check(const npgnn_options *options, npgnn_error *err);

/* Hash of the values of all options. */
uint64_t npi_options_hash(const npgnn_options *options);

/* ---- for the tables of the kinds (model/kind.h) ---- */

int npi_network_uses_option(const npgnn_options *options, const char *key);
int npi_process_uses_option(const npgnn_options *options, const char *key);

#endif

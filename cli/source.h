/* Where scores come from: a predictor of a model, or a method that needs no model. */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include <npgnn/npgnn.h>

typedef struct link_source {
    const npgnn_graph *graph;
    npgnn_predictor *predictor; /* NULL: */
    npgnn_method_options method;
    npgnn_env env;    /* of the method */
    npgnn_comm *comm; /* of the predictor */
    int retrieves;    /* 1: one process can search among candidates */
} link_source;

/* Each returns the code of the library. Predictions of a method have a score and no probability. */
int source_run(npgnn_prediction *out, const link_source *source, const npgnn_pair *pairs, size_t count,
               npgnn_error *err);
int source_top(npgnn_link *out, int32_t *found, const link_source *source, int32_t k, const npgnn_top_options *options,
               npgnn_error *err);
int source_top_links(npgnn_link *out, int32_t *found, const link_source *source, int32_t k,
                     const npgnn_top_options *options, npgnn_error *err);

/* Whether a search can retrieve candidates. */
int source_retrieves(const link_source *source);

#endif

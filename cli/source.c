/* Scores of pairs and the best links, from a model or from a method. */
#include "source.h"

#include <math.h>
#include <stdlib.h>

int source_run(npgnn_prediction *out, const link_source *source, const npgnn_pair *pairs, size_t count,
               npgnn_error *err)
{
    if (source->predictor)
        return npgnn_predictor_run(out, source->predictor, pairs, count, err);
    float *score = calloc(count + 1, sizeof *score);
    if (!score) {
        *err = (npgnn_error){.code = NPGNN_E_MEMORY, .text = "out of memory"};
        return NPGNN_E_MEMORY;
    }
    int code = npgnn_method_score(score, source->graph, pairs, count, &source->method, &source->env, err);
    for (size_t i = 0; code == 0 && i < count; i++)
        out[i] = (npgnn_prediction){NAN, NAN, NAN, NAN, score[i]};
    free(score);
    return code;
}

int source_top(npgnn_link *out, int32_t *found, const link_source *source, int32_t k, const npgnn_top_options *options,
               npgnn_error *err)
{
    if (source->predictor)
        return npgnn_predictor_top(out, found, source->predictor, k, options, err);
    return npgnn_method_top(out, found, source->graph, k, 0, &source->method, options, &source->env, err);
}

int source_top_links(npgnn_link *out, int32_t *found, const link_source *source, int32_t k,
                     const npgnn_top_options *options, npgnn_error *err)
{
    if (source->predictor)
        return npgnn_predictor_top_links(out, found, source->predictor, k, options, err);
    return npgnn_method_top(out, found, source->graph, k, 1, &source->method, options, &source->env, err);
}

int source_retrieves(const link_source *source)
{
    return source->retrieves && !source->comm;
}

/* Embeddings of a process: short vectors whose plain inner products rank. */
#include "search/vectors.h"

int npi_process_embed(float *embedding, npgnn_predictor *p, npgnn_error *err)
{
    const size_t n = (size_t)p->graph->n;
    npi_vectors v;
    if (n == 0)
        return 0;
    int code = npi_process_complete(p, err);
    if (!code)
        code = npi_vectors_new(&v, p, NPI_VECTORS_EMBED, err);
    if (code)
        return code;
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < NPI_EMBEDDING_WIDTH; c++)
            embedding[i * NPI_EMBEDDING_WIDTH + (size_t)c] =
                c < v.width ? (float)v.row[i * (size_t)v.width + (size_t)c] : 0;
    npi_vectors_free(&p->env, &v);
    return 0;
}

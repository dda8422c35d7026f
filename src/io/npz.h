/* numpy .npz files: zip archives of .npy arrays. The array PREFIX KEY is the member PREFIXKEY.npy of the archive. */
#ifndef NPI_IO_NPZ_H
#define NPI_IO_NPZ_H

#include "io/npy.h"
#include "io/readers.h"
#include "io/zip.h"

int npi_npz_has(const npi_zip *zip, const char *prefix, const char *key);

/* The first of the keys (NULL-terminated) that the archive has, NULL where it has none. */
const char *npi_npz_first(const npi_zip *zip, const char *const keys[]);

/* Opens an array as a stream. */
int npi_npz_stream(npi_stream **out, npi_zip *zip, const char *prefix, const char *key, npgnn_error *err);

/* The same, with its header read and checked: an array that is to be kept in memory may not be out of proportion to
 * the archive, which compression would allow (npi_table_check_size). */
int npi_npz_open(npi_stream **out, npi_npy_header *array, npi_zip *zip, const char *prefix, const char *key,
                 npgnn_error *err);
/* All integers of an array, which the caller frees. */
int npi_npz_read_ints(int64_t **out, npi_npy_header *array, npi_zip *zip, const char *prefix, const char *key,
                      npgnn_error *err);

/* The non-zero entries of a sparse matrix as scipy.sparse.save_npz writes it (csr, csc or coo). */
int npi_npz_read_sparse(npi_triples *out, int32_t *rows, int32_t *cols, npi_zip *zip, const char *prefix,
                        npgnn_error *err);

/* ---- whole graphs ---- */

/* Reads a whole graph. The names of the arrays tell which kind it is:
 *
 *  - adj_data, adj_indices, ... and attr_...: GNN benchmark graphs (Shchur et al., arXiv:1811.05868);
 *  - edge_index or edges, with x or features: a list of edges;
 *  - data, indices, ..., format: one sparse matrix of scipy, the adjacency.
 *
 * `table` gets rows where the file has features, labels or node names. */
int npi_npz_read_graph(npi_edge_list *list, npi_table *table, npi_stream *stream, npgnn_error *err);

#endif

/* numpy's .npz files: zip archives of arrays. An array is called PREFIX + KEY here; in the archive ".npy" follows. */
#ifndef NPI_IO_NPZ_H
#define NPI_IO_NPZ_H

#include "io/npy.h"
#include "io/readers.h"
#include "io/zip.h"

int npi_npz_has(const npi_zip *zip, const char *prefix, const char *key);

/* The first of the keys that the archive has, NULL for none. */
const char *npi_npz_first(const npi_zip *zip, const char *const keys[]);

int npi_npz_stream(npi_stream **out, npi_zip *zip, const char *prefix, const char *key, npgnn_error *err);

/* An array that is to be kept in memory, its header read. An array of ones packs a thousandfold, but the others of its file do
 * not: it is refused where it is out of proportion to the archive. */
int npi_npz_open(npi_stream **out, npi_npy_header *array, npi_zip *zip, const char *prefix, const char *key,
                 npgnn_error *err);
int npi_npz_read_ints(int64_t **out, npi_npy_header *array, npi_zip *zip, const char *prefix, const char *key,
                      npgnn_error *err);

/* A sparse matrix as scipy's save_npz writes it, csr, csc or coo: its entries that are not zero. */
int npi_npz_read_sparse(npi_triples *out, int32_t *rows, int32_t *cols, npi_zip *zip, const char *prefix,
                        npgnn_error *err);

/* ---- whole graphs ---- */

/* What the names of the arrays say the file is:
 *  - scipy.sparse.save_npz: one matrix, the links;
 *  - adj_data, adj_indices, ... and attr_...: the graphs of the GNN benchmarks (Shchur et al., arXiv:1811.05868);
 *  - edge_index or edges, with x or features: lists of edges.
 * `table` gets rows where the file has features or names of nodes. */
int npi_npz_read_graph(npi_edge_list *list, npi_table *table, npi_stream *stream, npgnn_error *err);

#endif

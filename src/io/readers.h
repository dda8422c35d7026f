/* The readers of edge lists, feature tables and label files, each on a stream, and how they make a graph together. */
#ifndef NPI_IO_READERS_H
#define NPI_IO_READERS_H

#include "graph/graph.h"
#include "io/locate.h"
#include "io/rows.h"
#include "io/stream.h"

/* A header may declare so many times more rows or columns than the file has elements: what it makes us reserve stays in
 * proportion to the file. Below NPI_UNCHECKED_SIZE anything goes. */
#define NPI_MAX_SPARSITY 64
#define NPI_UNCHECKED_SIZE (1 << 20)

/* ---- edges ---- */

typedef struct npi_edge_list {
    npgnn_env env;
    int weighted;      /* 1: weights are wanted */
    int other_weights; /* 1: there are some besides 1 */
    npgnn_pair *pairs; /* ids as the file has them, or indices into names */
    float *weights;    /* (count) where they are wanted, NULL otherwise */
    size_t capacity, weight_capacity;
    int64_t count;
    npi_names *names;     /* NULL: every id is an integer from 0 to INT32_MAX - 1, written plainly */
    int32_t largest;      /* such id, -1 where there is none */
    int64_t largest_line; /* where it stands */
    int64_t name_line;    /* where the first id stands that is no such integer */
    int32_t nodes;        /* what the file itself says, 0: nothing */
    int directed;         /* the file says so */
} npi_edge_list;

/* An empty list. */
npi_edge_list npi_edges_start(const npgnn_env *env, int weighted);

/* Two ids a line, or a Matrix Market file, into an empty list, which is the caller's to free also on failure. */
int npi_edges_read_text(npi_edge_list *list, npi_stream *stream, npgnn_error *err);

/* E_FORMAT for a weight that is not positive and finite, where weights are wanted. */
int npi_edges_add(npi_edge_list *list, npgnn_pair edge, float weight, npi_stream *stream, npgnn_error *err);

/* The same with ids as a file spells them. */
int npi_edges_add_ids(npi_edge_list *list, const char *from, const char *to, float weight, npi_stream *stream,
                      npgnn_error *err);

/* Turns integer ids into names, by first appearance; adds to `names` when that is not NULL (and shares it). */
int npi_edges_to_names(npi_edge_list *list, npi_names *names, npgnn_error *err);
void npi_edges_free(npi_edge_list *list);

/* ---- features ---- */

typedef struct npi_table {
    npi_csr x;
    npi_names *names;   /* id of each row, NULL: rows are the nodes 0, 1, 2... */
    npi_names *columns; /* name of each column, NULL: none */
    int open;           /* the file does not tell how many columns there are: more may follow, all zero */
    int32_t *label;     /* (x.rows) or NULL */
    int32_t classes;
} npi_table;

/* Chooses the format by the name of the stream, then by its content. */
int npi_table_read(npi_table *out, npi_stream *stream, npgnn_error *err);
int npi_table_read_csv(npi_table *out, npi_stream *stream, npgnn_error *err);
int npi_table_read_svmlight(npi_table *out, npi_stream *stream, npgnn_error *err);
int npi_table_read_npy(npi_table *out, npi_stream *stream, npgnn_error *err);
int npi_table_read_npz(npi_table *out, npi_stream *stream, npgnn_error *err);
int npi_table_read_mtx(npi_table *out, npi_stream *stream, npgnn_error *err);
void npi_table_free(const npgnn_env *env, npi_table *table);

/* A line a node, numbers only: no ids, no header, no label, whatever they look like. */
int npi_table_read_plain(npi_table *out, npi_stream *stream, npgnn_error *err);

/* Gives an empty table rows without columns. */
int npi_table_empty(npi_table *out, int32_t rows, const npgnn_env *env, npgnn_error *err);

/* E_FORMAT for sizes out of proportion to the elements, see NPI_MAX_SPARSITY. */
int npi_table_check_size(npi_stream *stream, int64_t rows, int64_t cols, int64_t elements, npgnn_error *err);

/* ---- names of columns ---- */

typedef struct npi_column_names {
    npi_names *names;
    int32_t count;       /* added */
    const char *trouble; /* why they are of no use, NULL: they are */
} npi_column_names;

int npi_column_names_add(npi_column_names *columns, const char *name, const npgnn_env *env, npgnn_error *err);

/* The names; NULL where there are none, or, with a notice, where they do not tell the columns apart. Leaves `columns` empty. */
npi_names *npi_column_names_take(npi_column_names *columns, const char *file, const npgnn_env *env);
void npi_column_names_free(npi_column_names *columns);

/* ---- elements in any order ---- */

typedef struct npi_triple {
    int32_t row, col;
    float val;
} npi_triple;

typedef struct npi_triples {
    npi_triple *items;
    size_t count, capacity;
} npi_triples;

int npi_triples_add(npi_triples *triples, int32_t row, int32_t col, float val, const npgnn_env *env, npgnn_error *err);

/* The matrix of the triples; the stream gives its name to errors. */
int npi_triples_to_csr(npi_csr *out, const npi_triples *triples, int32_t rows, int32_t cols, npi_stream *stream,
                       npgnn_error *err);

/* ---- Matrix Market ---- */

typedef struct npi_mtx {
    int array, pattern, symmetric;
    int32_t rows, cols;
    int64_t entries; /* that follow */
} npi_mtx;

/* 1 when the stream begins with "%%MatrixMarket". */
int npi_mtx_detect(const npi_stream *stream);
int npi_mtx_read_header(npi_mtx *out, npi_stream *stream, npgnn_error *err);

/* The next entry, counted from 0; also checks that there are as many as announced. Returns 1, or 0 after the last. */
int npi_mtx_read_entry(npi_triple *entry, npi_mtx *mtx, npi_stream *stream, npgnn_error *err);

/* ---- labels ---- */

/* Class labels as they come: the text of each node's, "" for none. */
typedef struct npi_labels {
    npi_names *texts;
    int32_t *of; /* index in texts, -1: none */
    size_t count, capacity;
} npi_labels;

int npi_labels_add(npi_labels *labels, const char *text, const npgnn_env *env, npgnn_error *err);

/* Integers stay what they are; other labels are numbered by first appearance. `labels` is empty afterwards. */
void npi_labels_take(int32_t **label, int32_t *classes, npi_labels *labels, const npgnn_env *env);
void npi_labels_free(npi_labels *labels, const npgnn_env *env);

/* A label a line, for the nodes 0, 1, 2...; "nan" is none. */
int npi_labels_read_plain(int32_t **label, int32_t *classes, npi_stream *stream, int32_t n, npgnn_error *err);

/* Lines of an id, first, and a label, last, into `label` (n), which becomes -1 elsewhere. */
int npi_labels_read(int32_t **label, int32_t *classes, npi_stream *stream, const npi_names *names, int32_t n,
                    npgnn_error *err);

/* ---- together ---- */

/* GraphML: nodes with their numbers as features, and edges. */
int npi_graphml_detect(const npi_stream *stream);
int npi_graphml_read(npi_edge_list *edges, npi_table *table, npi_stream *stream, npgnn_error *err);

/* JSON: an edge a line, {"source": "a", "target": "b", "weight": 2}; features as {"node": [columns that are 1], ...}. */
int npi_json_detect(const npi_stream *stream);
int npi_json_read_edges(npi_edge_list *edges, npi_stream *stream, npgnn_error *err);
int npi_table_read_json(npi_table *out, npi_stream *stream, npgnn_error *err);

/* A file of edges, of any format, and what it has besides: rows in `table`, which stays empty where there are none. Both are
 * the caller's to free, also on failure. */
int npi_edges_read_any(npi_edge_list *edges, npi_table *table, npi_stream *stream, npgnn_error *err);

/* The graph of the files at a location. */
int npi_location_load(npgnn_graph **out, const npi_location *where, int weighted, const npgnn_env *env,
                      npgnn_error *err);

/* The graph of what was read; takes over table's content, also on failure. `table` NULL: no features. The streams give
 * their names to errors; `labels` may be NULL. */
int npi_edges_to_graph(npgnn_graph **out, npi_edge_list *edges, const char *edges_name, npi_table *table,
                       npi_stream *labels, const npgnn_env *env, npgnn_error *err);

#endif

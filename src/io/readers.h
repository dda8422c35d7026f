/* The readers of edges, feature tables and labels, and how their results become a graph.
 *
 * Every reader takes an npi_stream, so that it can read from a file or from memory, and reports errors with file and
 * line. Nothing that a file declares makes a reader reserve much more memory than the file is long
 * (npi_table_check_size). */
#ifndef NPI_IO_READERS_H
#define NPI_IO_READERS_H

#include "graph/graph.h"
#include "io/locate.h"
#include "io/rows.h"
#include "io/stream.h"

/* ---- rows that are left out ---- */

/* Counts rows or cells that cannot be used (npgnn_load_options.skip_bad_rows). */
enum { NPI_SKIPPED_LINES = 5 };
typedef struct npi_skipped {
    int64_t count;
    int64_t lines[NPI_SKIPPED_LINES]; /* of the first ones, 0: not known */
    char first[256];                  /* what is wrong with the first */
} npi_skipped;

/* What becomes of a row that failed with `code`: where it is the row's fault and bad rows are to be skipped, it is
 * counted and 0 returned, otherwise `code`. */
int npi_skipped_add(npi_skipped *skipped, int code, const npgnn_load_options *how, npgnn_error *err);

/* Logs how many there were, where, and what is wrong with the first: "FILE:LINE: ONE: reason", or "FILE: MANY: count
 * (lines ...); the first: reason". */
void npi_skipped_log(const npi_skipped *skipped, const char *one, const char *many, const char *file,
                     const npgnn_env *env);

/* ---- feature tables ---- */

typedef struct npi_table {
    npi_csr x;
    npi_names *names;       /* id of each row; NULL: row i is node i */
    int numbered;           /* 1: row i is node i although rows have ids; 0: nodes are numbered in the order of ids */
    int64_t *line;          /* (x.rows) where each row begins in its file; NULL: not known */
    npi_names *columns;     /* name of each column; NULL: they have none */
    npi_encoding *encoding; /* how the columns were made; NULL: they are the numbers of the file */
    int open;               /* 1: the file does not state the number of columns; further ones, all zero, may follow */
    int32_t *label;         /* (x.rows) class of each row, -1: none; NULL: there are no labels */
    int32_t classes;
    unsigned char *side; /* (x.rows) of a two-sided graph that was saved as one; NULL: one-sided */
} npi_table;

typedef struct npi_edge_list npi_edge_list;

/* Chooses the format by the extension of the stream's name, then by its first bytes. `how` says how text is read; NULL:
 * the defaults. `edges`, whose ids tell which column has the ids, may be NULL. `side` is that of a two-sided graph, 0
 * or 1. */
int npi_table_read(npi_table *out, npi_stream *stream, const npgnn_load_options *how, const npi_edge_list *edges,
                   int side, npgnn_error *err);
int npi_table_read_csv(npi_table *out, npi_stream *stream, const npgnn_load_options *how, const npi_edge_list *edges,
                       int side, npgnn_error *err);
int npi_svmlight_detect(const npi_stream *stream);
int npi_table_read_svmlight(npi_table *out, npi_stream *stream, npgnn_error *err);
int npi_table_read_npy(npi_table *out, npi_stream *stream, npgnn_error *err);
int npi_table_read_npz(npi_table *out, npi_stream *stream, npgnn_error *err);
int npi_table_read_mtx(npi_table *out, npi_stream *stream, npgnn_error *err);
int npi_table_read_json(npi_table *out, npi_stream *stream, npgnn_error *err);

/* Text in which every field is a number, and a feature: no ids, no header and no labels are looked for. */
int npi_table_read_plain(npi_table *out, npi_stream *stream, npgnn_error *err);

/* Logs a column that rules the features of a file of numbers, which are not scaled. */
int npi_table_log_dominant(const npi_table *table, const char *what, const npgnn_env *env, npgnn_error *err);

/* Adds rows of zeros up to n, for nodes that only edges have. */
int npi_table_extend(npi_table *table, int32_t n, const npgnn_env *env, npgnn_error *err);

/* Moves each row i, its line, its label and its side to place[i]. */
int npi_table_permute(npi_table *table, const int32_t *place, const npgnn_env *env, npgnn_error *err);

/* Gives an empty table `rows` rows and no columns. */
int npi_table_empty(npi_table *out, int32_t rows, const npgnn_env *env, npgnn_error *err);

/* A table may have at most NPI_MAX_SPARSITY times as many rows or columns as stored elements, and always
 * NPI_UNCHECKED_SIZE: the memory that a short file can make us reserve stays in proportion to its length. E_FORMAT
 * beyond. */
#define NPI_MAX_SPARSITY 64
#define NPI_UNCHECKED_SIZE (1 << 20)
int npi_table_check_size(npi_stream *stream, int64_t rows, int64_t cols, int64_t elements, npgnn_error *err);

void npi_table_free(const npgnn_env *env, npi_table *table);

/* Whether features that were made by this encoding can be used: E_MISMATCH where it is of another number of columns, or
 * where the caller wants another (npgnn_load_options.encoding), because features cannot be made again. */
int npi_encoding_accept(const npi_encoding *encoding, int32_t columns, const char *wanted, const char *file,
                        npgnn_error *err);

/* ---- edges ---- */

/* A list of edges under construction. Node ids stay integers as long as all of them are plain ones: decimal, from 0 to
 * INT32_MAX - 1, without sign and leading zeros. The first other id turns all ids into names. */
struct npi_edge_list {
    npgnn_env env;
    const npgnn_load_options *how; /* never NULL */
    int weighted;                  /* 1: weights are read; 0: they are ignored */
    int other_weights;             /* 1: some weight is not 1 */
    npgnn_pair *pairs;             /* (count) integer ids, or indices into names */
    float *weights;                /* (count) where weighted, otherwise NULL */
    size_t capacity, weight_capacity;
    int64_t count;
    npi_names *names;     /* NULL: the ids are integers */
    npi_names *targets;   /* bipartite: `names` are those of the sources, and these are those of the targets */
    int32_t largest;      /* largest integer id, -1: none */
    int64_t largest_line; /* the line it is on */
    int64_t name_line;    /* the line of the first id that is not a plain integer */
    int32_t nodes;        /* number of nodes as the file states it, 0: it does not; bipartite: of sources, */
    int32_t target_nodes; /* and of targets */
    int directed;         /* 1: the file says that its edges are directed */
    double *times;        /* (count) where how->time is set, otherwise NULL */
    size_t time_capacity;
    int maybe_header; /* 1: the first edge is two words, which may be a header (npi_edges_settle_header) */
    char ends[2][64]; /* the names of the columns of sources and targets, "" where there is no header */
    npi_skipped skipped;
    int64_t missing_count, missing_line; /* links with an id such as "NA", and the line of the first */
    char missing_id[8];                  /* that id */
};

/* An empty list. `how` must outlive it; NULL: the defaults. */
npi_edge_list npi_edges_start(const npgnn_env *env, const npgnn_load_options *how);

/* Sets the members of `content` that describe edges. The list must outlive its use. */
void npi_edges_describe(npi_graph_content *content, const npi_edge_list *list);

/* Logs the rows that were left out, and ids that look like missing values. */
void npi_edges_log_rows(const npi_edge_list *list, const char *file);

/* Decides whether the first edge is a header, which it then removes: where it is the only edge whose two words are in no
 * other edge, and they are not in `nodes` either. nodes[0] and nodes[1], which may be NULL, have the ids of sources and of targets. */
int npi_edges_settle_header(npi_edge_list *list, const char *file, const npi_names *nodes[2], npgnn_error *err);

/* Reads text with two ids per line into an empty list, which the caller frees, also on failure. */
int npi_edges_read_text(npi_edge_list *list, npi_stream *stream, npgnn_error *err);

/* Reads a file of any format that has edges: .npz, GraphML, JSON lines, Matrix Market or text. Features, labels and
 * node names that are in the same file go into `table`, which otherwise stays empty. The caller frees both, also on
 * failure. */
int npi_edges_read_any(npi_edge_list *edges, npi_table *table, npi_stream *stream, npgnn_error *err);

/* Whether an id is a plain integer, as above. */
int npi_edges_is_integer(const char *id);

/* Adds an edge. E_FORMAT where weights are read and this one is not positive and finite; nothing is added then. */
int npi_edges_add(npi_edge_list *list, npgnn_pair edge, float weight, npi_stream *stream, npgnn_error *err);

/* The same with two indices from 0 on, as matrices have them: those of two sides where the graph has sides. */
int npi_edges_add_indices(npi_edge_list *list, npgnn_pair edge, float weight, npi_stream *stream, npgnn_error *err);

/* A matrix (rows, columns) states how many nodes there are. E_FORMAT where it is not square and the graph has no
 * sides. */
int npi_edges_state_nodes(npi_edge_list *list, int32_t rows, int32_t columns, const npi_stream *stream,
                          npgnn_error *err);

/* An edge with ids as text, and with a time where times are read. */
int npi_edges_add_ids(npi_edge_list *list, const char *from, const char *to, float weight, double time,
                      npi_stream *stream, npgnn_error *err);

/* Turns integer ids into names, numbered in order of first appearance. Where `names` is not NULL, new names are added to it
 * and the list shares it. */
int npi_edges_to_names(npi_edge_list *list, npi_names *names, npgnn_error *err);

/* Builds the graph of edges and features. Takes ownership of the content of `table`, also on failure; NULL: there
 * are no features. `labels` may be NULL. `edges_name` stands for the file of the edges in messages. */
int npi_edges_to_graph(npgnn_graph **out, npi_edge_list *edges, const char *edges_name, npi_table *table,
                       npi_stream *labels, const npgnn_env *env, npgnn_error *err);

/* The same of a two-sided graph (how->bipartite): the sources are the first nodes, the targets follow. tables[0] has
 * the features of the sources and tables[1] those of the targets; either may be empty. Takes their content. */
int npi_sides_to_graph(npgnn_graph **out, npi_edge_list *edges, const char *edges_name, npi_table tables[2],
                       const npgnn_env *env, npgnn_error *err);

/* X of both sides of a two-sided graph, with n[0] and n[1] nodes, and its encoding. With `given` both tables were
 * encoded by the same encoding, and have all columns. */
int npi_sides_join(npi_features **out, const npi_table tables[2], const int32_t n[2], int given, const npgnn_env *env,
                   npgnn_error *err);

void npi_edges_free(npi_edge_list *list);

/* ---- names of feature columns ---- */

typedef struct npi_column_names {
    npi_names *names;
    int32_t count;    /* names added */
    char problem[96]; /* why the names cannot be used, "": they can */
} npi_column_names;

int npi_column_names_add(npi_column_names *columns, const char *name, const npgnn_env *env, npgnn_error *err);

/* Returns the names and leaves `columns` empty. NULL where there are none, or where they cannot be used, which is
 * logged. */
npi_names *npi_column_names_take(npi_column_names *columns, const char *file, const npgnn_env *env);
void npi_column_names_free(npi_column_names *columns);

/* ---- elements of a matrix in any order ---- */

typedef struct npi_triple {
    int32_t row, col;
    float val;
} npi_triple;

typedef struct npi_triples {
    npi_triple *items;
    size_t count, capacity;
} npi_triples;

int npi_triples_add(npi_triples *triples, int32_t row, int32_t col, float val, const npgnn_env *env, npgnn_error *err);

/* The matrix (rows, cols) of the triples. E_FORMAT, with the name of the stream, where an element is given twice. */
int npi_triples_to_csr(npi_csr *out, const npi_triples *triples, int32_t rows, int32_t cols, npi_stream *stream,
                       npgnn_error *err);

/* ---- Matrix Market ---- */

typedef struct npi_mtx {
    int array, pattern, symmetric;
    int32_t rows, cols;
    int64_t entries; /* left to read */
} npi_mtx;

/* 1 where the stream begins with "%%MatrixMarket". */
int npi_mtx_detect(const npi_stream *stream);
int npi_mtx_read_header(npi_mtx *out, npi_stream *stream, npgnn_error *err);

/* Reads the next entry, with row and column from 0. Returns 1, or 0 after the last one. E_FORMAT where the file has
 * fewer or more entries than its header states. */
int npi_mtx_read_entry(npi_triple *entry, npi_mtx *mtx, npi_stream *stream, npgnn_error *err);

/* The edges of a matrix, which is square unless the graph has two sides. The table stays empty. */
int npi_mtx_read_edges(npi_edge_list *list, npi_table *table, npi_stream *stream, npgnn_error *err);

/* ---- class labels ---- */

/* Labels under construction: the text of each node's label, "" for none. */
typedef struct npi_labels {
    npi_names *texts;
    int32_t *of; /* (count) index into texts, -1: none */
    size_t count, capacity;
} npi_labels;

int npi_labels_add(npi_labels *labels, const char *text, const npgnn_env *env, npgnn_error *err);

/* Where all labels are integers from 0 on, these are the classes; otherwise classes are numbered in the canonical order
 * of names (base/names.h). Leaves `labels` empty. *label is NULL where no node has one. */
int npi_labels_take(int32_t **label, int32_t *classes, npi_labels *labels, const npgnn_env *env, npgnn_error *err);
void npi_labels_free(npi_labels *labels, const npgnn_env *env);

/* Reads one label per line for the nodes 0, 1, 2...; "nan" means none. */
int npi_labels_read_plain(int32_t **label, int32_t *classes, npi_stream *stream, int32_t n, npgnn_error *err);

/* Reads lines of a node id and a label into *label (n), -1 for nodes that are not listed. */
int npi_labels_read(int32_t **label, int32_t *classes, npi_stream *stream, const npi_names *names, int32_t n,
                    npgnn_error *err);

/* ---- formats that have edges and more ---- */

int npi_graphml_detect(const npi_stream *stream);
int npi_graphml_read(npi_edge_list *edges, npi_table *table, npi_stream *stream, npgnn_error *err);

int npi_json_detect(const npi_stream *stream);
int npi_json_read_edges(npi_edge_list *edges, npi_table *table, npi_stream *stream, npgnn_error *err);

/* ---- all files of a graph ---- */

/* `how`, which may be NULL, says how they are read; its paths do not count. */
int npi_location_load(npgnn_graph **out, const npi_location *where, const npgnn_load_options *how, const npgnn_env *env,
                      npgnn_error *err);

#endif

/* Planetoid files:
 *
 *   allx, tx     CSR matrices (rows, f): features
 *   ally, ty     arrays (rows, classes): class labels, one-hot
 *   graph        dict: node -> list of its neighbours
 *   test.index   text, one node per line: line i is the node of row i of tx and ty
 *
 * Row i of allx and ally is node i. A node that is in neither (Citeseer has some) has zero features and no label. */
#include "io/planetoid.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "io/path.h"
#include "io/pickle.h"
#include "io/readers.h"
#include "io/rows.h"
#include "io/text.h"

/* The contents of the files. */
typedef struct contents {
    npi_pickle pickle[NPI_PLANETOID_TEST];
    npi_pickle_csr allx, tx;
    npi_pickle_array ally, ty;
    int32_t *test; /* (tx.rows) node of each row of tx and ty */
    int32_t nodes;
    int32_t *source; /* (nodes) row of allx, or allx.rows + row of tx; -1: none */
} contents;

const char *npi_planetoid_suffix(npi_planetoid_file file)
{
    static const char *const suffixes[NPI_PLANETOID_FILES] = {"allx", "ally", "tx", "ty", "graph", "test.index"};
    return suffixes[file];
}

/* ---- which row is which node ---- */

/* Reads test.index, which has one id per row of tx. */
static int read_test_index(contents *c, npi_stream *stream, const npgnn_env *env, npgnn_error *err)
{
    int32_t count = 0, rows = c->tx.rows;
    char *line;
    int code;
    c->test = npi_alloc(env, (size_t)rows, sizeof *c->test, err);
    if (!c->test)
        return NPGNN_E_MEMORY;
    while ((code = npi_stream_read_line(&line, stream, err)) > 0) {
        int64_t id;
        char *field = npi_text_cut_field(&line, ' ');
        if (!field)
            continue;
        if (!npi_number_parse_int(&id, field) || id < 0 || id >= INT32_MAX)
            return npi_stream_fail(stream, err, "'%.40s' is not a node id", field);
        if (count == rows)
            return npi_stream_fail(stream, err, "more ids than the %d rows of tx", rows);
        c->test[count++] = (int32_t)id;
    }
    if (code == 0 && count < rows)
        return npi_stream_fail(stream, err, "%d ids for the %d rows of tx", count, rows);
    return code;
}

/* Fills `source`. The ids may leave out nodes, but there may be at most 32 nodes per row, so that a short file
 * cannot make us reserve much memory. */
static int place_rows(contents *c, const char *index_name, const npgnn_env *env, npgnn_error *err)
{
    int32_t last = c->allx.rows - 1;
    for (int32_t i = 0; i < c->tx.rows; i++)
        last = c->test[i] > last ? c->test[i] : last;
    if ((int64_t)last >= 32 * ((int64_t)c->allx.rows + c->tx.rows))
        return npi_fail_at(err, NPGNN_E_FORMAT, index_name, 0, "node %d is too large for a graph with %d feature rows",
                           last, c->allx.rows + c->tx.rows);
    c->nodes = last + 1;
    c->source = npi_resize(env, NULL, (size_t)c->nodes, sizeof *c->source, err);
    if (!c->source)
        return NPGNN_E_MEMORY;
    /* the rows of allx are the first nodes; those of tx are where test.index says */
    for (int32_t i = 0; i < c->nodes; i++)
        c->source[i] = i < c->allx.rows ? i : -1;
    for (int32_t i = 0; i < c->tx.rows; i++) {
        if (c->source[c->test[i]] >= 0)
            return npi_fail_at(err, NPGNN_E_FORMAT, index_name, i + 1, "node %d has two feature rows", c->test[i]);
        c->source[c->test[i]] = c->allx.rows + i;
    }
    return 0;
}

/* ---- features and labels ---- */

static int add_row(npi_rows *rows, const npi_pickle_csr *x, int32_t row, const char *name, npgnn_error *err)
{
    int64_t end = npi_pickle_array_int(&x->ptr, row + 1);
    int32_t twice;
    int code = 0;
    for (int64_t p = npi_pickle_array_int(&x->ptr, row); code == 0 && p < end; p++) {
        double value = npi_pickle_array_float(&x->val, p);
        if (!(fabs(value) <= (double)FLT_MAX))
            return npi_fail_at(err, NPGNN_E_FORMAT, name, 0, "row %d has a feature that is not a finite float", row);
        code = npi_rows_add(rows, (int32_t)npi_pickle_array_int(&x->col, p), (float)value, err);
    }
    if (code == 0)
        code = npi_rows_end(&twice, rows, err);
    if (code > 0)
        return npi_fail_at(err, NPGNN_E_FORMAT, name, 0, "row %d: column %d occurs twice", row, twice);
    return code;
}

static int read_features(npi_features **out, const contents *c, const npgnn_env *env, npgnn_error *err)
{
    npi_rows rows;
    npi_csr csr;
    int32_t without = 0;
    int code = npi_rows_start(&rows, env, err);
    if (code)
        return code;
    for (int32_t i = 0; code == 0 && i < c->nodes; i++) {
        int32_t row = c->source[i], all = c->allx.rows, twice;
        without += row < 0;
        if (row < 0)
            code = npi_rows_end(&twice, &rows, err);
        else if (row < all)
            code = add_row(&rows, &c->allx, row, c->pickle[NPI_PLANETOID_ALLX].name, err);
        else
            code = add_row(&rows, &c->tx, row - all, c->pickle[NPI_PLANETOID_TX].name, err);
    }
    if (code == 0)
        code = npi_rows_take(&csr, &rows, c->nodes, c->allx.cols, err);
    if (code)
        npi_rows_free(&rows);
    else
        code = npi_features_from_csr(out, &csr, env, err);
    if (code == 0 && without > 0)
        npi_log(env, "nodes neither in allx nor in test.index: %d; their features are zero", without);
    return code;
}

/* The column of the largest positive element of a row, -1 where there is none. */
static int32_t one_hot(const npi_pickle_array *y, int64_t row)
{
    int32_t best = -1;
    double largest = 0;
    for (int64_t i = 0; i < y->cols; i++) {
        double value = npi_pickle_array_float(y, row * y->cols + i);
        if (value > largest) {
            largest = value;
            best = (int32_t)i;
        }
    }
    return best;
}

static int read_labels(npi_graph_content *content, const contents *c, const npgnn_env *env, npgnn_error *err)
{
    int32_t all = c->allx.rows;
    content->label = npi_resize(env, NULL, (size_t)c->nodes, sizeof *content->label, err);
    if (!content->label)
        return NPGNN_E_MEMORY;
    for (int32_t i = 0; i < c->nodes; i++) {
        int32_t row = c->source[i];
        if (row < 0)
            content->label[i] = -1;
        else
            content->label[i] = row < all ? one_hot(&c->ally, row) : one_hot(&c->ty, row - all);
    }
    content->classes = (int32_t)c->ally.cols;
    return 0;
}

/* ---- edges ---- */

/* The node that a value of the dict is, or -1. */
static int32_t node_of(const npi_pickle *p, uint32_t index, int32_t nodes)
{
    const npi_pickle_value *value = npi_pickle_at(p, index);
    if (value->kind != NPI_PICKLE_INT || value->as.integer < 0 || value->as.integer >= nodes)
        return -1;
    return (int32_t)value->as.integer;
}

/* Counts the neighbours that the dict lists. The memo lets a pickle repeat a list without bytes of its own; more
 * neighbours than bytes are refused. */
static int count_edges(int64_t *out, const npi_pickle *p, npgnn_error *err)
{
    const npi_pickle_value *dict = npi_pickle_at(p, p->root);
    size_t count = 0;
    if (dict->kind != NPI_PICKLE_DICT)
        return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0, "not a dict from nodes to lists of neighbours");
    for (size_t i = 1; i < dict->as.list.count; i += 2) {
        const npi_pickle_value *list = npi_pickle_at(p, dict->as.list.items[i]);
        if (list->kind != NPI_PICKLE_LIST)
            return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0, "the neighbours of a node are not a list");
        count += list->as.list.count;
        if (count > p->size)
            return npi_fail_at(err, NPGNN_E_FORMAT, p->name, 0, "more neighbours than the file has bytes");
    }
    *out = (int64_t)count;
    return 0;
}

static int read_edges(npgnn_pair **out, int64_t *count, const npi_pickle *p, int32_t nodes, const npgnn_env *env,
                      npgnn_error *err)
{
    const npi_pickle_value *dict = npi_pickle_at(p, p->root);
    int64_t used = 0;
    int code = count_edges(count, p, err);
    if (code)
        return code;
    npgnn_pair *edges = npi_resize(env, NULL, (size_t)*count, sizeof *edges, err);
    if (!edges)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < dict->as.list.count; i += 2) {
        const npi_pickle_value *list = npi_pickle_at(p, dict->as.list.items[i + 1]);
        npgnn_pair edge = {node_of(p, dict->as.list.items[i], nodes), 0};
        for (size_t j = 0; j < list->as.list.count; j++) {
            edge.v = node_of(p, list->as.list.items[j], nodes);
            if (edge.u < 0 || edge.v < 0) {
                npi_free(env, edges);
                return npi_fail_at(
                    err, NPGNN_E_FORMAT, p->name, 0,
                    "entry %zu of the dict (counted from 0) has a node that is not an integer from 0 to %d", i / 2,
                    nodes - 1);
            }
            edges[used++] = edge;
        }
    }
    *out = edges;
    return 0;
}

/* ---- the graph ---- */

static int check_shapes(const contents *c, npgnn_error *err)
{
    const npi_pickle_array *y[2] = {&c->ally, &c->ty};
    const npi_pickle_csr *x[2] = {&c->allx, &c->tx};
    for (int i = 0; i < 2; i++) {
        const char *name = c->pickle[i ? NPI_PLANETOID_TY : NPI_PLANETOID_ALLY].name;
        if (y[i]->rows != x[i]->rows)
            return npi_fail_at(err, NPGNN_E_MISMATCH, name, 0, "%lld rows of labels for %d rows of features",
                               (long long)y[i]->rows, x[i]->rows);
        if (y[i]->cols != c->ally.cols)
            return npi_fail_at(err, NPGNN_E_MISMATCH, name, 0, "the number of classes is not that of ally");
    }
    if (c->tx.cols != c->allx.cols)
        return npi_fail_at(err, NPGNN_E_MISMATCH, c->pickle[NPI_PLANETOID_TX].name, 0, "%d columns, but allx has %d",
                           c->tx.cols, c->allx.cols);
    if ((int64_t)c->allx.rows + c->tx.rows >= INT32_MAX)
        return npi_fail_at(err, NPGNN_E_FORMAT, c->pickle[NPI_PLANETOID_TX].name, 0, "too many rows");
    return 0;
}

/* Reads all files but the edges, and checks that they match. */
static int read_contents(contents *c, npi_stream *files[NPI_PLANETOID_FILES], const npgnn_env *env, npgnn_error *err)
{
    npi_pickle *p = c->pickle;
    int code = 0;
    for (int i = 0; code == 0 && i < NPI_PLANETOID_TEST; i++)
        code = npi_pickle_read(&p[i], files[i], err);
    if (code)
        return code;
    const npi_pickle *allx = &p[NPI_PLANETOID_ALLX], *tx = &p[NPI_PLANETOID_TX];
    const npi_pickle *ally = &p[NPI_PLANETOID_ALLY], *ty = &p[NPI_PLANETOID_TY];
    code = npi_pickle_get_csr(&c->allx, allx, npi_pickle_at(allx, allx->root), err);
    if (code == 0)
        code = npi_pickle_get_csr(&c->tx, tx, npi_pickle_at(tx, tx->root), err);
    if (code == 0)
        code = npi_pickle_get_array(&c->ally, ally, npi_pickle_at(ally, ally->root), "ally", err);
    if (code == 0)
        code = npi_pickle_get_array(&c->ty, ty, npi_pickle_at(ty, ty->root), "ty", err);
    if (code == 0)
        code = check_shapes(c, err);
    if (code == 0)
        code = read_test_index(c, files[NPI_PLANETOID_TEST], env, err);
    if (code == 0)
        code = place_rows(c, npi_stream_name(files[NPI_PLANETOID_TEST]), env, err);
    if (code == 0)
        code = npi_table_check_size(files[NPI_PLANETOID_ALLX], c->nodes, c->allx.cols,
                                    c->allx.col.rows + c->tx.col.rows, err);
    return code;
}

int npi_planetoid_read(npgnn_graph **out, npi_stream *files[NPI_PLANETOID_FILES], const npgnn_env *env,
                       npgnn_error *err)
{
    contents c = {0};
    npi_graph_content content = {0};
    npgnn_pair *edges = NULL;
    int code = read_contents(&c, files, env, err);
    if (code == 0)
        code = read_edges(&edges, &content.edge_count, &c.pickle[NPI_PLANETOID_GRAPH], c.nodes, env, err);
    if (code == 0)
        code = read_features(&content.x, &c, env, err);
    if (code == 0)
        code = read_labels(&content, &c, env, err);
    if (code == 0) {
        content.n = c.nodes;
        content.edges = edges;
        code = npi_graph_build(out, &content, env, err);
    } else {
        npi_features_free(content.x);
        npi_free(env, content.label);
    }
    for (int i = 0; i < NPI_PLANETOID_TEST; i++)
        npi_pickle_free(&c.pickle[i]);
    npi_free(env, edges);
    npi_free(env, c.test);
    npi_free(env, c.source);
    return code;
}

int npi_planetoid_load(npgnn_graph **out, const char *prefix, const npgnn_env *env, npgnn_error *err)
{
    npi_stream *files[NPI_PLANETOID_FILES] = {NULL};
    char path[NPI_PATH_SIZE];
    int code = 0;
    for (int i = 0; code == 0 && i < NPI_PLANETOID_FILES; i++) {
        code = npi_path_join(path, prefix, ".", npi_planetoid_suffix((npi_planetoid_file)i), err);
        if (code == 0)
            code = npi_stream_open(&files[i], path, env, err);
    }
    if (code == 0)
        code = npi_planetoid_read(out, files, env, err);
    for (int i = 0; i < NPI_PLANETOID_FILES; i++)
        npi_stream_close(files[i]);
    return code;
}

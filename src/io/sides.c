/* Two-sided graphs: sources and targets are two kinds of nodes, each with its own ids and, where it has some, its own table
 * of features.
 *
 *   nodes      the sources, then the targets, each side in the canonical order of its ids (base/names.h). The rows of
 *              a matrix of links are the sources and its columns the targets, called 0, 1, 2...
 *   names      the ids; where an id is on both sides, all names begin with the name of their column: "user_id:1"
 *   X          [ X_sources     0      ]
 *              [     0     X_targets  ]      the two sides have no columns in common */
#include <stdio.h>
#include <string.h>

#include "io/readers.h"

typedef struct side {
    npi_names *names;
    int32_t rows; /* of the table; nodes from there on have no features */
    int32_t n;
} side;

/* Numbers the nodes of one side in the canonical order of their ids. Rows without ids, called 0, 1, 2..., stay where
 * they are. */
static int order_side(side *out, npi_edge_list *edges, npi_table *table, int which, const npgnn_env *env,
                      npgnn_error *err)
{
    int32_t *place = NULL;
    int code = npi_names_sort(&place, out->names, 0, err);
    for (int64_t i = 0; place && i < edges->count; i++) {
        npgnn_pair *pair = &edges->pairs[i];
        int32_t *end = which ? &pair->v : &pair->u;
        *end = place[*end];
    }
    if (place && table->names) {
        code = npi_table_extend(table, out->n, env, err);
        if (code == 0)
            code = npi_table_permute(table, place, env, err);
        out->rows = table->x.rows;
    }
    npi_free(env, place);
    return code;
}

/* Numbers the nodes of one side, and gives the edges these numbers. */
static int settle(side *out, npi_edge_list *edges, npi_table *table, int which, const char *edges_name,
                  const npgnn_env *env, npgnn_error *err)
{
    npi_names *ids = which ? edges->targets : edges->names;
    int64_t matched = 0;
    int code = 0;
    out->rows = table->x.ptr ? table->x.rows : 0;
    if (table->names)
        out->names = npi_names_share(table->names);
    else
        code = npi_names_new(&out->names, env, err);
    /* rows without ids are 0, 1, 2...; a matrix has a node for each of its rows and columns, also for empty ones */
    int32_t numbered = table->names ? 0 : out->rows, stated = which ? edges->target_nodes : edges->nodes;
    for (int32_t i = 0; code == 0 && (i < numbered || i < stated); i++) {
        char number[12];
        int32_t index;
        snprintf(number, sizeof number, "%d", i);
        code = npi_names_add(&index, out->names, number, strlen(number), err);
    }
    for (int64_t i = 0; code == 0 && i < edges->count; i++) {
        npgnn_pair *pair = &edges->pairs[i];
        int32_t *end = which ? &pair->v : &pair->u;
        const char *id = npi_names_get(ids, *end);
        code = npi_names_add(end, out->names, id, strlen(id), err);
        matched += *end < out->rows;
    }
    if (code)
        return code;
    out->n = npi_names_count(out->names);
    const char *kind = which ? "targets" : "sources";
    if (out->rows > 0 && edges->count > 0 && matched == 0)
        return npi_fail_at(err, NPGNN_E_MISMATCH, edges_name, 0,
                           "none of the ids of %s in this file is the id of a feature row", kind);
    if (out->rows > 0 && out->n > out->rows)
        npi_log(env, "%s without a feature row: %d, such as '%.40s'; their features are zero", kind, out->n - out->rows,
                npi_names_get(out->names, out->rows));
    return order_side(out, edges, table, which, env, err);
}

/* The names of all nodes. */
static int join_names(npi_names **out, const side sides[2], const npi_edge_list *edges, const npgnn_env *env,
                      npgnn_error *err)
{
    npi_names *names = NULL;
    int32_t shared = -1, index;
    for (int32_t i = 0; shared < 0 && i < sides[1].n; i++) {
        const char *name = npi_names_get(sides[1].names, i);
        shared = npi_names_find(sides[0].names, name, strlen(name));
    }
    const char *prefix[2] = {*edges->ends[0] ? edges->ends[0] : "source", *edges->ends[1] ? edges->ends[1] : "target"};
    if (strcmp(prefix[0], prefix[1]) == 0) {
        prefix[0] = "source";
        prefix[1] = "target";
    }
    if (shared >= 0)
        npi_log(
            env,
            "ids such as '%.40s' are those of a source and of a target: nodes are called %.40s:%.40s and %.40s:%.40s",
            npi_names_get(sides[0].names, shared), prefix[0], npi_names_get(sides[0].names, shared), prefix[1],
            npi_names_get(sides[0].names, shared));
    int code = npi_names_new(&names, env, err);
    for (int which = 0; code == 0 && which < 2; which++)
        for (int32_t i = 0; code == 0 && i < sides[which].n; i++) {
            const char *name = npi_names_get(sides[which].names, i);
            size_t length = strlen(name) + strlen(prefix[which]) + 2;
            char *text = npi_alloc(env, length, 1, err);
            if (!text) {
                code = NPGNN_E_MEMORY;
                break;
            }
            snprintf(text, length, "%s%s%s", shared >= 0 ? prefix[which] : "", shared >= 0 ? ":" : "", name);
            code = npi_names_add(&index, names, text, strlen(text), err);
            npi_free(env, text);
        }
    if (code)
        npi_names_free(names);
    else
        *out = names;
    return code;
}

/* X of both sides. With `shift` the columns of the targets follow those of the sources; without it both tables have all
 * columns already. */
static int join_features(npi_csr *out, const npi_table tables[2], const side sides[2], int shift, const npgnn_env *env,
                         npgnn_error *err)
{
    int32_t columns = tables[0].x.cols + (shift ? tables[1].x.cols : 0);
    if (!shift && tables[1].x.cols > columns)
        columns = tables[1].x.cols;
    int64_t elements = 0, p = 0;
    for (int which = 0; which < 2; which++)
        elements += tables[which].x.ptr ? tables[which].x.ptr[tables[which].x.rows] : 0;
    int code = npi_csr_new(out, sides[0].n + sides[1].n, columns, elements, 1, env, err);
    if (code)
        return code;
    for (int which = 0; which < 2; which++) {
        const npi_csr *x = &tables[which].x;
        for (int32_t i = 0; i < sides[which].n; i++) {
            for (int64_t q = i < sides[which].rows ? x->ptr[i] : 0; i < sides[which].rows && q < x->ptr[i + 1]; q++) {
                out->col[p] = x->col[q] + (which && shift ? tables[0].x.cols : 0);
                out->val[p++] = x->val ? x->val[q] : 1;
            }
            out->ptr[(which ? sides[0].n : 0) + i + 1] = p;
        }
    }
    return 0;
}

/* The encoding of both sides and the names of all columns, where every side that has features has an encoding. */
static int join_encodings(npi_features *x, const npi_table tables[2], int given, const npgnn_env *env, npgnn_error *err)
{
    const npi_encoding *both[2] = {tables[0].encoding, tables[1].encoding};
    npi_encoding *empty = NULL;
    int code = 0;
    for (int which = 0; which < 2; which++)
        if (!both[which] && tables[which].x.cols > 0)
            return 0;
    if (!both[0] && !both[1])
        return 0;
    if (given) { /* both are the same */
        x->encoding = npi_encoding_share(tables[tables[0].encoding ? 0 : 1].encoding);
    } else {
        code = npi_encoding_new(&empty, env, err);
        if (code == 0)
            code = npi_encoding_join(&x->encoding, both[0] ? both[0] : empty, both[1] ? both[1] : empty, err);
        npi_encoding_free(empty);
    }
    return code ? code : npi_encoding_names(&x->columns, x->encoding, err);
}

int npi_sides_join(npi_features **out, const npi_table tables[2], const int32_t n[2], int given, const npgnn_env *env,
                   npgnn_error *err)
{
    side sides[2] = {{.n = n[0]}, {.n = n[1]}};
    npi_csr x = {0};
    npi_features *joined = NULL;
    for (int which = 0; which < 2; which++)
        sides[which].rows = tables[which].x.ptr ? tables[which].x.rows : 0;
    int code = join_features(&x, tables, sides, !given, env, err);
    if (code == 0)
        code = npi_features_from_csr(&joined, &x, env, err); /* takes x, also on failure */
    if (code == 0)
        code = join_encodings(joined, tables, given, env, err);
    if (code)
        npi_features_free(joined);
    else
        *out = joined;
    return code;
}

int npi_sides_to_graph(npgnn_graph **out, npi_edge_list *edges, const char *edges_name, npi_table tables[2],
                       const npgnn_env *env, npgnn_error *err)
{
    const char *encoding = edges->how->encoding;
    int given = encoding && strcmp(encoding, "raw") != 0;
    npi_graph_content content = {0};
    side sides[2] = {{0}, {0}};
    const npi_names *nodes[2] = {tables[0].names, tables[1].names};
    int code = npi_edges_settle_header(edges, edges_name, nodes, err);
    for (int which = 0; code == 0 && which < 2; which++) {
        code = settle(&sides[which], edges, &tables[which], which, edges_name, env, err);
        if (code == 0 && tables[which].x.cols > 0 && !tables[which].encoding)
            code =
                npi_table_log_dominant(&tables[which], which ? "features of targets" : "features of sources", env, err);
    }
    if (code == 0 && edges->how->time && edges->count > 0 && !edges->times)
        code = npi_fail_at(err, NPGNN_E_ARGUMENT, edges_name, 0, "a file of this format has no times of links");
    if (code == 0 && sides[0].n > INT32_MAX - 2 - sides[1].n)
        code = npi_fail(err, NPGNN_E_ARGUMENT, "too many nodes: the limit is %d", INT32_MAX - 2);
    content.n = sides[0].n + sides[1].n;
    if (code == 0)
        code = join_names(&content.names, sides, edges, env, err);
    if (code == 0)
        code = npi_sides_join(&content.x, tables, (int32_t[2]){sides[0].n, sides[1].n}, given, env, err);
    if (code == 0 && !(content.side = npi_alloc(env, (size_t)content.n, 1, err)))
        code = NPGNN_E_MEMORY;
    if (code == 0) {
        memset(content.side + sides[0].n, 1, (size_t)sides[1].n);
        for (int64_t i = 0; i < edges->count; i++)
            edges->pairs[i].v += sides[0].n;
        npi_edges_describe(&content, edges);
        code = npi_graph_build(out, &content, env, err); /* takes names, features and sides, also on failure */
    } else {
        npi_names_free(content.names);
        npi_features_free(content.x);
    }
    npi_names_free(sides[0].names);
    npi_names_free(sides[1].names);
    npi_table_free(env, &tables[0]);
    npi_table_free(env, &tables[1]);
    return code;
}

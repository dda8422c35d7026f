/* The formats that are read: what a file is, and who reads it. Text is what no row of the table recognises. A new format is
 * a file with its functions, which io/readers.h declares, and a row here. Formats that are refused, with what to do, are in
 * foreign.c and not_edges.c. */
#include <string.h>

#include "io/foreign.h"
#include "io/npz.h"
#include "io/readers.h"

typedef struct format {
    const char *extensions[2]; /* feature tables with these are read as this format, whatever their first bytes */
    int (*detect)(const npi_stream *stream);
    int (*read_edges)(npi_edge_list *edges, npi_table *table, npi_stream *stream, npgnn_error *err); /* or NULL */
    int (*read_table)(npi_table *out, npi_stream *stream, npgnn_error *err);                         /* or NULL */
    int members; /* 1: the caller may choose which members of an edge are read */
} format;

static const format formats[] = {
    {{".npy"}, npi_npy_detect, NULL, npi_table_read_npy, 0},
    {{NULL}, npi_json_detect, npi_json_read_edges, npi_table_read_json, 1},
    {{NULL}, npi_zip_detect, npi_npz_read_graph, npi_table_read_npz, 0},
    {{".mtx"}, npi_mtx_detect, npi_mtx_read_edges, npi_table_read_mtx, 0},
    {{NULL}, npi_graphml_detect, npi_graphml_read, NULL, 0},
    {{".svm", ".svmlight"}, npi_svmlight_detect, NULL, npi_table_read_svmlight, 0},
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

/* Whether a file name has an extension, or has it before ".gz". */
static int has_extension(const char *name, const char *extension)
{
    size_t length = strlen(name), wanted = strlen(extension);
    if (length > 3 && strcmp(name + length - 3, ".gz") == 0)
        length -= 3;
    return length > wanted && memcmp(name + length - wanted, extension, wanted) == 0;
}

static int is_table_of(const format *f, const npi_stream *stream)
{
    for (int i = 0; i < 2 && f->extensions[i]; i++)
        if (has_extension(npi_stream_name(stream), f->extensions[i]))
            return 1;
    return f->detect(stream);
}

int npi_table_read(npi_table *out, npi_stream *stream, const npgnn_load_options *how, const npi_edge_list *edges,
                   int side, npgnn_error *err)
{
    int code = npi_foreign_refuse(stream, err);
    for (int i = 0; code == 0 && i < FORMATS; i++) {
        if (!formats[i].read_table || !is_table_of(&formats[i], stream))
            continue;
        /* in a two-sided graph, the other table may have the columns */
        if (how && !how->bipartite && (how->id || how->kind_count > 0 || how->ignored_count > 0))
            return npi_fail_at(err, NPGNN_E_ARGUMENT, npi_stream_name(stream), 0,
                               "a file of this format has no columns to choose from: leave --%s out",
                               how->id               ? "id"
                               : how->kind_count > 0 ? "column"
                                                     : "ignore");
        return formats[i].read_table(out, stream, err);
    }
    return code ? code : npi_table_read_csv(out, stream, how, edges, side, err);
}

/* E_ARGUMENT where the caller has chosen columns of a file that has none. */
static int refuse_columns(const npgnn_load_options *how, const npi_stream *stream, npgnn_error *err)
{
    const char *chosen = how->source ? "source" : how->target ? "target" : how->weight ? "weight" : NULL;
    if (!chosen)
        return 0;
    return npi_fail_at(err, NPGNN_E_ARGUMENT, npi_stream_name(stream), 0,
                       "a file of this format has no columns to choose from: leave --%s out%s", chosen,
                       strcmp(chosen, "weight") == 0 ? "; --weighted uses its weights" : "");
}

int npi_edges_read_any(npi_edge_list *edges, npi_table *table, npi_stream *stream, npgnn_error *err)
{
    int code = npi_foreign_refuse(stream, err);
    for (int i = 0; code == 0 && i < FORMATS; i++)
        if (formats[i].read_edges && formats[i].detect(stream)) {
            code = formats[i].members ? 0 : refuse_columns(edges->how, stream, err);
            return code ? code : formats[i].read_edges(edges, table, stream, err);
        }
    return code ? code : npi_edges_read_text(edges, stream, err);
}

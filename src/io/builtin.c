/* Graphs that are compiled into the library (data/README.md): their files are arrays, which the readers of files
 * read. */
#include "io/builtin.h"

#include <string.h>

#include "io/readers.h"

extern const unsigned char npi_debian_python_edges[], npi_debian_python_features[];
extern const size_t npi_debian_python_edges_size, npi_debian_python_features_size;

int npi_builtin_is(const char *data)
{
    return data && strcmp(data, NPI_BUILTIN) == 0;
}

int npi_builtin_load(npgnn_graph **out, const npgnn_env *env, npgnn_error *err)
{
    static const char *const kinds[] = {"about:text"};
    const npgnn_load_options how = {
        .size = sizeof how, .kinds = kinds, .kind_count = 1, .id = "id", .header = NPGNN_HEADER_AUTO};
    npgnn_env silent = *env; /* what a notice would say about the table is known */
    npi_stream *stream = NULL;
    npi_table table = {0};
    silent.log = NULL;
    npi_edge_list edges = npi_edges_start(&silent, &how);
    int code = npi_stream_open_memory(&stream, NPI_BUILTIN "/edges.tsv", npi_debian_python_edges,
                                      npi_debian_python_edges_size, &silent, err);
    if (!code)
        code = npi_edges_read_text(&edges, stream, err);
    npi_stream_close(stream);
    stream = NULL;
    if (!code)
        code = npi_stream_open_memory(&stream, NPI_BUILTIN "/features.csv", npi_debian_python_features,
                                      npi_debian_python_features_size, &silent, err);
    if (!code)
        code = npi_table_read(&table, stream, &how, &edges, 0, err);
    npi_stream_close(stream);
    if (!code)
        code = npi_edges_to_graph(out, &edges, NPI_BUILTIN "/edges.tsv", &table, NULL, env, err);
    npi_table_free(env, &table);
    npi_edges_free(&edges);
    return code;
}

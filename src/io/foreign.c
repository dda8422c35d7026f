/* Recognises Parquet, Feather, PyTorch, Excel, HDF5 and pickle files by their first bytes, and says how to convert them. */
#include "io/foreign.h"

#include <string.h>

#include "io/npg.h"

/* Whether `text` occurs in the first bytes of a file. Names of the members of a zip archive do. */
static int contains(const unsigned char *bytes, size_t size, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(bytes + i, text, length) == 0)
            return 1;
    return 0;
}

int npi_foreign_refuse(const npi_stream *stream, npgnn_error *err)
{
    static const struct {
        const char *start;  /* the first bytes */
        size_t length;      /* of these */
        const char *member; /* the name of a member of the archive; NULL: any content */
        const char *name, *way;
    } formats[] = {
        {NPI_NPG_MAGIC, 8, NULL, "a graph file (.npg) from a pipe or gzip data",
         "write it to a file of its own, uncompressed, and give that as DATA"},
        {"PAR1", 4, NULL, "a Parquet file",
         "python3 -c \"import pandas; pandas.read_parquet('FILE').to_csv('FILE.csv', index=False)\""},
        {"ARROW1", 6, NULL, "a Feather file",
         "python3 -c \"import pandas; pandas.read_feather('FILE').to_csv('FILE.csv', index=False)\""},
        {"PK\3\4", 4, "/data.pkl", "a PyTorch file",
         "python3 -c \"import torch, numpy; d = torch.load('FILE', weights_only=False); numpy.savez('FILE.npz', "
         "edge_index=d.edge_index, x=d.x)\""},
        {"PK\3\4", 4, "xl/", "an Excel file",
         "python3 -c \"import pandas; pandas.read_excel('FILE').to_csv('FILE.csv', index=False)\""},
        {"PK\3\4", 4, "[Content_Types].xml", "an Office file", "save it as CSV in the program that made it"},
        {"\x89HDF", 4, NULL, "an HDF5 file",
         "python3 -c \"import pandas; pandas.read_hdf('FILE').to_csv('FILE.csv', index=False)\""},
        {"\x80\2", 2, NULL, "a pickle",
         "python3 -c \"import pandas; pandas.read_pickle('FILE').to_csv('FILE.csv', index=False)\""},
        {"\x80\3", 2, NULL, "a pickle",
         "python3 -c \"import pandas; pandas.read_pickle('FILE').to_csv('FILE.csv', index=False)\""},
        {"\x80\4", 2, NULL, "a pickle",
         "python3 -c \"import pandas; pandas.read_pickle('FILE').to_csv('FILE.csv', index=False)\""},
        {"\x80\5", 2, NULL, "a pickle",
         "python3 -c \"import pandas; pandas.read_pickle('FILE').to_csv('FILE.csv', index=False)\""},
        {"SQLite format 3", 15, NULL, "an SQLite database", "sqlite3 -header -csv FILE 'SELECT * FROM ...' >FILE.csv"},
    };
    size_t size;
    const unsigned char *bytes = npi_stream_peek(&size, stream);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (size >= formats[i].length && memcmp(bytes, formats[i].start, formats[i].length) == 0 &&
            (!formats[i].member || contains(bytes, size < 4096 ? size : 4096, formats[i].member)))
            return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                               "this is %s, which cannot be read directly; convert it first: %s", formats[i].name,
                               formats[i].way);
    return 0;
}

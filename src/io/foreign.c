/* Recognises files that are not read by their first bytes, and says how to convert them: Parquet, Feather, PyTorch,
 * Excel, HDF5, pickle, SQLite, archives, and text in UTF-16 or UTF-32. */
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

/* Whether a file is a zip archive whose first member is a file of text, or a folder: .npz files are archives of
 * arrays. */
static int is_archive_of_text(const unsigned char *bytes, size_t size)
{
    static const char *const endings[] = {"/", ".csv", ".tsv", ".txt", ".mtx", ".json", ".jsonl", ".graphml", ".edges"};
    enum { NAME_LENGTH = 26, NAME = 30 }; /* where the header of a member has them */
    if (size < NAME || memcmp(bytes, "PK\3\4", 4) != 0)
        return 0;
    size_t length = (size_t)bytes[NAME_LENGTH] | (size_t)bytes[NAME_LENGTH + 1] << 8;
    for (size_t i = 0; size >= NAME + length && i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (length >= ending && memcmp(bytes + NAME + length - ending, endings[i], ending) == 0)
            return 1;
    }
    return 0;
}

static int is_printable(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7F;
}

int npi_foreign_refuse(const npi_stream *stream, npgnn_error *err)
{
    static const struct {
        const char *start;  /* the first bytes */
        size_t length;      /* of these */
        const char *member; /* the name of a member of the archive; NULL: any content */
        const char *name, *way;
    } formats[] = {
        {NPI_NPG_MAGIC, 8, NULL, "a graph file (.npg)", NULL},
        {"PAR1", 4, NULL, "a Parquet file",
         "python3 -c \"import pandas; pandas.read_parquet('FILE').to_csv('FILE.csv', index=False)\""},
        {"ARROW1", 6, NULL, "a Feather file",
         "python3 -c \"import pandas; pandas.read_feather('FILE').to_csv('FILE.csv', index=False)\""},
        {"PK\3\4", 4, "/data.pkl", "a PyTorch file",
         "python3 -c \"import torch, numpy; d = torch.load('FILE', weights_only=False); numpy.savez('FILE.npz', "
         "edge_index=d.edge_index, x=d.x)\""},
        {"PK\3\4", 4, "xl/", "an Excel file",
         "in Excel, save it as CSV UTF-8; or: python3 -c \"import pandas; pandas.read_excel('FILE').to_csv('FILE.csv', "
         "index=False)\""},
        {"PK\3\4", 4, "[Content_Types].xml", "an Office file", "save it as CSV UTF-8 in the program that made it"},
        {"PK\3\4", 4, "opendocument", "an OpenDocument file", "in LibreOffice, save it as Text CSV in UTF-8"},
        {"\xD0\xCF\x11\xE0", 4, NULL, "an old Excel or Office file",
         "save it as CSV UTF-8 in the program that made it"},
        {"\xFF\xFE\0\0", 4, NULL, "text in UTF-32", "iconv -f UTF-32 -t UTF-8 FILE >FILE.utf8"},
        {"\0\0\xFE\xFF", 4, NULL, "text in UTF-32", "iconv -f UTF-32 -t UTF-8 FILE >FILE.utf8"},
        {"\xFF\xFE", 2, NULL, "text in UTF-16",
         "iconv -f UTF-16 -t UTF-8 FILE >FILE.utf8; or, in Excel, save it as CSV UTF-8"},
        {"\xFE\xFF", 2, NULL, "text in UTF-16",
         "iconv -f UTF-16 -t UTF-8 FILE >FILE.utf8; or, in Excel, save it as CSV UTF-8"},
        {"BZh", 3, NULL, "a file compressed by bzip2", "bunzip2 FILE"},
        {"\xFD"
         "7zXZ",
         5, NULL, "a file compressed by xz", "unxz FILE"},
        {"\x28\xB5\x2F\xFD", 4, NULL, "a file compressed by zstd", "unzstd FILE"},
        {"7z\xBC\xAF", 4, NULL, "a 7z archive", "7z x FILE, and give the file that was in it"},
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
            return formats[i].way
                       ? npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                                     "this is %s, which cannot be read directly; convert it first: %s", formats[i].name,
                                     formats[i].way)
                       : npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                                     "this is %s: give it as DATA, as a file of its own that is not compressed",
                                     formats[i].name);
    if (is_archive_of_text(bytes, size))
        return npi_fail_at(
            err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
            "this is a zip archive, which cannot be read directly; unpack it first (unzip FILE), and give "
            "the file that was in it");
    /* the first two characters of a text in UTF-16 without its mark: a letter and a zero, or a zero and a letter */
    for (int zero = 0; zero < 2; zero++)
        if (size >= 4 && !bytes[zero] && !bytes[2 + zero] && is_printable(bytes[1 - zero]) &&
            is_printable(bytes[3 - zero]))
            return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                               "this is text in UTF-16, which cannot be read directly; convert it first: iconv -f "
                               "UTF-16%s -t UTF-8 FILE >FILE.utf8",
                               zero ? "LE" : "BE");
    return 0;
}

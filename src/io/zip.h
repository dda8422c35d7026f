/* The members of a zip archive as streams. */
#ifndef NPI_IO_ZIP_H
#define NPI_IO_ZIP_H

#include "io/stream.h"

typedef struct npi_zip npi_zip;

/* 1 where the stream begins as a zip archive does. */
int npi_zip_detect(const npi_stream *stream);

/* Reads all of the stream, which must outlive the archive, into memory. E_FORMAT where it is not a zip archive. */
int npi_zip_open(npi_zip **out, npi_stream *stream, npgnn_error *err);
size_t npi_zip_size(const npi_zip *zip);        /* of the archive */
npi_stream *npi_zip_stream(const npi_zip *zip); /* the stream of the archive */
const npgnn_env *npi_zip_env(const npi_zip *zip);
const char *npi_zip_name(const npi_zip *zip);

/* How many members there are, and the name of one, valid as long as the archive; NULL past the last. */
int64_t npi_zip_count(const npi_zip *zip);
const char *npi_zip_member_name(const npi_zip *zip, int64_t index);

int npi_zip_has(const npi_zip *zip, const char *member);

/* Opens a member, which is decompressed block by block as it is read. Only one member can be open at a time, and the
 * archive must outlive it. */
int npi_zip_open_member(npi_stream **out, npi_zip *zip, const char *member, npgnn_error *err);
void npi_zip_close(npi_zip *zip);

#endif

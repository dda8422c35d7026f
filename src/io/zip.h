/* Members of a zip archive as streams. */
#ifndef NPI_IO_ZIP_H
#define NPI_IO_ZIP_H

#include "io/stream.h"

typedef struct npi_zip npi_zip;

/* 1 when the stream begins as a zip archive does. */
int npi_zip_detect(const npi_stream *stream);

/* Takes all of the stream into memory, which must outlive it. E_FORMAT where it is no zip archive. */
int npi_zip_open(npi_zip **out, npi_stream *stream, npgnn_error *err);
size_t npi_zip_size(const npi_zip *zip);        /* of the archive */
npi_stream *npi_zip_stream(const npi_zip *zip); /* where it came from */
const npgnn_env *npi_zip_env(const npi_zip *zip);
const char *npi_zip_name(const npi_zip *zip);

int npi_zip_has(const npi_zip *zip, const char *member);

/* One member, unpacked while it is read: never more than a block at a time. One at a time; the archive must outlive it. */
int npi_zip_open_member(npi_stream **out, npi_zip *zip, const char *member, npgnn_error *err);
void npi_zip_close(npi_zip *zip);

#endif

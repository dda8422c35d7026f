/* Formats of other programs that this library does not read. */
#ifndef NPI_IO_FOREIGN_H
#define NPI_IO_FOREIGN_H

#include "io/stream.h"

/* E_FORMAT, with the name of the format and a command that converts it, where the stream begins as such a file does. */
int npi_foreign_refuse(const npi_stream *stream, npgnn_error *err);

#endif

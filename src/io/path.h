/* Paths are built in buffers of one fixed size. */
#ifndef NPI_IO_PATH_H
#define NPI_IO_PATH_H

#include "base/error.h"

#define NPI_PATH_SIZE 4096 /* bytes of a path, its terminator included: PATH_MAX on Linux */

/* path = a b c. E_ARGUMENT where that is too long; `path` is then cut short. */
int npi_path_join(char path[NPI_PATH_SIZE], const char *a, const char *b, const char *c, npgnn_error *err);

#endif

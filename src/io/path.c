/* Joining paths, with a check of their length. */
#include "io/path.h"

#include <stdio.h>

int npi_path_join(char path[NPI_PATH_SIZE], const char *a, const char *b, const char *c, npgnn_error *err)
{
    int length = snprintf(path, NPI_PATH_SIZE, "%s%s%s", a, b, c);
    if (length >= 0 && length < NPI_PATH_SIZE)
        return 0;
    return npi_fail(err, NPGNN_E_ARGUMENT, "path is longer than %d bytes: %.100s...", NPI_PATH_SIZE - 1, path);
}

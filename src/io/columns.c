/* Names of feature columns. They serve to find the same column in another graph and travel in model files, which are JSON:
 * so they are kept only where each is there, there once, and UTF-8. */
#include "io/readers.h"
#include "io/text.h"

#include <string.h>

int npi_column_names_add(npi_column_names *columns, const char *name, const npgnn_env *env, npgnn_error *err)
{
    int32_t index;
    int code = columns->names ? 0 : npi_names_new(&columns->names, env, err);
    if (code == 0)
        code = npi_names_add(&index, columns->names, name, strlen(name), err);
    if (code)
        return code;
    if (!columns->trouble && !*name)
        columns->trouble = "one has none";
    else if (!columns->trouble && !npi_text_is_utf8(name))
        columns->trouble = "one is not UTF-8";
    else if (!columns->trouble && index != columns->count)
        columns->trouble = "two have the same";
    columns->count++;
    return 0;
}

npi_names *npi_column_names_take(npi_column_names *columns, const char *file, const npgnn_env *env)
{
    npi_names *names = columns->trouble ? NULL : columns->names;
    if (columns->trouble)
        npi_log(env, "%s: the names of the feature columns are not kept: %s", file, columns->trouble);
    else
        columns->names = NULL;
    npi_column_names_free(columns);
    return names;
}

void npi_column_names_free(npi_column_names *columns)
{
    npi_names_free(columns->names);
    memset(columns, 0, sizeof *columns);
}

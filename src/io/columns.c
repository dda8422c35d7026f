/* Names of feature columns. They identify the same column in another graph and are stored in model files as JSON.
 * They are therefore used only where every name is non-empty, unique and UTF-8; otherwise all are dropped with a
 * notice. */
#include "io/readers.h"
#include "io/text.h"

#include <stdio.h>
#include <string.h>

int npi_column_names_add(npi_column_names *columns, const char *name, const npgnn_env *env, npgnn_error *err)
{
    int32_t index;
    int code = columns->names ? 0 : npi_names_new(&columns->names, env, err);
    if (code == 0)
        code = npi_names_add(&index, columns->names, name, strlen(name), err);
    if (code)
        return code;
    if (!*columns->problem && !*name)
        snprintf(columns->problem, sizeof columns->problem, "one of them is empty");
    else if (!*columns->problem && !npi_text_is_utf8(name))
        snprintf(columns->problem, sizeof columns->problem, "one of them is not UTF-8");
    else if (!*columns->problem && index != columns->count)
        snprintf(columns->problem, sizeof columns->problem, "two of them are '%.60s'", name);
    columns->count++;
    return 0;
}

npi_names *npi_column_names_take(npi_column_names *columns, const char *file, const npgnn_env *env)
{
    npi_names *names = *columns->problem ? NULL : columns->names;
    if (*columns->problem)
        npi_log(env, "%s: ignoring the names of the feature columns: %s", file, columns->problem);
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

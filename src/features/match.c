/* Reorders feature columns by name, and explains why two sets of columns do not match. */
#include "features/match.h"

#include <stdio.h>
#include <string.h>

enum { LISTED = 3 }; /* how many columns an error message lists */

static int32_t find(const npi_names *names, const char *name)
{
    return npi_names_find(names, name, strlen(name));
}

/* Counts the names of `these` that are not in `those`; `text` lists the first few: "a", "b", "c", ... */
static int32_t list_missing(char *text, size_t size, const npi_names *these, const npi_names *those)
{
    int32_t count = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < npi_names_count(these); i++) {
        const char *name = npi_names_get(these, i);
        if (find(those, name) >= 0 || count++ > LISTED)
            continue;
        int wrote = count <= LISTED ? snprintf(text + used, size - used, "%s\"%.40s\"", used ? ", " : "", name)
                                    : snprintf(text + used, size - used, ", ...");
        used += (size_t)wrote;
    }
    return count;
}

static int refuse(const npi_names *wanted, const npi_names *given, const char *owner, const char *bearer,
                  npgnn_error *err)
{
    char missing[(LISTED + 1) * 64], extra[(LISTED + 1) * 64];
    int32_t missing_count = list_missing(missing, sizeof missing, wanted, given);
    int32_t extra_count = list_missing(extra, sizeof extra, given, wanted);
    if (extra_count == 0)
        return npi_fail(err, NPGNN_E_MISMATCH, "%s lacks %d of the feature columns of %s: %s", bearer, missing_count,
                        owner, missing);
    if (missing_count == 0)
        return npi_fail(err, NPGNN_E_MISMATCH, "%d of the feature columns of %s are unknown to %s: %s", extra_count,
                        bearer, owner, extra);
    return npi_fail(err, NPGNN_E_MISMATCH,
                    "%s lacks %d of the feature columns of %s: %s; %d of its own are unknown to %s: %s", bearer,
                    missing_count, owner, missing, extra_count, owner, extra);
}

/* to[c] = position in `wanted` of column c of `given`. Returns how many columns change position, or -1 where one is not
 * wanted. */
static int32_t find_positions(int32_t *to, const npi_names *wanted, const npi_names *given)
{
    int32_t moved = 0;
    for (int32_t c = 0; c < npi_names_count(given); c++) {
        to[c] = find(wanted, npi_names_get(given, c));
        if (to[c] < 0)
            return -1;
        moved += to[c] != c;
    }
    return moved;
}

static int match_names(npi_features **out, npi_features *x, npi_names *wanted, const char *owner, const char *bearer,
                       const npgnn_env *env, npgnn_error *err)
{
    int32_t *to = npi_resize(env, NULL, (size_t)x->f, sizeof *to, err);
    if (!to)
        return NPGNN_E_MEMORY;
    int32_t moved = find_positions(to, wanted, x->columns);
    int code = 0;
    if (moved < 0 || x->f != npi_names_count(wanted))
        code = refuse(wanted, x->columns, owner, bearer, err);
    else if (moved == 0)
        *out = npi_features_share(x);
    else
        code = npi_features_permute_columns(out, x, to, env, err);
    if (!code && moved > 0)
        (*out)->columns = npi_names_share(wanted);
    npi_free(env, to);
    return code;
}

/* E_MISMATCH where one side was encoded in another way than the other. */
static int check_encoding(const npi_encoding *wanted, const npi_encoding *given, const char *owner, const char *bearer,
                          npgnn_error *err)
{
    if (wanted && !given)
        return npi_fail(err, NPGNN_E_MISMATCH,
                        "the features of %s were made from a table, those of %s were not: read its table with the "
                        "encoding of %s",
                        owner, bearer, owner);
    if (!wanted && given)
        return npi_fail(err, NPGNN_E_MISMATCH,
                        "the features of %s are the numbers of a file, those of %s were made from a table: read that "
                        "with the encoding \"raw\"",
                        owner, bearer);
    if (wanted && !npi_encoding_same(wanted, given))
        return npi_fail(err, NPGNN_E_MISMATCH,
                        "the features of %s were made from their table in another way than those of %s: read the table "
                        "with the encoding of %s",
                        bearer, owner, owner);
    return 0;
}

int npi_features_match(npi_features **out, npi_features *x, npi_names *wanted, npi_encoding *encoding, int32_t count,
                       const char *owner, const char *bearer, const npgnn_env *env, npgnn_error *err)
{
    npi_features *matched = NULL;
    int code = 0;
    /* other columns are the plainer mistake, and named first */
    if (wanted && x->columns)
        code = match_names(&matched, x, wanted, owner, bearer, env, err);
    else if (x->f != count)
        code = npi_fail(err, NPGNN_E_MISMATCH, "%s has %d feature columns, %s has %d", owner, count, bearer, x->f);
    else
        matched = npi_features_share(x);
    if (!code)
        code = check_encoding(encoding, x->encoding, owner, bearer, err);
    if (!code && matched != x) /* its columns are in the order of the encoding now */
        matched->encoding = npi_encoding_share(encoding);
    if (code)
        npi_features_free(matched);
    else
        *out = matched;
    return code;
}

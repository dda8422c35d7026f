/* How the columns of a table become columns of X. A column of the table is of one kind:
 *
 *   number, date   one column, (clip(x, low, high) - center) / scale; a date is its days since 1970. A missing value is 0,
 *                  the center. Numbers have a decimal point or, where the table had these, a decimal comma.
 *   flag           one column of 0 and 1; a missing value is `center`, the share of ones
 *   category       one column of 0 and 1 for each frequent value, "NAME=VALUE", and one for all others, "NAME=(other)"
 *   text           one column for each frequent word, "NAME:WORD"; a row is the tf-idf of its words, of length 1
 *   raw            one column, the number as it is
 *   ignored        none
 *
 * A column that has missing values gets one more, "NAME=(missing)"; text does not: it has no words then.
 *
 * An encoding is found from one table and then applied to that and to others, so that the same cell always becomes the same
 * numbers. It is stored as JSON (docs/use/formats.md). */
#ifndef NPI_FEATURES_ENCODING_H
#define NPI_FEATURES_ENCODING_H

#include "base/date.h"
#include "base/names.h"

typedef enum {
    NPI_KIND_NUMBER,
    NPI_KIND_CATEGORY,
    NPI_KIND_FLAG,
    NPI_KIND_DATE,
    NPI_KIND_TEXT,
    NPI_KIND_RAW,
    NPI_KIND_IGNORED,
    NPI_KINDS
} npi_kind;

/* The name of a kind, and the kind of a name; NPI_KINDS where there is none. */
const char *npi_kind_name(npi_kind kind);
npi_kind npi_kind_find(const char *name);

/* A column of the table. */
typedef struct npi_encoded {
    char *name; /* from the header; NULL: there was none */
    npi_kind kind;
    int side;          /* of a two-sided graph: 0 sources, 1 targets */
    int64_t rows;      /* of the table that the encoding was found from */
    int64_t missing;   /* missing values there */
    int flags_missing; /* 1: the last of its columns says that the value is missing */
    int decimal_comma; /* number, raw: 1: the table had 3,5 for three and a half */
    double center, scale, low, high;
    double least, most;   /* number, date: the range of the table */
    npi_date_order order; /* date */
    npi_names *values;    /* category: values with a column of their own; text: words; NULL for the other kinds */
    float *weight;        /* (values) text: idf of each word */
    int64_t *count;       /* (values) rows that have the value or word; those of a category descend */
    int other;            /* category: 1: there is a column for all other values */
    int32_t first, width; /* its columns of X */
    char why[96];         /* ignored: the reason */
} npi_encoded;

typedef struct npi_encoding {
    npgnn_env env;
    int references;
    char *id; /* the name of the column of ids, NULL: there is none */
    npi_encoded *columns;
    int32_t count;
    size_t capacity;
    int32_t width; /* columns of X */
    char *text;    /* JSON */
} npi_encoding;

/* An empty one with one reference. */
int npi_encoding_new(npi_encoding **out, const npgnn_env *env, npgnn_error *err);

/* Adds a column of this name, which may be NULL. *out is valid until the next one is added. */
int npi_encoding_add(npi_encoded **out, npi_encoding *encoding, const char *name, npgnn_error *err);

/* Numbers the columns of X, and writes the text. The encoding is complete then and can be shared. */
int npi_encoding_finish(npi_encoding *encoding, npgnn_error *err);

/* Reads the text of an encoding, and checks all of it. E_FORMAT; `where` is what the message calls it. */
int npi_encoding_parse(npi_encoding **out, const char *text, const char *where, const npgnn_env *env, npgnn_error *err);

/* The columns of the first, then those of the second, as a new encoding. */
int npi_encoding_join(npi_encoding **out, const npi_encoding *first, const npi_encoding *second, npgnn_error *err);

/* Adds a reference and returns the encoding; NULL gives NULL. npi_encoding_free drops one; NULL is allowed. */
npi_encoding *npi_encoding_share(npi_encoding *encoding);
void npi_encoding_free(npi_encoding *encoding);

/* The names of the columns of X, NULL where some column of the table has none. */
int npi_encoding_names(npi_names **out, const npi_encoding *encoding, npgnn_error *err);

/* Whether both make the same numbers of the same cells, whatever the order of the columns of the table and whatever
 * else was found in it. */
int npi_encoding_same(const npi_encoding *a, const npi_encoding *b);

/* The column of the table with this name, -1: there is none. */
int32_t npi_encoding_find(const npi_encoding *encoding, const char *name, int side);

/* ---- cells ---- */

/* Whether a cell has no value: it is empty, or a word such as NA. */
int npi_cell_is_missing(const char *cell);

/* The value of a flag: 1, 0, or -1 where the cell is none. */
int npi_cell_flag(const char *cell);

/* Cuts the next word off *rest, in lower case and at most size - 1 bytes of it. Words are runs of letters and digits;
 * every byte beyond ASCII counts as a letter. Returns its length, 0 where none is left. */
size_t npi_cell_word(char *word, size_t size, const char **rest);

/* Receives an element of the row of X. */
typedef int npi_encoded_fn(void *user, int32_t column, float value, npgnn_error *err);

/* The elements of X that a cell becomes, in ascending order of columns. `scratch` (the widest text column) is for
 * words. A number may have a decimal comma where the column has them; a point is always a decimal point, since the
 * reader of a file has removed those between thousands. Returns 1 where the cell is not of the column's kind, with *why
 * set; nothing was given to `see` then. */
int npi_encoding_apply(const npi_encoded *column, const char *cell, float *scratch, npi_encoded_fn *see, void *user,
                       const char **why, npgnn_error *err);

/* ---- descriptions ---- */

/* What is in the column, and what becomes of it, for people. */
void npi_encoded_summary(char *text, size_t size, const npi_encoded *column);
void npi_encoded_outcome(char *text, size_t size, const npi_encoded *column);

/* The index-th column as the public interface shows it; 0 past the last, and for an encoding that is NULL. */
int npi_encoding_describe(npgnn_table_column *out, const npi_encoding *encoding, int32_t index);

#endif

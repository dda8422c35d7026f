/* What the names of columns say: which column of a table has which role. */
#ifndef NPI_IO_HEADER_H
#define NPI_IO_HEADER_H

#include "base/env.h"

typedef enum {
    NPI_ROLE_SOURCE, /* one end of a link */
    NPI_ROLE_TARGET, /* the other end */
    NPI_ROLE_WEIGHT,
    NPI_ROLE_TIME,
    NPI_ROLE_ID, /* the node that a feature row belongs to */
} npi_role;

/* Whether a column of this name usually has this role. Case, punctuation and endings such as "_id" do not matter. */
int npi_header_has_role(const char *name, npi_role role);

/* Whether there is a name that this one, as the source or the target, makes the two ends of a link with
 * (npi_header_are_ends). */
int npi_header_may_be_end(const char *name, npi_role role);

/* Whether two names are the two ends of a link: "user" and "item", but also any word with 1 and 2, such as "id_1" and
 * "id_2". */
int npi_header_are_ends(const char *source, const char *target);

/* Finds two columns whose names say that they are the ends of a link, among the first NPI_HEADER_COLUMNS. */
#define NPI_HEADER_COLUMNS 1024
int npi_header_find_ends(int *source, int *target, char *const *names, int count);

/* Whether two names, in any order, are those of two kinds of nodes, such as "user_id" and "item_id", "Students" and
 * "course_no", or "gene" and "disease". */
int npi_header_are_two_kinds(const char *a, const char *b);

/* The column that `wanted` means: one of that name, or the column of that number, counted from 1. `names` (count) is
 * the header, NULL where there is none. -1 where no column is meant. */
int npi_header_find(const char *wanted, char *const *names, int count);

/* Appends names[i] for every i with in[i] set, or for all where `in` is NULL, as 'a', 'b', 'c', ...: at most `limit` of
 * them. Returns how many there are. */
int npi_header_list(char *text, size_t size, char *const *names, const unsigned char *in, int count, int limit);

#endif

/* Roles of columns by their names. A name is compared in lower case, without anything but letters and digits, and then
 * once more without an ending such as "id": "User_ID", "userId" and "user" are the same. */
#define _POSIX_C_SOURCE 200809L
#include "io/header.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

enum { WORD_SIZE = 32 };

static const char *const sources[] = {
    "source", "src",     "from",   "u",      "user",     "customer", "client", "buyer",  "follower", "sender",
    "citing", "head",    "author", "reader", "left",     "start",    "origin", "viewer", "person",   "subject",
    "member", "patient", "parent", "actor",  "employee", "drug",     "query",  "node1",  "id1",      NULL};
static const char *const targets[] = {
    "target",   "dst",      "dest",      "destination", "to",      "v",        "item",      "product",
    "followee", "followed", "following", "cited",       "tail",    "receiver", "recipient", "right",
    "end",      "movie",    "film",      "book",        "song",    "track",    "artist",    "friend",
    "paper",    "article",  "store",     "shop",        "game",    "business", "merchant",  "recipe",
    "object",   "child",    "group",     "gene",        "protein", "url",      "page",      "disease",
    "company",  "skill",    "tag",       "node2",       "id2",     NULL};
static const char *const weights[] = {"weight", "weights", "w",         "rating", "strength",
                                      "count",  "score",   "frequency", NULL};
static const char *const times[] = {"time", "timestamp", "date",      "datetime", "year",
                                    "day",  "created",   "createdat", "ts",       NULL};
/* Ends of two different kinds: who, and what they have to do with. */
static const char *const people[] = {"user",    "customer", "client",  "buyer",  "reader",  "viewer",
                                     "person",  "member",   "patient", "author", "subject", "employee",
                                     "visitor", "student",  "worker",  "u",      NULL};
static const char *const things[] = {"item",  "product", "movie",   "film",   "book", "song",     "track",    "artist",
                                     "paper", "article", "store",   "shop",   "game", "business", "merchant", "recipe",
                                     "group", "gene",    "protein", "url",    "page", "disease",  "company",  "skill",
                                     "tag",   "drug",    "session", "course", "job",  "i",        NULL};
static const char *const ids[] = {"id", "node", "name", "key", "index", NULL};

/* The letters and digits of a name, in lower case, cut to WORD_SIZE - 1. */
static void simplify(char out[WORD_SIZE], const char *name)
{
    size_t length = 0;
    for (; *name && length < WORD_SIZE - 1; name++)
        if (isalnum((unsigned char)*name) || (unsigned char)*name >= 0x80)
            out[length++] = (char)tolower((unsigned char)*name);
    out[length] = '\0';
}

/* Removes one of these endings, where something stands before it. Returns whether there was one. */
static int drop_one_of(char word[WORD_SIZE], const char *const endings[])
{
    size_t length = strlen(word);
    for (int i = 0; endings[i]; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(word + length - ending, endings[i]) == 0) {
            word[length - ending] = '\0';
            return 1;
        }
    }
    return 0;
}

/* The same for endings such as "id". */
static int drop_ending(char word[WORD_SIZE])
{
    return drop_one_of(word, ids);
}

static int is_one_of(const char *word, const char *const words[])
{
    for (int i = 0; words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return 1;
    return 0;
}

/* Whether a name ends with "id" as a word of its own: "customer_id", "customerId", "Customer ID", but not "paid". */
static int ends_with_id(const char *name)
{
    size_t length = strlen(name);
    if (length < 3 || strcasecmp(name + length - 2, "id") != 0)
        return 0;
    char before = name[length - 3];
    return !isalpha((unsigned char)before) || (name[length - 2] == 'I' && islower((unsigned char)before));
}

int npi_header_has_role(const char *name, npi_role role)
{
    static const char *const *const lists[] = {[NPI_ROLE_SOURCE] = sources,
                                               [NPI_ROLE_TARGET] = targets,
                                               [NPI_ROLE_WEIGHT] = weights,
                                               [NPI_ROLE_TIME] = times,
                                               [NPI_ROLE_ID] = ids};
    char word[WORD_SIZE];
    simplify(word, name);
    if (is_one_of(word, lists[role]))
        return 1;
    if (role == NPI_ROLE_ID)
        return !*name || ends_with_id(name) || strcmp(word, "nodeid") == 0; /* pandas' index has no name */
    return (role == NPI_ROLE_SOURCE || role == NPI_ROLE_TARGET) && drop_ending(word) && is_one_of(word, lists[role]);
}

int npi_header_may_be_end(const char *name, npi_role role)
{
    char word[WORD_SIZE], digit = role == NPI_ROLE_SOURCE ? '1' : '2';
    if (npi_header_has_role(name, role))
        return 1;
    simplify(word, name);
    for (int i = 0; i < 2; i++) { /* as in npi_header_are_ends */
        size_t length = strlen(word);
        if (length > 1 && word[length - 1] == digit && isalpha((unsigned char)word[0]))
            return 1;
        if (!drop_ending(word))
            return 0;
    }
    return 0;
}

int npi_header_are_ends(const char *source, const char *target)
{
    char a[WORD_SIZE], b[WORD_SIZE];
    if (npi_header_has_role(source, NPI_ROLE_SOURCE) && npi_header_has_role(target, NPI_ROLE_TARGET))
        return 1;
    /* the same word, with 1 and 2 */
    simplify(a, source);
    simplify(b, target);
    for (int i = 0; i < 2; i++) { /* first as they are, then without an ending */
        size_t length = strlen(a);
        if (length > 1 && length == strlen(b) && memcmp(a, b, length - 1) == 0 && a[length - 1] == '1' &&
            b[length - 1] == '2' && isalpha((unsigned char)a[0]))
            return 1;
        if (!drop_ending(a) || !drop_ending(b))
            return 0;
    }
    return 0;
}

int npi_header_find_ends(int *source, int *target, char *const *names, int count)
{
    unsigned char end[NPI_HEADER_COLUMNS]; /* 1: may be the source, 2: the target, 3: either */
    count = count < NPI_HEADER_COLUMNS ? count : NPI_HEADER_COLUMNS;
    for (int i = 0; i < count; i++)
        end[i] = (unsigned char)(npi_header_may_be_end(names[i], NPI_ROLE_SOURCE) |
                                 npi_header_may_be_end(names[i], NPI_ROLE_TARGET) << 1);
    /* pairs are many: only those are compared that can be ends at all */
    for (int i = 0; i < count; i++)
        for (int j = 0; end[i] & 1 && j < count; j++)
            if (i != j && end[j] & 2 && npi_header_are_ends(names[i], names[j])) {
                *source = i;
                *target = j;
                return 1;
            }
    return 0;
}

/* The kind of nodes that a name says, without an ending and a plural: "user" of "Users" and "user_idx". Returns 1 for
 * people, 2 for things, 0 for neither. */
static int kind_of(char word[WORD_SIZE], const char *name)
{
    simplify(word, name);
    if (!drop_ending(word))
        drop_one_of(word, (const char *const[]){"idx", "code", "number", "no", NULL});
    for (int i = 0; i < 2; i++)
        if (is_one_of(word, people))
            return 1;
        else if (is_one_of(word, things))
            return 2;
        else if (!drop_one_of(word, (const char *const[]){"s", NULL}))
            break;
    return 0;
}

int npi_header_are_two_kinds(const char *a, const char *b)
{
    char word_a[WORD_SIZE], word_b[WORD_SIZE];
    int kind_a = kind_of(word_a, a), kind_b = kind_of(word_b, b);
    return kind_a && kind_b && (kind_a == 2 || kind_b == 2) && strcmp(word_a, word_b) != 0;
}

int npi_header_find(const char *wanted, char *const *names, int count)
{
    int64_t number;
    for (int i = 0; names && i < count; i++)
        if (strcmp(names[i], wanted) == 0)
            return i;
    for (int i = 0; names && i < count; i++)
        if (strcasecmp(names[i], wanted) == 0)
            return i;
    return npi_number_parse_int(&number, wanted) && number >= 1 && number <= count ? (int)number - 1 : -1;
}

int npi_header_list(char *text, size_t size, char *const *names, const unsigned char *in, int count, int limit)
{
    int listed = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        if (in && !in[i])
            continue;
        if (listed++ > limit || used >= size)
            continue;
        int wrote = listed <= limit ? snprintf(text + used, size - used, "%s'%.40s'", used ? ", " : "",
                                               *names[i] ? names[i] : "(no name)")
                                    : snprintf(text + used, size - used, ", ...");
        used += (size_t)wrote;
    }
    return listed;
}

/* A small table-driven option parser: long and short options, `--name=value`, `--`, the nearest known name for an unknown
 * one, and help generated from the same tables. It knows nothing of npgnn. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stddef.h>
#include <stdio.h>

typedef enum {
    ARG_FLAG,   /* int field becomes 1; takes no value */
    ARG_TEXT,   /* const char * field */
    ARG_INT,    /* int field, least .. most */
    ARG_U64,    /* uint64_t field */
    ARG_REAL,   /* double field, least .. most */
    ARG_CHOICE, /* int field: index of the value in `value`, "a|b|c" */
    ARG_PAIR    /* arg_pairs field: (key, value) is appended */
} arg_kind;

typedef struct arg_option {
    const char *name; /* without the dashes */
    char letter;      /* of the short form, or 0 */
    arg_kind kind;
    size_t offset;       /* of the field in the command's settings */
    const char *value;   /* what help calls the value; NULL: the option takes none */
    const char *help;    /* one or two short sentences */
    double least, most;  /* of a number */
    const char *implied; /* the value when the command line gives none: it ends there, or an option follows */
    const char *key;     /* of a pair */
    const char *word;    /* that a real number's option takes instead of one, for -1 */
} arg_option;

/* Options that help shows under one heading. */
typedef struct arg_group {
    const char *heading;
    const arg_option *options;
    int count;
} arg_group;

#define ARG_MAX_PAIRS 128
typedef struct arg_pairs {
    struct {
        const char *key, *value;
    } item[ARG_MAX_PAIRS];
    int count;
} arg_pairs;

#define ARG_MAX_OPERANDS 2
#define ARG_MAX_GROUPS 4

/* A command: what it takes and how help describes it. */
typedef struct arg_command {
    const char *name;
    const char *usage;                                /* what follows the name: "DATA -o MODEL [OPTION...]" */
    const char *summary;                              /* one line */
    const char *description;                          /* a paragraph or two */
    const char *examples;                             /* lines */
    const char *operands[ARG_MAX_OPERANDS];           /* their names; all are required */
    const arg_group *(*groups[ARG_MAX_GROUPS])(void); /* the first group that knows a name wins */
} arg_command;

/* Parses the words after the command's name into `settings` and `operands`. Returns 0, EXIT_USAGE after having said what
 * is wrong, or ARG_HELP when --help was among them. */
#define ARG_HELP (-1)
int arg_parse(void *settings, const char *operands[ARG_MAX_OPERANDS], const arg_command *command, int argc,
              char **argv);

/* The option with this name that the command knows, or NULL. */
const arg_option *arg_find(const arg_command *command, const char *name, size_t length);

/* Of `count` names, the one with the fewest edits from `word`, or NULL when all are too far away to be what was meant. */
const char *arg_nearest(const char *word, const char *const *names, int count);

/* The help of one command. */
void arg_help(FILE *out, const arg_command *command);

#endif

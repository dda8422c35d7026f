/* A table-driven option parser: long and short options, `--name=value`, `--`, operands, and help generated from the
 * same tables. For an unknown option it suggests the most similar known one. It knows nothing of npgnn.
 *
 * Each command has a settings struct of its own. A row of an option table names the member that takes the value by its
 * offset. Commands share tables by embedding the struct that a table fills: the group then has the offset of that
 * struct. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stddef.h>
#include <stdio.h>

typedef enum {
    ARG_FLAG,   /* int member becomes 1; takes no value */
    ARG_TEXT,   /* const char * member */
    ARG_INT,    /* int member, min .. max */
    ARG_U64,    /* uint64_t member */
    ARG_REAL,   /* double member, min .. max */
    ARG_CHOICE, /* int member: the index of the value in `value`, "a|b|c" */
    ARG_PAIR    /* arg_pairs member: (key, value) is appended */
} arg_kind;

typedef struct arg_option {
    const char *name; /* without the dashes; NULL ends a table */
    char letter;      /* of the short form, or 0 */
    arg_kind kind;
    size_t offset;       /* of the member, in the struct that the table fills */
    const char *value;   /* what help calls the value; NULL: the option takes none */
    const char *help;    /* one or two short sentences */
    double min, max;     /* ARG_INT, ARG_REAL */
    const char *implied; /* the value where the command line ends after the option, or another option follows */
    const char *key;     /* ARG_PAIR */
    int once;            /* ARG_TEXT: giving it again is an error */
    const char *word;    /* ARG_REAL: a word that is accepted instead of a number and stored as -1 */
} arg_option;

/* A row of an option table. min, max and further members may follow the help text. */
#define OPTION(name_, letter_, kind_, offset_, value_, ...)                                                            \
    {                                                                                                                  \
        .name = name_, .letter = letter_, .kind = kind_, .offset = offset_, .value = value_, .help = __VA_ARGS__       \
    }
#define OPTIONS_END                                                                                                    \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }

/* An option table under its heading in the help. */
typedef struct arg_group {
    const char *heading;
    const arg_option *options; /* up to OPTIONS_END */
    size_t offset;             /* of the struct that the table fills, in the command's settings */
} arg_group;

/* An argument that is not an option. */
typedef struct arg_operand {
    const char *name; /* in help and messages */
    size_t offset;    /* of a const char * member of the command's settings */
    const char
        *unless; /* the operand may be missing where this option, or one of "a|b", is given; NULL: it is required */
} arg_operand;

enum { ARG_MAX_PAIRS = 128, ARG_MAX_OPERANDS = 2, ARG_MAX_GROUPS = 6, ARG_MAX_GIVEN = 256 };

/* The options that a command line has, each once. */
typedef struct arg_given {
    const arg_option *item[ARG_MAX_GIVEN];
    int count;
} arg_given;

/* Options that have no effect beside others. To give one is an error: "--OPTION is not used BY: HINT". */
typedef struct arg_rule {
    const char *options;     /* "a|b"; NULL: all of `table` */
    const arg_option *table; /* NULL with `options` */
    size_t offset;           /* of the struct that `unused` reads, in the command's settings */
    /* Whether the option has no effect. Then `by` becomes the rest of the sentence, such as "by the method katz". */
    int (*unused)(char *by, size_t size, const void *part, const arg_option *option);
    const char *hint; /* or NULL */
} arg_rule;

typedef struct arg_pairs {
    struct {
        const char *key, *value;
    } item[ARG_MAX_PAIRS];
    int count;
} arg_pairs;

/* A command: what it accepts and how help describes it. */
typedef struct arg_command {
    const char *name;
    const char *usage;       /* what follows the name: "DATA -o MODEL [OPTION...]" */
    const char *summary;     /* one line */
    const char *description; /* a paragraph */
    const char *examples;    /* lines */
    arg_operand operands[ARG_MAX_OPERANDS];
    arg_group groups[ARG_MAX_GROUPS]; /* where two groups have an option of the same name, the first wins */
    const arg_rule *rules;            /* up to one without `unused`; NULL: none */
} arg_command;

/* Parses the words after the command's name into its settings, which hold the defaults before. Returns 0, EXIT_USAGE
 * after printing what is wrong, or ARG_HELP when the words include --help. */
#define ARG_HELP (-1)
int arg_parse(void *settings, arg_given *given, const arg_command *command, int argc, char **argv);

/* Checks the options that were given by the rules. Returns 0, or EXIT_USAGE after printing which option is not used. */
int arg_check(const void *settings, const arg_given *given, const arg_command *command, const arg_rule *rules);

/* The option with this name that the command accepts, or NULL. Where `group` is not NULL, it receives the option's
 * group. */
const arg_option *arg_find(const arg_group **group, const arg_command *command, const char *name, size_t length);

/* The name among `count` that is most similar to `word`, or NULL when none is similar. */
const char *arg_nearest(const char *word, const char *const *names, int count);

/* Prints the help of a command. */
void arg_help(FILE *out, const arg_command *command);

#endif

/* Parses a command line by the option tables of a command. */
#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

/* ---- finding options ---- */

const arg_option *arg_find(const arg_group **group, const arg_command *command, const char *name, size_t length)
{
    for (int g = 0; g < ARG_MAX_GROUPS && command->groups[g].options; g++)
        for (const arg_option *option = command->groups[g].options; option->name; option++)
            if (strncmp(option->name, name, length) == 0 && option->name[length] == '\0') {
                if (group)
                    *group = &command->groups[g];
                return option;
            }
    return NULL;
}

static const arg_option *find_letter(const arg_group **group, const arg_command *command, char letter)
{
    for (int g = 0; g < ARG_MAX_GROUPS && command->groups[g].options; g++)
        for (const arg_option *option = command->groups[g].options; option->name; option++)
            if (option->letter == letter) {
                *group = &command->groups[g];
                return option;
            }
    return NULL;
}

/* The Levenshtein distance, computed in one row of the usual table. Words longer than the row count as far apart. */
static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 64 };
    int row[LONGEST + 1];
    size_t length = strlen(b);
    if (length > LONGEST || strlen(a) > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= length; j++)
        row[j] = (int)j;
    for (size_t i = 0; a[i]; i++) {
        int diagonal = row[0]; /* the entry of the previous row, one column to the left */
        row[0] = (int)i + 1;
        for (size_t j = 0; j < length; j++) {
            int replaced = diagonal + (a[i] != b[j]);
            int inserted_or_deleted = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            diagonal = row[j + 1];
            row[j + 1] = replaced < inserted_or_deleted ? replaced : inserted_or_deleted;
        }
    }
    return row[length];
}

const char *arg_nearest(const char *word, const char *const *names, int count)
{
    const char *nearest = NULL;
    int best = (int)strlen(word) / 3 + 2; /* a name that needs this many edits is a different word */
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(word, names[i]);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

static int unknown_option(const arg_command *command, const char *word, size_t length)
{
    enum { MAX_NAMES = 256 };
    const char *names[MAX_NAMES];
    char name[64];
    int count = 0;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), word);
    for (int g = 0; g < ARG_MAX_GROUPS && command->groups[g].options; g++)
        for (const arg_option *option = command->groups[g].options; option->name && count < MAX_NAMES; option++)
            names[count++] = option->name;
    const char *nearest = arg_nearest(name, names, count);
    if (nearest)
        return print_usage_error(command->name, "unknown option --%s; did you mean --%s?", name, nearest);
    return print_usage_error(command->name, "unknown option --%s", name);
}

/* ---- values ---- */

/* Stores the value of an option in its member. */
static int set_value(void *member, const arg_command *command, const arg_option *option, const char *value)
{
    const char *kind = option->kind == ARG_REAL ? "a number" : "an integer";
    char *end;
    errno = 0;
    switch (option->kind) {
    case ARG_FLAG:
        *(int *)member = 1;
        return 0;
    case ARG_TEXT:
        if (option->once && *(const char **)member)
            return print_usage_error(command->name, "--%s was given twice, as '%s' and as '%s'", option->name,
                                     *(const char **)member, value);
        *(const char **)member = value;
        return 0;
    case ARG_INT: {
        long number = strtol(value, &end, 10);
        if (errno || end == value || *end || (double)number < option->min || (double)number > option->max)
            break;
        *(int *)member = (int)number;
        return 0;
    }
    case ARG_REAL: {
        if (option->word && strcmp(value, option->word) == 0) {
            *(double *)member = -1;
            return 0;
        }
        /* the program never calls setlocale, so the decimal point is always a point */
        double number = strtod(value, &end);
        if (end == value || *end || !(number >= option->min && number <= option->max)) /* NaN is refused too */
            break;
        *(double *)member = number;
        return 0;
    }
    case ARG_U64: {
        unsigned long long number = strtoull(value, &end, 10);
        /* strtoull would accept "-1" and return the largest number */
        if (errno || !isdigit((unsigned char)*value) || *end)
            return print_usage_error(command->name, "--%s must be a non-negative integer, got '%s'", option->name,
                                     value);
        *(uint64_t *)member = number;
        return 0;
    }
    case ARG_CHOICE: {
        size_t length = strlen(value);
        const char *choice = option->value;
        for (int index = 0; choice; index++) {
            size_t choice_length = strcspn(choice, "|");
            if (choice_length == length && strncmp(choice, value, length) == 0) {
                *(int *)member = index;
                return 0;
            }
            choice = choice[choice_length] ? choice + choice_length + 1 : NULL;
        }
        return print_usage_error(command->name, "--%s must be one of %s, got '%s'", option->name, option->value, value);
    }
    case ARG_PAIR: {
        arg_pairs *pairs = member;
        if (pairs->count == ARG_MAX_PAIRS)
            return print_usage_error(command->name, "too many options: at most %d are accepted", ARG_MAX_PAIRS);
        pairs->item[pairs->count].key = option->key;
        pairs->item[pairs->count++].value = value;
        return 0;
    }
    }
    return print_usage_error(command->name, "--%s must be %s from %.15g to %.15g%s%s, got '%s'", option->name, kind,
                             option->min, option->max, option->word ? " or " : "", option->word ? option->word : "",
                             value);
}

/* ---- the command line ---- */

typedef struct parser {
    char *settings;
    arg_given *given;
    const arg_command *command;
    char **argv;
    int argc, next; /* argv[next] is the first word that was not looked at */
    int operands;   /* how many were found */
} parser;

/* The value of an option is attached to it ("--name=value", "-nvalue"), or the next word, or implied. */
static int parse_value(parser *p, const arg_group *group, const arg_option *option, const char *attached)
{
    const char *value = attached;
    if (!option->value) {
        if (attached)
            return print_usage_error(p->command->name, "--%s takes no value", option->name);
        value = option->implied; /* ARG_PAIR: --no-KEY stores (KEY, "off") */
    } else if (!attached) {
        const char *next = p->next < p->argc ? p->argv[p->next] : NULL;
        int is_option = next && next[0] == '-' && next[1]; /* "-" alone is a file name */
        if (option->implied && (!next || is_option)) {
            value = option->implied;
        } else if (next) {
            value = next;
            p->next++;
        } else {
            return print_usage_error(p->command->name, "--%s needs a value: %s", option->name, option->value);
        }
    }
    int seen = p->given->count == ARG_MAX_GIVEN;
    for (int i = 0; i < p->given->count; i++)
        seen |= p->given->item[i] == option;
    if (!seen)
        p->given->item[p->given->count++] = option;
    return set_value(p->settings + group->offset + option->offset, p->command, option, value);
}

static int parse_long(parser *p, const char *word)
{
    const arg_group *group = NULL;
    size_t length = strcspn(word, "=");
    const arg_option *option = arg_find(&group, p->command, word, length);
    if (!option)
        return unknown_option(p->command, word, length);
    return parse_value(p, group, option, word[length] ? word + length + 1 : NULL);
}

/* -o FILE, -oFILE, -q, and several in one word: -qo FILE. */
static int parse_short(parser *p, const char *letters)
{
    for (; *letters; letters++) {
        const arg_group *group = NULL;
        const arg_option *option = find_letter(&group, p->command, *letters);
        if (!option)
            return print_usage_error(p->command->name, "unknown option -%c", *letters);
        if (option->value) /* the rest of the word, if any, is the value */
            return parse_value(p, group, option, letters[1] ? letters + 1 : NULL);
        int code = parse_value(p, group, option, NULL);
        if (code)
            return code;
    }
    return 0;
}

static int parse_operand(parser *p, const char *word)
{
    const arg_operand *operand = &p->command->operands[p->operands];
    if (p->operands == ARG_MAX_OPERANDS || !operand->name)
        return print_usage_error(p->command->name, "unexpected argument '%s'", word);
    *(const char **)(void *)(p->settings + operand->offset) = word;
    p->operands++;
    return 0;
}

/* Whether `names`, "a|b", has this name. */
static int is_listed(const char *names, const char *name)
{
    for (size_t length; *names; names += length + (names[length] == '|')) {
        length = strcspn(names, "|");
        if (strlen(name) == length && strncmp(names, name, length) == 0)
            return 1;
    }
    return 0;
}

/* Whether one of the options "a|b" was given. */
static int is_given(const arg_given *given, const char *names)
{
    for (int i = 0; i < given->count; i++)
        if (is_listed(names, given->item[i]->name))
            return 1;
    return 0;
}

static int check_operands(const parser *p)
{
    const arg_command *command = p->command;
    for (int i = p->operands; i < ARG_MAX_OPERANDS && command->operands[i].name; i++)
        if (!command->operands[i].unless || !is_given(p->given, command->operands[i].unless))
            return print_usage_error(command->name, "missing argument %s; usage: npgnn %s %s",
                                     command->operands[i].name, command->name, command->usage);
    return 0;
}

int arg_parse(void *settings, arg_given *given, const arg_command *command, int argc, char **argv)
{
    parser p = {.settings = settings, .given = given, .command = command, .argv = argv, .argc = argc};
    given->count = 0;
    int only_operands = 0, code = 0; /* after "--" */
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return ARG_HELP;
    while (code == 0 && p.next < argc) {
        const char *word = argv[p.next++];
        if (only_operands || word[0] != '-' || !word[1])
            code = parse_operand(&p, word);
        else if (strcmp(word, "--") == 0)
            only_operands = 1;
        else if (word[1] == '-')
            code = parse_long(&p, word + 2);
        else
            code = parse_short(&p, word + 1);
    }
    return code ? code : check_operands(&p);
}

/* ---- rules ---- */

/* Whether a rule is about an option. */
static int concerns(const arg_rule *rule, const arg_option *option)
{
    if (rule->options)
        return is_listed(rule->options, option->name);
    for (const arg_option *row = rule->table; row->name; row++)
        if (row == option)
            return 1;
    return 0;
}

int arg_check(const void *settings, const arg_given *given, const arg_command *command, const arg_rule *rules)
{
    for (const arg_rule *rule = rules; rule && rule->unused; rule++)
        for (int i = 0; i < given->count; i++) {
            const arg_option *option = given->item[i];
            char by[256] = "";
            if (concerns(rule, option) && rule->unused(by, sizeof by, (const char *)settings + rule->offset, option))
                return print_usage_error(command->name, "--%s is not used %s%s%s", option->name, by,
                                         rule->hint ? ": " : "", rule->hint ? rule->hint : "");
        }
    return 0;
}

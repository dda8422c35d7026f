#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

/* ---- looking names up ---- */

const arg_option *arg_find(const arg_command *command, const char *name, size_t length)
{
    for (int g = 0; g < ARG_MAX_GROUPS && command->groups[g]; g++) {
        const arg_group *group = command->groups[g]();
        for (int i = 0; i < group->count; i++)
            if (strncmp(group->options[i].name, name, length) == 0 && group->options[i].name[length] == '\0')
                return &group->options[i];
    }
    return NULL;
}

static const arg_option *find_letter(const arg_command *command, char letter)
{
    for (int g = 0; g < ARG_MAX_GROUPS && command->groups[g]; g++) {
        const arg_group *group = command->groups[g]();
        for (int i = 0; i < group->count; i++)
            if (group->options[i].letter == letter)
                return &group->options[i];
    }
    return NULL;
}

/* Levenshtein's distance, over one row of the usual table; words longer than the row count as far apart. */
static int edits(const char *a, const char *b)
{
    enum { LONGEST = 64 };
    int row[LONGEST + 1];
    size_t length = strlen(b);
    if (length > LONGEST || strlen(a) > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= length; j++)
        row[j] = (int)j;
    for (size_t i = 0; a[i]; i++) {
        int diagonal = row[0];
        row[0] = (int)i + 1;
        for (size_t j = 0; j < length; j++) {
            int replaced = diagonal + (a[i] != b[j]);
            int shorter = row[j] < row[j + 1] ? row[j] : row[j + 1];
            diagonal = row[j + 1];
            row[j + 1] = replaced < shorter + 1 ? replaced : shorter + 1;
        }
    }
    return row[length];
}

const char *arg_nearest(const char *word, const char *const *names, int count)
{
    const char *nearest = NULL;
    int best = (int)strlen(word) / 3 + 2; /* more edits than that and it is another word */
    for (int i = 0; i < count; i++) {
        int distance = edits(word, names[i]);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

static int say_unknown(const arg_command *command, const char *name)
{
    enum { MOST = 256 };
    const char *names[MOST];
    int count = 0;
    for (int g = 0; g < ARG_MAX_GROUPS && command->groups[g]; g++) {
        const arg_group *group = command->groups[g]();
        for (int i = 0; i < group->count && count < MOST; i++)
            names[count++] = group->options[i].name;
    }
    const char *nearest = arg_nearest(name, names, count);
    if (nearest)
        return say_usage(command->name, "unknown option --%s; did you mean --%s?", name, nearest);
    return say_usage(command->name, "unknown option --%s", name);
}

/* ---- values ---- */

static int out_of_range(const arg_command *command, const arg_option *option, const char *value)
{
    const char *kind = option->kind == ARG_REAL ? "a number" : "a whole number";
    return say_usage(command->name, "--%s takes %s from %g to %g%s%s, not '%s'", option->name, kind, option->least,
                     option->most, option->word ? " or " : "", option->word ? option->word : "", value);
}

static int set_int(int *field, const arg_command *command, const arg_option *option, const char *value)
{
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (errno || end == value || *end || (double)number < option->least || (double)number > option->most)
        return out_of_range(command, option, value);
    *field = (int)number;
    return 0;
}

static int set_u64(uint64_t *field, const arg_command *command, const arg_option *option, const char *value)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    /* strtoull would take "-1" for the largest number there is */
    if (errno || !isdigit((unsigned char)*value) || *end)
        return say_usage(command->name, "--%s takes a whole number from 0 on, not '%s'", option->name, value);
    *field = number;
    return 0;
}

static int set_real(double *field, const arg_command *command, const arg_option *option, const char *value)
{
    char *end;
    if (option->word && strcmp(value, option->word) == 0) {
        *field = -1;
        return 0;
    }
    double number = strtod(value, &end); /* the program never calls setlocale: the point is a point everywhere */
    int inside = number >= option->least && number <= option->most; /* false for NaN */
    if (end == value || *end || !inside)
        return out_of_range(command, option, value);
    *field = number;
    return 0;
}

static int set_choice(int *field, const arg_command *command, const arg_option *option, const char *value)
{
    size_t length = strlen(value);
    const char *choice = option->value;
    for (int index = 0; choice; index++) {
        size_t end = strcspn(choice, "|");
        if (end == length && strncmp(choice, value, length) == 0) {
            *field = index;
            return 0;
        }
        choice = choice[end] ? choice + end + 1 : NULL;
    }
    return say_usage(command->name, "--%s takes %s, not '%s'", option->name, option->value, value);
}

static int add_pair(arg_pairs *pairs, const arg_command *command, const char *key, const char *value)
{
    if (pairs->count == ARG_MAX_PAIRS)
        return say_usage(command->name, "more than %d options", ARG_MAX_PAIRS);
    pairs->item[pairs->count].key = key;
    pairs->item[pairs->count++].value = value;
    return 0;
}

static int set(void *settings, const arg_command *command, const arg_option *option, const char *value)
{
    void *field = (char *)settings + option->offset;
    switch (option->kind) {
    case ARG_FLAG:
        *(int *)field = 1;
        return 0;
    case ARG_TEXT:
        *(const char **)field = value;
        return 0;
    case ARG_INT:
        return set_int(field, command, option, value);
    case ARG_U64:
        return set_u64(field, command, option, value);
    case ARG_REAL:
        return set_real(field, command, option, value);
    case ARG_CHOICE:
        return set_choice(field, command, option, value);
    case ARG_PAIR:
        return add_pair(field, command, option->key, value);
    }
    return 0;
}

/* ---- the command line ---- */

typedef struct cursor {
    char **argv;
    int argc, next;
} cursor;

/* The value of an option: `attached` to it, the next word, or what is implied. NULL where one is missing. */
static const char *take_value(cursor *at, const arg_option *option, const char *attached)
{
    if (attached)
        return attached;
    int more = at->next < at->argc;
    if (option->implied && (!more || (at->argv[at->next][0] == '-' && at->argv[at->next][1])))
        return option->implied;
    return more ? at->argv[at->next++] : NULL;
}

static int parse_value(void *settings, cursor *at, const arg_command *command, const arg_option *option,
                       const char *attached)
{
    if (!option->value) {
        if (attached)
            return say_usage(command->name, "--%s takes no value", option->name);
        return set(settings, command, option, option->implied);
    }
    const char *value = take_value(at, option, attached);
    if (!value)
        return say_usage(command->name, "--%s needs a value: %s", option->name, option->value);
    return set(settings, command, option, value);
}

static int parse_long(void *settings, cursor *at, const arg_command *command, const char *word)
{
    size_t length = strcspn(word, "=");
    const arg_option *option = arg_find(command, word, length);
    if (option)
        return parse_value(settings, at, command, option, word[length] ? word + length + 1 : NULL);
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), word);
    return say_unknown(command, name);
}

/* -o FILE, -oFILE, -q, and flags in one word: -qo FILE. */
static int parse_short(void *settings, cursor *at, const arg_command *command, const char *letters)
{
    for (; *letters; letters++) {
        const arg_option *option = find_letter(command, *letters);
        if (!option)
            return say_usage(command->name, "unknown option -%c", *letters);
        if (option->value)
            return parse_value(settings, at, command, option, letters[1] ? letters + 1 : NULL);
        int code = parse_value(settings, at, command, option, NULL);
        if (code)
            return code;
    }
    return 0;
}

static int take_operand(const char *operands[], int *count, const arg_command *command, const char *word)
{
    if (*count == ARG_MAX_OPERANDS || !command->operands[*count])
        return say_usage(command->name, "one word too many: '%s'", word);
    operands[(*count)++] = word;
    return 0;
}

static int asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return 1;
    return 0;
}

int arg_parse(void *settings, const char *operands[ARG_MAX_OPERANDS], const arg_command *command, int argc, char **argv)
{
    cursor at = {argv, argc, 0};
    int count = 0, code = 0, only_operands = 0;
    if (asks_for_help(argc, argv))
        return ARG_HELP;
    while (code == 0 && at.next < argc) {
        const char *word = argv[at.next++];
        if (only_operands || word[0] != '-' || !word[1])
            code = take_operand(operands, &count, command, word);
        else if (strcmp(word, "--") == 0)
            only_operands = 1;
        else if (word[1] == '-')
            code = parse_long(settings, &at, command, word + 2);
        else
            code = parse_short(settings, &at, command, word + 1);
    }
    return code;
}

/* Help, generated from the same tables that parse. */
#include <string.h>

#include "args.h"

enum {
    WIDTH = 100, /* of the page */
    COLUMN = 32, /* where explanations start */
};

/* Prints words from column `column` on, wrapped with an indent; ends the line. */
static void print_wrapped(FILE *out, const char *text, int column, int indent)
{
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
}

static void print_option(FILE *out, const arg_option *option)
{
    char left[256], letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    int brackets = option->value && option->implied;
    snprintf(left, sizeof left, "  %s--%s%s%s%s%s", letter, option->name, option->value ? " " : "", brackets ? "[" : "",
             option->value ? option->value : "", brackets ? "]" : "");
    fputs(left, out);
    int length = (int)strlen(left);
    if (length > COLUMN - 2)
        fprintf(out, "\n%*s", COLUMN, "");
    else
        fprintf(out, "%*s", COLUMN - length, "");
    print_wrapped(out, option->help, COLUMN, COLUMN);
}

/* An option that an earlier group has too is that group's. */
static void print_group(FILE *out, const arg_command *command, const arg_group *group)
{
    fprintf(out, "\n%s:\n", group->heading);
    for (int i = 0; i < group->count; i++) {
        const arg_option *option = &group->options[i];
        if (arg_find(command, option->name, strlen(option->name)) == option)
            print_option(out, option);
    }
}

void arg_help(FILE *out, const arg_command *command)
{
    fprintf(out, "Usage: npgnn %s %s\n\n", command->name, command->usage);
    print_wrapped(out, command->description, 0, 0);
    for (int g = 0; g < ARG_MAX_GROUPS && command->groups[g]; g++)
        print_group(out, command, command->groups[g]());
    fprintf(out, "\nExamples:\n%s", command->examples);
}

/* The help of a command, generated from the tables that parse its command line. */
#include <string.h>

#include "args.h"

enum {
    WIDTH = 100, /* of the text */
    COLUMN = 32, /* where explanations start */
};

/* Prints `text` from column `column` on, wrapped at WIDTH with an indent, and ends the line. */
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

void arg_help(FILE *out, const arg_command *command)
{
    fprintf(out, "Usage: npgnn %s %s\n\n", command->name, command->usage);
    print_wrapped(out, command->description, 0, 0);
    for (int g = 0; g < ARG_MAX_GROUPS && command->groups[g].options; g++) {
        fprintf(out, "\n%s:\n", command->groups[g].heading);
        for (const arg_option *option = command->groups[g].options; option->name; option++)
            /* an option that an earlier group has too is listed there */
            if (arg_find(NULL, command, option->name, strlen(option->name)) == option)
                print_option(out, option);
    }
    fprintf(out, "\nExamples:\n%s", command->examples);
}

/* Option tables that are generated from lists of the library: the options of the model, and the methods of `eval`. What
 * is added to the library appears on the command line by itself. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "settings.h"

enum { MAX_KEYS = 64, MAX_OPTIONS = 2 * MAX_KEYS + 3 /* --preset, --epochs and the end */ };

arg_option model_options[MAX_OPTIONS];
arg_option method_options[2], heuristic_options[2];

#define AT(member) offsetof(model_settings, member)

/* Appends to a text, shortened to its size. */
static void append_text(char *text, size_t size, const char *separator, const char *more)
{
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? separator : "", more);
}

static arg_option *append(int *count, const char *name, const char *key, const char *value, const char *help)
{
    arg_option *option = &model_options[(*count)++];
    *option =
        (arg_option){.name = name, .kind = ARG_PAIR, .offset = AT(changes), .value = value, .help = help, .key = key};
    return option;
}

static void fill_model_options(void)
{
    static char help_texts[MAX_KEYS][256], no_names[MAX_KEYS][48], no_help[MAX_KEYS][64], preset_names[128],
        preset_help[512];
    int count = 0;
    preset_names[0] = '\0'; /* the fuzz target fills the tables again and again */
    npgnn_options defaults = {.size = sizeof defaults};
    npgnn_option_info info;
    const char *name, *about;
    npgnn_options_preset(&defaults, NULL, NULL);
    snprintf(preset_help, sizeof preset_help, "Initial values of the options below.");
    for (int i = 0; npgnn_preset_info(&name, &about, i); i++) {
        append_text(preset_names, sizeof preset_names, "|", name);
        append_text(preset_help, sizeof preset_help, i ? "; " : " ", name);
        append_text(preset_help, sizeof preset_help, ": ", about);
    }
    append_text(preset_names, sizeof preset_names, "|", UNIVERSAL);
    append_text(preset_help, sizeof preset_help, "; ",
                UNIVERSAL ": the model that comes with the program, learnt across graphs, without training on this one "
                          "(eval and reproduce) (default: default).");
    model_options[count++] = (arg_option)OPTION("preset", 0, ARG_TEXT, AT(preset), preset_names, preset_help);
    for (int i = 0; i < MAX_KEYS && npgnn_options_info(&info, i); i++) {
        char *help = help_texts[i], value[64] = "";
        int is_choice = strchr(info.values, '|') != NULL;
        npgnn_options_get(value, sizeof value, &defaults, info.key, NULL);
        /* help shows a list of choices beside the option's name, and a range after the explanation */
        if (is_choice)
            snprintf(help, sizeof help_texts[i], "%s (default %s).", info.help, value);
        else
            snprintf(help, sizeof help_texts[i], "%s (%s; default %s).", info.help, info.values, value);
        help[0] = (char)toupper((unsigned char)help[0]);
        append(&count, info.key, info.key, is_choice ? info.values : "N", help);
        if (strcmp(info.values, "on|off") == 0) {
            snprintf(no_names[i], sizeof no_names[i], "no-%s", info.key);
            snprintf(no_help[i], sizeof no_help[i], "Disable --%s.", info.key);
            append(&count, no_names[i], info.key, NULL, no_help[i])->implied = "off";
        }
        if (strcmp(info.key, "iterations") == 0)
            append(&count, "epochs", info.key, "N", "Same as --iterations.");
    }
    model_options[count].name = NULL;
}

static void fill_method_options(void)
{
    static char choices[320], help_text[1536], heuristics[320];
    const char *name, *help;
    choices[0] = help_text[0] = heuristics[0] = '\0';
    for (int i = 0; npgnn_method_info(&name, &help, i); i++) {
        if (strcmp(name, UNIVERSAL) == 0)
            continue; /* a preset here; the last in the library's list, so that the others keep their index */
        append_text(choices, sizeof choices, "|", name);
        if (strcmp(name, "npgnn") != 0 && strcmp(name, "cnp") != 0) /* models, which are trained first */
            append_text(heuristics, sizeof heuristics, "|", name);
        append_text(help_text, sizeof help_text, "; ", name);
        append_text(help_text, sizeof help_text, ": ", help);
    }
    append_text(help_text, sizeof help_text, " ", "(default npgnn).");
    method_options[0] = (arg_option)OPTION("method", 'm', ARG_CHOICE, 0, choices, help_text);
    method_options[1].name = NULL;
    heuristic_options[0] = (arg_option)OPTION(
        "method", 'm', ARG_TEXT, 0, heuristics,
        "Use this method instead of MODEL, which is then left out. It prints a score, larger is likelier, instead of a "
        "probability, and omits pairs with a score of 0 from searches. 'npgnn eval --help' describes the methods.");
    heuristic_options[1].name = NULL;
}

void library_options_init(void)
{
    fill_model_options();
    fill_method_options();
}

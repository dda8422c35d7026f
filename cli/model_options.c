/* Every option of the model as a command-line option, from the library's own list: a new key appears here by itself. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "settings.h"

enum { MOST_KEYS = 64, MOST_OPTIONS = 2 * MOST_KEYS + 2 };

/* The generated table and the texts that it points into. */
typedef struct model_table {
    arg_option options[MOST_OPTIONS];
    char help[MOST_KEYS][256];
    char negated[MOST_KEYS][48];
    arg_group group;
} model_table;

static arg_option *append(model_table *table, const char *name, const char *key)
{
    arg_option *option = &table->options[table->group.count++];
    option->name = name;
    option->key = key;
    option->kind = ARG_PAIR;
    option->offset = offsetof(cli_settings, changes);
    return option;
}

/* A switch can also be turned off by --no-KEY. */
static int is_switch(const npgnn_option_info *info)
{
    return strcmp(info->values, "on|off") == 0;
}

static void append_key(model_table *table, const npgnn_option_info *info, int index, const npgnn_options *defaults)
{
    char *help = table->help[index], value[64] = "";
    size_t room = sizeof table->help[index];
    int choices = strchr(info->values, '|') != NULL;
    npgnn_options_get(value, sizeof value, defaults, info->key, NULL);
    /* a list of choices stands beside the name; a range goes with the explanation */
    if (choices)
        snprintf(help, room, "%s (default %s).", info->help, value);
    else
        snprintf(help, room, "%s (%s; default %s).", info->help, info->values, value);
    help[0] = (char)toupper((unsigned char)help[0]);
    arg_option *option = append(table, info->key, info->key);
    option->value = choices ? info->values : "N";
    option->help = help;
    if (!is_switch(info))
        return;
    snprintf(table->negated[index], sizeof table->negated[index], "no-%s", info->key);
    option = append(table, table->negated[index], info->key);
    option->implied = "off";
    option->help = "The option above, off.";
}

const arg_group *settings_model_group(void)
{
    static const arg_option preset =
        SETTING("preset", 0, ARG_TEXT, preset, "default|best|paper-literal|authors",
                "Where the options below start from: the paper's model, the most accurate one, the paper to the "
                "letter, or its authors' program (default: default).");
    static model_table table;
    if (table.group.count)
        return &table.group;
    npgnn_options defaults = {.size = sizeof defaults};
    npgnn_option_info info;
    npgnn_options_preset(&defaults, NULL, NULL);
    table.options[table.group.count++] = preset;
    for (int i = 0; i < MOST_KEYS && npgnn_options_info(&info, i); i++) {
        append_key(&table, &info, i, &defaults);
        if (strcmp(info.key, "iterations") == 0) {
            arg_option *alias = append(&table, "epochs", info.key);
            alias->value = "N";
            alias->help = "Another name of --iterations.";
        }
    }
    table.group.heading = "Model and training";
    table.group.options = table.options;
    return &table.group;
}

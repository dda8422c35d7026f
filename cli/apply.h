/* Using a model on graphs: what the commands that take a model file share. */
#ifndef CLI_APPLY_H
#define CLI_APPLY_H

#include "settings.h"

/* The model in settings->operands[0], with z from the graph settings->context where one is named. Returns 0, or EXIT_FAILED after
 * having said why. */
int apply_model(npgnn_model **model, const cli_settings *settings);

/* The graph `data`, its features prepared as they were for the model's training, whatever the command line says. */
int apply_load(npgnn_graph **graph, const npgnn_model *model, const cli_settings *settings, const char *data);

/* Says so where probabilities of the model were not fitted to anything. */
void apply_warn(const npgnn_model *model, const cli_settings *settings);

#define SETTING_CONTEXT                                                                                                \
    SETTING("context", 0, ARG_TEXT, context, "DATA2",                                                                  \
            "Encode the latent from the graph DATA2 instead of the one of the training; nothing is trained.")

#endif

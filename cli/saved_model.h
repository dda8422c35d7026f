/* Using a saved model on a graph: what predict, embed, test and adapt share. */
#ifndef CLI_SAVED_MODEL_H
#define CLI_SAVED_MODEL_H

#include "settings.h"

typedef struct saved_model_settings {
    const char *path;    /* the operand MODEL */
    const char *context; /* --context, or NULL */
    data_settings data;
} saved_model_settings;

#define MODEL_OPERAND(offset_)                                                                                         \
    {                                                                                                                  \
        "MODEL", offset_, NULL                                                                                         \
    }
#define OPTION_CONTEXT(offset_)                                                                                        \
    OPTION("context", 0, ARG_TEXT, offset_, "DATA2",                                                                   \
           "Encode the latent variable from the graph DATA2 instead of the training graph. Nothing is trained.")

/* Opens the model at `path`, or the one that comes with the program for "universal". Returns the code of the
 * library. */
int saved_model_open(npgnn_model **model, const char *path, const npgnn_env *env, npgnn_error *err);

/* Loads the model and, with --context, encodes its latent variable from that graph. Then loads the graph DATA. Returns
 * 0, or EXIT_FAILED after printing why; the caller frees both in either case. */
int saved_model_load(npgnn_model **model, npgnn_graph **graph, const saved_model_settings *settings,
                     const npgnn_env *env);

/* Loads a graph with its features prepared as for the training of the model; --normalize, --binarize and --weighted are
 * an error where the training was without. Returns 0, or EXIT_FAILED after printing why. */
int saved_model_load_graph(npgnn_graph **graph, const npgnn_model *model, const data_settings *data,
                           const npgnn_env *env);

/* Warns where the probabilities of the model are not calibrated. */
void saved_model_warn(const npgnn_model *model, const char *path);

#endif

/* Checkpoints of a training: when to save one, and saving it. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include <npgnn/npgnn.h>

typedef struct cli_checkpoint {
    npgnn_trainer *trainer;
    const char *path; /* NULL: no checkpoints */
    int iterations;   /* between two checkpoints; 0: `seconds` decides */
    double seconds;
    double saved; /* time of the latest attempt */
    int failed;   /* 1: the latest attempt failed */
} cli_checkpoint;

/* From --checkpoint PATH, --resume PATH (whose file is the default of the former) and --checkpoint-every. Returns 0 or
 * EXIT_USAGE. */
int checkpoint_open(cli_checkpoint *checkpoint, const char *path, const char *resume, const char *every);

/* Call it after each iteration: saves a checkpoint where one is due. A failure is reported and the training continues;
 * the next attempt is made when the next checkpoint is due. */
void checkpoint_tick(cli_checkpoint *checkpoint, const npgnn_progress *progress);

/* Saves a checkpoint now. Returns 0, or EXIT_FAILED after printing why. */
int checkpoint_save(cli_checkpoint *checkpoint);

#endif

/* Saving a training now and then, so that it can be taken up again. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include "settings.h"
#include "status_line.h"

typedef struct cli_checkpoint {
    npgnn_trainer *trainer;
    const char *path; /* NULL: none are wanted */
    int iterations;   /* between two; 0: time counts */
    double seconds;
    double saved; /* when the latest attempt was, */
    int failed;   /* and whether it did */
} cli_checkpoint;

/* From --checkpoint, --checkpoint-every and --resume, whose file is the default of the first. Returns 0 or EXIT_USAGE. */
int checkpoint_open(cli_checkpoint *checkpoint, const cli_settings *settings);

/* After each iteration: saves where it is time to. A failure is reported and tried again next time; the training goes on. */
void checkpoint_tick(cli_checkpoint *checkpoint, const npgnn_progress *progress, status_line *line);

/* Now. Returns 0 or EXIT_FAILED after having said why. */
int checkpoint_save(cli_checkpoint *checkpoint);

#endif

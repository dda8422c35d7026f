/* Stopping on SIGINT and SIGTERM: the first signal sets a flag that jobs poll, a second one ends the program. */
#ifndef CLI_CANCEL_H
#define CLI_CANCEL_H

typedef enum {
    CANCEL_WITHIN_A_SECOND, /* the job has nothing to save: after a second without seeing the flag, the program ends */
    CANCEL_WHEN_SAVED       /* the job has results to save and is given the time it needs */
} cancel_manner;

/* From here on signals set the flag. Before, they end the program, which has nothing to save yet. */
void cancel_listen(cancel_manner manner);

/* A temporary file to remove when a signal ends the program; NULL: none. The string must stay valid. */
void cancel_unfinished(const char *path);

/* The signal that was received, or 0. */
int cancel_signal(void);

/* The flag itself, for npgnn_env.stop. */
const volatile int *cancel_flag(void);

/* The exit status of a job that a signal stopped: 130 for SIGINT, 143 for SIGTERM. EXIT_FAILED where another one of
 * several processes has seen it. */
int cancel_status(void);

#endif

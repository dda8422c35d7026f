/* Stopping politely: the first SIGINT or SIGTERM raises a flag that jobs look at, the second one ends the program. */
#ifndef CLI_CANCEL_H
#define CLI_CANCEL_H

typedef enum {
    CANCEL_WITHIN_A_SECOND, /* a job that has not looked at the flag by then has nothing worth waiting for: the program ends */
    CANCEL_WHEN_SAVED /* it has: the flag waits */
} cancel_manner;

/* From here on signals raise the flag. Until then they end the program, which has nothing to save. */
void cancel_listen(cancel_manner manner);

/* A file that goes when the program is ended, or NULL: none. The path must stay where it is meanwhile. */
void cancel_unfinished(const char *path);

/* The signal that asked to stop, or 0. Whoever sees it stops. */
int cancel_signal(void);

/* Where it is written, for npgnn_env.stop. */
const volatile int *cancel_flag(void);

/* The exit status of a job that a signal stopped: 130 for SIGINT, 143 for SIGTERM. */
int cancel_status(void);

#endif

/* Stopping politely: the first SIGINT or SIGTERM raises a flag that jobs look at, the second one ends the program. */
#ifndef CLI_CANCEL_H
#define CLI_CANCEL_H

/* From here on signals raise the flag. Until then they end the program, which has nothing to save. */
void cancel_listen(void);

/* The signal that asked to stop, or 0. */
int cancel_signal(void);

/* The exit status of a job that a signal stopped: 130 for SIGINT, 143 for SIGTERM. */
int cancel_status(void);

#endif

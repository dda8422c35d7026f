#define _POSIX_C_SOURCE 200809L
#include "cancel.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t signal_seen;

static void on_signal(int number)
{
    signal_seen = number;
}

void cancel_listen(void)
{
    /* SA_RESETHAND: the second signal finds the default action. No SA_RESTART: a read that waits has to give up. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int cancel_signal(void)
{
    return signal_seen;
}

int cancel_status(void)
{
    return 128 + signal_seen;
}

#define _POSIX_C_SOURCE 200809L
#include "cancel.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile int signal_seen; /* as good as sig_atomic_t, and what npgnn_env.stop is */
static volatile sig_atomic_t in_a_hurry;
static const char *volatile unfinished;

/* Ends the program by this signal. Only calls that a handler may make. */
static void end(int number)
{
    const char *path = unfinished;
    if (path)
        unlink(path);
    signal(number, SIG_DFL);
    raise(number);
}

static void on_signal(int number)
{
    if (signal_seen) {
        end(number);
        return;
    }
    signal_seen = number;
    if (in_a_hurry)
        alarm(1);
}

static void on_alarm(int number)
{
    (void)number;
    end(signal_seen);
}

static void handle(int number, void (*handler)(int))
{
    /* No SA_RESTART: a read that waits has to give up. */
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask); /* one handler at a time: */
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaddset(&action.sa_mask, SIGALRM);
    sigaction(number, &action, NULL);
}

void cancel_listen(cancel_manner manner)
{
    in_a_hurry = manner == CANCEL_WITHIN_A_SECOND;
    handle(SIGALRM, on_alarm);
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
}

void cancel_unfinished(const char *path)
{
    unfinished = path;
}

int cancel_signal(void)
{
    if (signal_seen && in_a_hurry)
        alarm(0); /* the job knows now */
    return signal_seen;
}

const volatile int *cancel_flag(void)
{
    return &signal_seen;
}

int cancel_status(void)
{
    return 128 + cancel_signal();
}

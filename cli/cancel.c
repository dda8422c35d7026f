/* Signal handlers: the first signal sets a flag, a second one ends the program. */
#define _POSIX_C_SOURCE 200809L
#include "cancel.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "comm.h"
#include "message.h"
#include "progress_line.h"

static volatile int signal_seen; /* an int, because npgnn_env.stop is one */
static volatile sig_atomic_t one_second_limit;
static const char *volatile unfinished;

/* Ends the program by this signal. Calls async-signal-safe functions only. */
static void end_program(int number)
{
    const char *path = unfinished;
    if (path)
        unlink(path);
    progress_line_erase();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_signal(int number)
{
    if (signal_seen) {
        end_program(number);
        return;
    }
    signal_seen = number;
    if (one_second_limit)
        alarm(1);
}

static void on_alarm(int number)
{
    (void)number;
    end_program(signal_seen);
}

static void handle(int number, void (*handler)(int))
{
    /* without SA_RESTART, so that a blocking read returns */
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask); /* block the other signals while one is handled */
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaddset(&action.sa_mask, SIGALRM);
    sigaction(number, &action, NULL);
}

void cancel_listen(cancel_manner manner)
{
    one_second_limit = manner == CANCEL_WITHIN_A_SECOND;
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
    /* the job has seen the flag, and ends; of several processes, the others may not hear of it before they have done
     * their part, and are ended when this one dies */
    if (signal_seen && one_second_limit && comm_ranks() == 1)
        alarm(0);
    return signal_seen;
}

const volatile int *cancel_flag(void)
{
    return &signal_seen;
}

int cancel_status(void)
{
    int number = cancel_signal(); /* 0: another process has seen one */
    return number ? 128 + number : EXIT_FAILED;
}

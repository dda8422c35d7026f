/* Messages to the user. All of them go to stderr as "npgnn: error: TEXT", "npgnn: warning: TEXT" or "npgnn: note:
 * TEXT", on one line. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdio.h>

/* The exit status of the program. A job that a signal stopped ends with 128 + the number of the signal. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#if defined(__GNUC__)
#define CLI_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define CLI_PRINTF(text, args)
#endif

/* The ending of a noun after a number. */
#define PLURAL(count) ((count) == 1 ? "" : "s")

/* The command failed. Returns EXIT_FAILED, so that a function can end with `return print_error(...)`. */
int print_error(const char *format, ...) CLI_PRINTF(1, 2);

/* The command line is wrong. Adds a line that points to the help of `command`, or of the program where that is NULL.
 * Returns EXIT_USAGE. */
int print_usage_error(const char *command, const char *format, ...) CLI_PRINTF(2, 3);

/* The command goes on, but the user should know before relying on its results. */
void print_warning(const char *format, ...) CLI_PRINTF(1, 2);

/* Prints a text for a terminal, which names of nodes and files are part of: control characters, which could move the
 * cursor or change the title of the window, as \x1B or \u009B, and bytes that are not UTF-8 as \xFF. */
void print_clean(FILE *out, const char *text);

/* What the command did or assumed. Callers leave notes out with --quiet. */
void print_note(const char *format, ...) CLI_PRINTF(1, 2);

/* For a process that another one speaks for: until message_unmute, nothing is printed. */
void message_mute(void);
void message_unmute(void);

/* Errors begin with "process RANK of RANKS: " from now on; without it where `ranks` is 0. */
void message_name_process(int rank, int ranks);

/* The text of the latest error, printed or not, without the process. */
const char *message_last(void);

#endif

/* Words for people: always to stderr, always with the program's name in front. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

/* What the program's exit status means. A job stopped by a signal ends with 128 + its number, as shells expect. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#if defined(__GNUC__)
#define CLI_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define CLI_PRINTF(text, args)
#endif

/* "npgnn: TEXT"; returns EXIT_FAILED, so that `return say_error(...)` is the whole story. */
int say_error(const char *format, ...) CLI_PRINTF(1, 2);

/* The same for wrong usage, followed by where to read about the right one; returns EXIT_USAGE. `command` may be NULL. */
int say_usage(const char *command, const char *format, ...) CLI_PRINTF(2, 3);

#endif

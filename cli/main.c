/* npgnn: dispatches to one file a subcommand. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cancel.h"
#include "output.h"
#include "say.h"
#include "settings.h"

static const cli_command *const commands[] = {&cmd_demo,    &cmd_info,      &cmd_train, &cmd_eval,
                                              &cmd_predict, &cmd_reproduce, &cmd_bench, &cmd_adapt,
                                              &cmd_convert, &cmd_embed,     &cmd_fetch, &cmd_test};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int print_overview(void)
{
    puts("Usage: npgnn COMMAND [ARGUMENT...]\n\n"
         "Learns which links a graph is missing, from the links and node features that are known, and\n"
         "scores links for nodes that were never seen.\n\n"
         "Commands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-10s%s\n", commands[i]->args.name, commands[i]->args.summary);
    puts("  help      This page, or that of a command: npgnn help COMMAND.\n\n"
         "Options:\n"
         "  -h, --help       This page.\n"
         "      --version    The version of the program and of its library.\n\n"
         "DATA is a name in the data folder, a folder, an edge file, a path such as dir/ind.cora for\n"
         "Planetoid's set of files, or synthetic[:nodes=N,topics=N,words=N,degree=X,length=X,seed=N].\n\n"
         "Examples:\n"
         "  npgnn demo                                   see it work\n"
         "  npgnn train synthetic -o model.safetensors   learn from the built-in graph");
    return output_flush_stdout();
}

static int print_version(void)
{
    printf("npgnn %s\n", NPGNN_VERSION);
    if (strcmp(npgnn_version(), NPGNN_VERSION) != 0)
        printf("libnpgnn %s\n", npgnn_version());
    return output_flush_stdout();
}

static const cli_command *find_command(const char *name)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i]->args.name;
        if (strcmp(names[i], name) == 0)
            return commands[i];
    }
    const char *nearest = arg_nearest(name, names, COMMANDS);
    if (nearest)
        say_usage(NULL, "unknown command '%s'; did you mean '%s'?", name, nearest);
    else
        say_usage(NULL, "unknown command '%s'", name);
    return NULL;
}

static int print_help(const cli_command *command)
{
    arg_help(stdout, &command->args);
    return output_flush_stdout();
}

/* Every operand is required, but --edges can stand in for DATA, and a list wants none. */
static int check_operands(const cli_settings *settings, const arg_command *args)
{
    for (int i = 0; i < ARG_MAX_OPERANDS && args->operands[i]; i++)
        if (!settings->operands[i] && !settings->list &&
            !(settings->load.edges && strncmp(args->operands[i], "DATA", 4) == 0))
            return say_usage(args->name, "%s needs %s: npgnn %s %s", args->name, args->operands[i], args->name,
                             args->usage);
    return 0;
}

static int run(const cli_command *command, const char *program, int argc, char **argv)
{
    cli_settings settings = command->defaults;
    settings.program = program;
    int code = arg_parse(&settings, settings.operands, &command->args, argc, argv);
    if (code == ARG_HELP)
        return print_help(command);
    if (code == 0)
        code = check_operands(&settings, &command->args);
    if (code == 0)
        code = settings_finish(&settings, &command->args);
    if (code == 0)
        code = command->run(&settings);
    if (code == EXIT_FAILED && cancel_signal()) /* what failed was interrupted: the opening of a pipe, say */
        code = cancel_status();
    int flushed = output_flush_stdout();
    return code ? code : flushed;
}

int main(int argc, char **argv)
{
    /* A reader that goes away, or a limit on the size of files, must not end a training: writing fails instead. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word)
        return say_usage(NULL, "which command?");
    if (strcmp(word, "--version") == 0)
        return print_version();
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_overview();
    int help = strcmp(word, "help") == 0;
    if (help && argc == 2)
        return print_overview();
    const cli_command *command = find_command(help ? argv[2] : word);
    if (!command)
        return EXIT_USAGE;
    if (help)
        return print_help(command);
    /* The library calls BLAS from threads of its own, for one block at a time: OpenBLAS would start threads for nothing. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1); /* what OpenBLAS's OpenMP build reads */
    return run(command, argv[0], argc - 2, argv + 2);
}

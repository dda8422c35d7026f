/* npgnn: finds the command and runs it. Each command is a file cmd_*.c. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cancel.h"
#include "comm.h"
#include "json_text.h"
#include "message.h"
#include "output.h"
#include "progress_line.h"
#include "settings.h"

/* In the order of the overview. */
static const cli_command *const commands[] = {&cmd_demo,     &cmd_fetch,   &cmd_info,  &cmd_convert,  &cmd_train,
                                              &cmd_pretrain, &cmd_predict, &cmd_serve, &cmd_embed,    &cmd_adapt,
                                              &cmd_eval,     &cmd_compare, &cmd_test,  &cmd_reproduce};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int print_overview(void)
{
    puts("Usage: npgnn COMMAND [ARGUMENT...]\n\n"
         "Predicts missing links of a graph from its known links and node features, also for nodes that were\n"
         "not in the training graph.\n\n"
         "Commands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-11s%s\n", commands[i]->args.name, commands[i]->args.summary);
    puts("  help       Print this text, or the help of a command: npgnn help COMMAND.\n\n"
         "Options:\n"
         "  -h, --help       Print this text.\n"
         "      --version    Print the version of the program and of the library.\n\n"
         "DATA is one of:\n"
         "  NAME          a data set in the data folder, such as cora (see 'npgnn fetch')\n"
         "  FOLDER        a folder with edges, features and labels\n"
         "  FILE          a file with edges, or a graph file (.npg) of npgnn convert\n"
         "  DIR/ind.NAME  a data set in Planetoid's format\n"
         "  synthetic[:nodes=N,topics=N,words=N,degree=X,length=X,seed=N]\n"
         "                a generated graph\n"
         "  debian-python a real graph that is built in: Python libraries of Debian, and which needs which\n\n"
         "Examples:\n"
         "  npgnn demo                                   find hidden links of a real graph, with reasons\n"
         "  npgnn predict universal debian-python --top 3 --for numpy --explain\n"
         "  npgnn train synthetic -o model.safetensors   train a model and save it");
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
        print_usage_error(NULL, "unknown command '%s'; did you mean '%s'?", name, nearest);
    else
        print_usage_error(NULL, "unknown command '%s'", name);
    return NULL;
}

static int print_help(const cli_command *command)
{
    arg_help(stdout, &command->args);
    return output_flush_stdout();
}

static int run(const cli_command *command, int argc, char **argv)
{
    void *settings = malloc(command->size);
    if (!settings)
        return print_error("out of memory");
    memcpy(settings, command->defaults, command->size);
    int code = settings_parse(settings, command, argc, argv);
    if (code == 0)
        code = command->run(settings);
    else if (code == ARG_HELP)
        code = comm_ranks() > 1 ? comm_refuse("--help") : print_help(command);
    if (code == EXIT_FAILED && cancel_signal()) /* the failed call was interrupted: opening a FIFO, for example */
        code = cancel_status();
    free(settings);
    progress_line_erase(); /* of a job that failed or was stopped */
    int flushed = output_flush_stdout();
    return code ? code : flushed;
}

static int start(int argc, char **argv)
{
    if (argc < 2)
        return print_usage_error(NULL, "no command given");
    const char *word = argv[1];
    cli_program = argv[0];
    json_text_watch();
    library_options_init();
    int version = strcmp(word, "--version") == 0, help = strcmp(word, "help") == 0;
    int overview = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (help && argc == 2);
    const cli_command *command = version || overview ? NULL : find_command(help ? argv[2] : word);
    if (!command && !version && !overview)
        return EXIT_USAGE;
    /* a process that succeeds and has not joined the others would let them wait for ever */
    if (comm_ranks() > 1 && (!command || help || !command->takes_processes)) {
        char what[64];
        snprintf(what, sizeof what, "npgnn %s", word);
        return comm_refuse(what);
    }
    if (version)
        return print_version();
    if (overview)
        return print_overview();
    if (help)
        return print_help(command);
    /* The library calls BLAS from threads of its own, for one block at a time: OpenBLAS would start threads for
     * nothing. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1); /* what OpenBLAS's OpenMP build reads */
    return run(command, argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
    /* A closed pipe or a limit on file sizes must not end a training: the write fails instead. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    comm_begin();
    return comm_end(start(argc, argv));
}

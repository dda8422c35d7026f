/* npgnn pretrain: learns a model across the graphs of a corpus. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cancel.h"
#include "comm.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "settings.h"

typedef struct pretrain_settings {
    const char *corpus;
    common_settings common;
    const char *output;
    int steps;
    uint64_t seed;
    int skip_broken;
    const char *log;
    const char *checkpoint, *resume;
    int checkpoint_every; /* steps */
    npgnn_comm *comm;     /* the processes that mpirun has started; NULL: one */
} pretrain_settings;

/* The graphs of the corpus, and the families they belong to. */
typedef struct corpus {
    npgnn_graph **graphs;
    int *family;
    char **names; /* of the families */
    size_t count, capacity;
    int families;
    int failed; /* memory is out */
} corpus;

/* Graphs whose names, without an ending such as .npz or .edges, differ only after the last dot or dash are one family:
 * atp.1991 and atp.1992, musae-de.npz and musae-fr.npz. */
static size_t family_length(const char *name)
{
    const char *file = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    const char *dot = strrchr(file, '.');
    const char *end = dot && dot > file && isalpha((unsigned char)dot[1]) ? dot : file + strlen(file);
    for (const char *at = end - 1; at > file; at--)
        if (*at == '.' || *at == '-')
            return (size_t)(at - name);
    return (size_t)(end - name);
}

static int family_of(corpus *c, const char *name)
{
    size_t length = family_length(name);
    for (int f = c->families - 1; f >= 0; f--)
        if (strlen(c->names[f]) == length && memcmp(c->names[f], name, length) == 0)
            return f;
    char *copy = malloc(length + 1);
    char **names = realloc(c->names, ((size_t)c->families + 1) * sizeof *names);
    if (names)
        c->names = names;
    if (!copy || !names) {
        free(copy);
        return -1;
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    c->names[c->families] = copy;
    return c->families++;
}

static int add_graph(void *user, const char *name, npgnn_graph *graph)
{
    corpus *c = user;
    if (c->count == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 64;
        npgnn_graph **graphs = realloc(c->graphs, capacity * sizeof(npgnn_graph *));
        if (graphs)
            c->graphs = graphs;
        int *family = realloc(c->family, capacity * sizeof *family);
        if (family)
            c->family = family;
        c->failed = !graphs || !family;
        c->capacity = c->failed ? c->capacity : capacity;
    }
    int family = c->failed ? -1 : family_of(c, name);
    if (family < 0) {
        c->failed = 1;
        npgnn_graph_free(graph);
        return 1;
    }
    c->graphs[c->count] = graph;
    c->family[c->count++] = family;
    return 0;
}

static void corpus_free(corpus *c)
{
    for (size_t i = 0; i < c->count; i++)
        npgnn_graph_free(c->graphs[i]);
    for (int f = 0; f < c->families; f++)
        free(c->names[f]);
    free(c->graphs);
    free(c->family);
    free(c->names);
}

static json_t *summary_json(const npgnn_model_info *info, const corpus *c, const npgnn_progress *last,
                            const pretrain_settings *settings)
{
    json_t *summary =
        json_pack("{s:s, s:s, s:I, s:i, s:i, s:I, s:i, s:I, s:o, s:o}", "corpus", settings->corpus, "model",
                  settings->output, "graphs", (json_int_t)c->count, "families", c->families, "steps", info->iterations,
                  "seed", (json_int_t)settings->seed, "threads", common_threads(&settings->common), "parameters",
                  (json_int_t)info->parameters, "loss", report_real(last->loss), "seconds", report_real(last->seconds));
    comm_report(summary, settings->comm);
    return summary;
}

/* Saves the model, and says so. */
static int save(const npgnn_model *model, const corpus *c, const npgnn_progress *last,
                const pretrain_settings *settings)
{
    npgnn_model_info info = {.size = sizeof info};
    npgnn_error err = {0};
    if (comm_rank() > 0)
        return EXIT_DONE;
    if (npgnn_model_save(model, settings->output, &err) != 0)
        return print_error("%s", err.text);
    npgnn_model_describe(&info, model, NULL);
    if (!settings->common.quiet)
        print_note("wrote %s: %" PRId64 " parameters, learnt from %zu graph%s of %d famil%s", settings->output,
                   info.parameters, c->count, PLURAL(c->count), c->families, c->families == 1 ? "y" : "ies");
    return settings->common.json ? report_write(summary_json(&info, c, last, settings), settings->common.json) : 0;
}

static int learn(const corpus *c, const pretrain_settings *settings, cli_progress *progress, const npgnn_env *env)
{
    const char *checkpoint = settings->checkpoint ? settings->checkpoint : settings->resume;
    const npgnn_pretrain_options options = {.size = sizeof options,
                                            .steps = settings->steps,
                                            .seed = settings->seed,
                                            .checkpoint = checkpoint,
                                            .checkpoint_every = settings->checkpoint_every,
                                            .resume = settings->resume};
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    progress_job_begin(progress);
    int code = npgnn_pretrain(&model, (const npgnn_graph *const *)c->graphs, c->family, c->count, &options, env, &err);
    progress_job_end(progress);
    if (code == NPGNN_E_CANCELLED) {
        print_error("stopped by a signal after %d steps; no model was saved", progress->latest.iteration);
        if (checkpoint && progress->latest.iteration > 0)
            print_note("to resume, repeat the command with --resume %s", checkpoint);
        return cancel_status();
    }
    int status = code ? print_error("%s", err.text) : save(model, c, &progress->latest, settings);
    npgnn_model_free(model);
    return code ? status : comm_settle(settings->comm, status);
}

/* Opens what is written: by the first of several processes. Paths that cannot be written are reported now, not after
 * minutes. */
static int prepare(cli_progress *progress, const pretrain_settings *settings)
{
    const char *checkpoint = settings->checkpoint ? settings->checkpoint : settings->resume;
    int first = comm_rank() == 0;
    if (first && (output_check(settings->output) != 0 || (checkpoint && output_check(checkpoint) != 0) ||
                  (settings->common.json && output_check(settings->common.json) != 0)))
        return EXIT_FAILED;
    return progress_open(progress, settings->common.quiet || !first, first ? settings->log : NULL,
                         settings->resume != NULL);
}

static int run(void *given)
{
    pretrain_settings *settings = given;
    corpus c = {0};
    npgnn_error err = {0};
    cli_progress progress;
    if (!settings->output)
        return print_usage_error("pretrain", "missing option -o MODEL: the file to save the model in");
    if (settings->checkpoint_every && !settings->checkpoint && !settings->resume)
        return print_usage_error("pretrain", "--checkpoint-every needs --checkpoint FILE");
    int status = comm_open(&settings->comm, &settings->common, &cmd_pretrain, settings);
    if (status != 0)
        return status;
    status = comm_settle(settings->comm, prepare(&progress, settings));
    if (status != 0)
        return comm_close(settings->comm, status);
    npgnn_env env = progress_env(&progress, &settings->common);
    env.comm = settings->comm;
    if (npgnn_load_each(settings->corpus, add_graph, &c, settings->skip_broken, &env, &err) != 0)
        status = print_error("%s", c.failed ? "out of memory" : err.text);
    status = comm_settle(settings->comm, status);
    if (status == 0)
        status = learn(&c, settings, &progress, &env);
    corpus_free(&c);
    int logged = progress_close(&progress);
    return comm_close(settings->comm, status ? status : logged);
}

#define AT(member) offsetof(pretrain_settings, member)
static const arg_option options[] = {
    OPTION("output", 'o', ARG_TEXT, AT(output), "MODEL", "File to save the model in (required)."),
    OPTION("steps", 0, ARG_INT, AT(steps), "N", "Training steps (default 2500).", 1, 1000000000),
    OPTION("seed", 's', ARG_U64, AT(seed), "N", "Seed of all random numbers (default 1)."),
    OPTION("skip-broken", 0, ARG_FLAG, AT(skip_broken), NULL,
           "Leave out graphs that cannot be read, with a note, instead of stopping at the first."),
    OPTION_LOG(AT(log)),
    OPTION("checkpoint", 0, ARG_TEXT, AT(checkpoint), "FILE",
           "Save checkpoints of the training in FILE. The previous checkpoint is kept as FILE.prev."),
    OPTION("checkpoint-every", 0, ARG_INT, AT(checkpoint_every), "N", "Steps between checkpoints (default 100).", 1,
           1000000000),
    OPTION("resume", 0, ARG_TEXT, AT(resume), "FILE",
           "Resume the training from the checkpoint in FILE, and save further checkpoints there. CORPUS, --steps and "
           "--seed must be the same as before."),
    OPTIONS_END,
};

const cli_command cmd_pretrain = {
    .args =
        {
            .name = "pretrain",
            .usage = "CORPUS -o MODEL [OPTION...]",
            .summary = "Learn a model across many graphs.",
            .description =
                "Learns a neural process from the graphs of CORPUS: a folder of graphs in any format, or an .npz file "
                "with one array of links per graph. The model needs no training on the graphs it is used for: see "
                "'npgnn predict'. The model 'universal' that comes with the program was made this way. Graphs whose "
                "names differ only after the last dot or dash (twitch-de, twitch-fr) count as one family. With "
                "--checkpoint, a training that was stopped or killed can be resumed later; the result is the same, bit "
                "for bit. 'mpirun -n P npgnn pretrain' divides the work among P processes; the result is the same.",
            .examples = "  npgnn pretrain my-graphs -o ours.safetensors\n"
                        "  npgnn pretrain my-graphs -o ours.safetensors --checkpoint ours.checkpoint\n"
                        "  npgnn predict ours.safetensors another-graph --top 10\n",
            .operands = {{"CORPUS", AT(corpus), NULL}},
            .groups = {{"Options", options, 0}, COMMON_GROUP(AT(common))},
        },
    .takes_processes = 1,
    .defaults = &(const pretrain_settings){.seed = 1},
    .size = sizeof(pretrain_settings),
    .run = run,
};

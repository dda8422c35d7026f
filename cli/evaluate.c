#include "evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cancel.h"
#include "say.h"

const char *evaluate_protocol_name(npgnn_protocol protocol)
{
    static const char *const names[] = {"transductive", "inductive", "few-shot", "inductive-hidden", "production"};
    return names[protocol];
}

const char *evaluate_method_name(int index)
{
    const char *name, *help;
    return npgnn_method_info(&name, &help, index) ? name : NULL;
}

static void append(char *text, size_t size, const char *separator, const char *more)
{
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? separator : "", more);
}

void evaluate_method_option(arg_option *option)
{
    static char choices[256], explained[1024];
    const char *name, *help;
    choices[0] = explained[0] = '\0';
    for (int i = 0; npgnn_method_info(&name, &help, i); i++) {
        append(choices, sizeof choices, "|", name);
        append(explained, sizeof explained, "; ", name);
        append(explained, sizeof explained, ": ", help);
    }
    append(explained, sizeof explained, " ", "(default npgnn).");
    option->value = choices;
    option->help = explained;
}

void evaluate_options(npgnn_eval_options *options, npgnn_split_options *split, const cli_settings *settings,
                      npgnn_protocol protocol, const char *method)
{
    *split = (npgnn_split_options){.size = sizeof *split};
    npgnn_split_options_default(split, protocol, NULL);
    *options = (npgnn_eval_options){.size = sizeof *options, .model = &settings->model, .split = split};
    options->method = method;
    options->first_seed = settings->seed;
    /* negative: the protocol's own default, which is there already; 0 of what follows is the library's */
    if (settings->test >= 0)
        split->test = settings->test;
    if (settings->val >= 0)
        split->val = settings->val;
    if (settings->train_nodes >= 0)
        split->train_nodes = settings->train_nodes;
    if (settings->known_links > 0)
        split->known_links = settings->known_links;
    split->negative_ratio = settings->negative_ratio;
    options->negatives = (npgnn_negatives)settings->negatives;
    options->bootstrap = settings->bootstrap;
}

int evaluate_run(npgnn_eval_run *runs, int *done, const npgnn_graph *graph, int seeds,
                 const npgnn_eval_options *options, cli_progress *progress, const npgnn_env *env)
{
    npgnn_error err = {0};
    for (int i = 0; i < seeds; i++)
        runs[i] =
            (npgnn_eval_run){.size = sizeof *runs, .auc = (double)NAN}; /* NaN tells the runs that did not finish */
    progress_job_begin(progress);
    int code = npgnn_evaluate(runs, graph, seeds, options, env, &err);
    for (*done = 0; *done < seeds && !isnan(runs[*done].auc);)
        ++*done;
    progress_job_end(progress);
    if (code == 0)
        return EXIT_DONE;
    if (code == NPGNN_E_CANCELLED) {
        say_error("stopped by a signal after %d of %d seeds", *done, seeds);
        return cancel_status();
    }
    return say_error("%s", err.text);
}

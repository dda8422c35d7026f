/* Runs an evaluation and reports how it ended. */
#include "evaluate.h"

#include <math.h>

#include "cancel.h"
#include "message.h"

const char *evaluate_protocol_name(npgnn_protocol protocol)
{
    static const char *const names[] = {"transductive",     "inductive",      "few-shot",
                                        "inductive-hidden", "production",     "temporal",
                                        "paper-inductive",  "paper-few-shot", "random-links"};
    return names[protocol];
}

int evaluate_run(npgnn_eval_run *runs, int *done, const npgnn_graph *graph, int seeds,
                 const npgnn_eval_options *options, cli_progress *progress, const npgnn_env *env)
{
    npgnn_error err = {0};
    for (int i = 0; i < seeds; i++)
        runs[i] = (npgnn_eval_run){.size = sizeof *runs, .auc = (double)NAN}; /* NaN marks unfinished runs */
    progress_job_begin(progress);
    int code = npgnn_evaluate(runs, graph, seeds, options, env, &err);
    for (*done = 0; *done < seeds && !isnan(runs[*done].auc);)
        ++*done;
    progress_job_end(progress);
    if (code == 0)
        return EXIT_DONE;
    if (code == NPGNN_E_CANCELLED) {
        print_error("stopped by a signal after %d of %d seeds", *done, seeds);
        return cancel_status();
    }
    return print_error("%s", err.text);
}

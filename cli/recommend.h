/* predict --top and --top-links: the search, a bounded number of results at a time, with its progress on stderr. */
#ifndef CLI_RECOMMEND_H
#define CLI_RECOMMEND_H

#include "links.h"
#include "settings.h"
#include "status_line.h"

typedef struct recommend_progress {
    status_line line;
    double started;
    int32_t before, all; /* nodes done in earlier calls, and to do in all */
} recommend_progress;

/* The environment of a predictor that reports to `progress`, which must outlive it. */
npgnn_env recommend_env(recommend_progress *progress, const cli_settings *settings);

/* Returns the exit status. */
int recommend(const links_writer *writer, npgnn_predictor *predictor, recommend_progress *progress,
              const cli_settings *settings);

/* Says what that will take. Returns the exit status. */
int recommend_estimate(const npgnn_model *model, const npgnn_graph *graph, const npgnn_predict_options *options,
                       const cli_settings *settings);

#endif

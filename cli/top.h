/* predict --top and --top-links: the search for the most probable links. The number of results held at a time is
 * bounded, and progress is shown on stderr. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "links.h"
#include "progress_line.h"
#include "settings.h"
#include "source.h"

/* What to search. */
typedef struct top_settings {
    int per_node, links; /* --top K and --top-links K; 0: not given */
    arg_pairs from, to;  /* values of --for, --from and --to: node names, or files of them */
    int exclude;         /* EXCLUDE_KNOWN or EXCLUDE_NONE */
    double min_probability;
    int rank;       /* an npgnn_rank */
    int search;     /* an npgnn_search */
    int candidates; /* per node; 0: the library's number */
} top_settings;

enum { EXCLUDE_KNOWN, EXCLUDE_NONE };

typedef struct top_progress {
    progress_line line;
    double started;
    int32_t before, all; /* nodes that were searched in earlier calls, and all nodes to search */
    int quiet;
} top_progress;

/* An environment for a predictor or a method that reports to `progress`, which must outlive it. */
npgnn_env top_env(top_progress *progress, const common_settings *common);

/* Writes the links that were found. Returns the exit status. */
int top_run(const links_writer *writer, const link_source *source, top_progress *progress,
            const top_settings *settings);

/* Prints what the search will take. Returns the exit status. */
int top_estimate(const npgnn_model *model, const npgnn_graph *graph, const npgnn_predict_options *options,
                 const top_settings *settings, const common_settings *common);

#endif

/* The page of `npgnn demo`: for each node a drawing of its known links and of the suggested ones, and the reasons. */
#ifndef CLI_DEMO_PAGE_H
#define CLI_DEMO_PAGE_H

#include <npgnn/npgnn.h>
#include <stdio.h>

enum { DEMO_MAX_NODES = 32, DEMO_MAX_TOP = 20, DEMO_REASON = 1024 };

typedef struct demo_suggestion {
    int32_t node;
    double probability;
    int came_true; /* 1: it is one of the hidden links */
    char reason[DEMO_REASON];
} demo_suggestion;

/* A node and what is suggested for it, best first. */
typedef struct demo_node {
    int32_t node;
    int count, came_true;
    demo_suggestion suggestions[DEMO_MAX_TOP];
} demo_node;

typedef struct demo_result {
    const npgnn_graph *known; /* without the hidden links */
    int64_t links, hidden;    /* of the complete graph, and those that were hidden */
    double auc, ap;
    int32_t best;         /* pairs of the whole graph that are the most probable; */
    int32_t best_true;    /* so many of them are hidden links, */
    double best_expected; /* and so many should be, by their probabilities */
    int node_count;
    demo_node nodes[DEMO_MAX_NODES];
} demo_result;

/* One self-contained HTML page, without scripts. */
void demo_page_write(FILE *out, const demo_result *result);

/* The drawing of one node as an SVG file. */
void demo_picture_write(FILE *out, const demo_result *result, const demo_node *node);

/* What the AUC means, for people. */
void demo_explain_auc(FILE *out, const demo_result *result);

#endif

/* Tasks that a process learns from: graphs with some of their links hidden.
 *
 * Every graph of a corpus gives several: whole, thinned to half and to a fifth of its links, with shuffled features,
 * without features, with new nodes, and pieces of itself. So the process meets graphs whose features mislead or are
 * missing, sparse ones, and new nodes, and has to learn to tell from a context which of them it has before it. */
#ifndef NPI_EXAMPLES_TASKS_H
#define NPI_EXAMPLES_TASKS_H

#include "base/comm.h"
#include "evidence/columns.h"
#include "graph/graph.h"

/* Evidence of hidden links and of pairs without a link, computed on the links that are left. */
typedef struct npi_task_data {
    float *evidence; /* (2 links + matched, NPI_COLUMNS): hidden links; as many non-links, uniform; then matched */
    int links;       /* hidden, the first `context` of which are kept apart for contexts when a task is tested */
    int matched;     /* non-links whose ends are drawn in proportion to their degrees */
    int context;
    int has_features;
    int group; /* tasks of one graph, or of one family of graphs, share a group */
    int graph; /* which one was added: 0, 1, ... */
    int place; /* among all attempts to make a task, including those that gave none */
} npi_task_data;

/* Number of labelled pairs. */
static inline size_t npi_task_pairs(const npi_task_data *task)
{
    return 2 * (size_t)task->links + (size_t)task->matched;
}

typedef struct npi_tasks {
    npgnn_env env;    /* of this process alone */
    npgnn_comm *comm; /* that share the work; NULL: one process */
    npi_task_data *items;
    size_t count, capacity;
    int groups;
    int graphs, places; /* so far */
} npi_tasks;

void npi_tasks_free(npi_tasks *tasks);

/* Adds the tasks of one graph. `group` from npi_tasks_group: graphs that are alike (snapshots of one network) share
 * one, so that they do not count more than others. A graph with too few links to hide some adds none. The processes of
 * tasks->comm add every task in one of them; npi_tasks_share then gives all tasks to all. */
int npi_tasks_add(npi_tasks *tasks, const npgnn_graph *graph, int group, uint64_t seed, npgnn_error *err);

/* Collective. Afterwards all processes have the tasks of all, in the order in which one process adds them. Called with
 * the code of what this process did before, and returns that of the first process that failed. */
int npi_tasks_share(npi_tasks *tasks, int code, npgnn_error *err);

#endif

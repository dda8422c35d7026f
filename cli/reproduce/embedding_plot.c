/* Projects node embeddings on their first two principal components. */
#include "embedding_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 3000, AXES = 2, ROUNDS = 200 };

/* ---- principal components ---- */

static void center(float *u, size_t nodes, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        double sum = 0;
        for (size_t i = 0; i < nodes; i++)
            sum += (double)u[i * width + j];
        for (size_t i = 0; i < nodes; i++)
            u[i * width + j] -= (float)(sum / (double)nodes);
    }
}

/* C = Uᵀ U / n for centred U (n, width). Returns its trace, the total variance. */
static double covariance(double *c /* (width, width) */, const float *u, size_t nodes, size_t width)
{
    double trace = 0;
    for (size_t a = 0; a < width; a++) {
        for (size_t b = 0; b < width; b++) {
            double sum = 0;
            for (size_t i = 0; i < nodes; i++)
                sum += (double)u[i * width + a] * (double)u[i * width + b];
            c[a * width + b] = sum / (double)nodes;
        }
        trace += c[a * width + a];
    }
    return trace;
}

/* out = C v. Returns its length. */
static double multiply(double *out, const double *c, const double *v, size_t width)
{
    double squares = 0;
    for (size_t a = 0; a < width; a++) {
        out[a] = 0;
        for (size_t b = 0; b < width; b++)
            out[a] += c[a * width + b] * v[b];
        squares += out[a] * out[a];
    }
    return sqrt(squares);
}

/* Power iteration: returns the largest eigenvalue of C and its eigenvector v, and deflates C by them (C -= value v vᵀ),
 * so that the next call finds the next one. The precision is enough for a plot. */
static double take_axis(double *v, double *c, double *scratch, size_t width)
{
    double value = 0;
    for (size_t a = 0; a < width; a++)
        v[a] = 1 + (double)a / (double)width; /* any start that is not orthogonal to the eigenvector */
    for (int round = 0; round < ROUNDS; round++) {
        value = multiply(scratch, c, v, width);
        for (size_t a = 0; a < width; a++)
            v[a] = value > 0 ? scratch[a] / value : 0;
    }
    for (size_t a = 0; a < width; a++)
        for (size_t b = 0; b < width; b++)
            c[a * width + b] -= value * v[a] * v[b];
    return value;
}

/* ---- the plot ---- */

/* The coordinates of every `step`-th node along v, scaled to -1 .. 1. */
static json_t *coordinates(const float *u, const double *v, size_t nodes, size_t width, size_t step)
{
    json_t *list = json_array();
    double *position = calloc(nodes, sizeof *position), largest = 0;
    for (size_t i = 0; position && i < nodes; i++) {
        for (size_t a = 0; a < width; a++)
            position[i] += (double)u[i * width + a] * v[a];
        largest = fmax(largest, fabs(position[i]));
    }
    for (size_t i = 0; position && i < nodes; i += step)
        json_array_append_new(list, json_real(largest > 0 ? round(1e4 * position[i] / largest) / 1e4 : 0));
    free(position);
    return list;
}

static json_t *labels(const npgnn_graph *graph, size_t step)
{
    json_t *list = json_array();
    for (size_t i = 0; i < (size_t)npgnn_graph_nodes(graph); i += step)
        json_array_append_new(list, json_integer(npgnn_graph_label(graph, (int32_t)i)));
    return list;
}

/* `work` has width * width + 2 * width elements: the covariance and two vectors. */
static json_t *project(float *u, double *work, const npgnn_graph *graph, size_t width)
{
    size_t nodes = (size_t)npgnn_graph_nodes(graph), step = (nodes + MAX_NODES - 1) / MAX_NODES;
    double *axis = work + width * width, *scratch = axis + width, share[AXES];
    json_t *place[AXES];
    center(u, nodes, width);
    double whole = covariance(work, u, nodes, width);
    for (int a = 0; a < AXES; a++) {
        double value = take_axis(axis, work, scratch, width);
        share[a] = whole > 0 ? value / whole : 0;
        place[a] = coordinates(u, axis, nodes, width, step);
    }
    return json_pack("{s:i, s:o, s:o, s:o, s:[f, f]}", "nodes", (int)nodes, "x", place[0], "y", place[1], "label",
                     labels(graph, step), "share", share[0], share[1]);
}

json_t *embedding_plot(const npgnn_model *model, const npgnn_graph *graph, const npgnn_env *env)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_model_options(&options, model, NULL);
    size_t nodes = (size_t)npgnn_graph_nodes(graph), width = (size_t)options.output_size;
    float *u = calloc(nodes * width, sizeof *u);
    double *work = calloc(width * width + 2 * width, sizeof *work);
    json_t *plot = NULL;
    if (u && work && npgnn_model_embed(u, model, graph, env, NULL) == 0)
        plot = project(u, work, graph, width);
    free(u);
    free(work);
    return plot;
}

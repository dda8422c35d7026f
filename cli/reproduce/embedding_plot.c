/* Projects node embeddings on two directions. With u_i the embedding of node i, m the mean, m_c that of class c with
 * n_c nodes:
 *
 *     T = Σ_i (u_i - m)(u_i - m)ᵀ / n              all variance
 *     B = Σ_c n_c (m_c - m)(m_c - m)ᵀ / n          that between the classes
 *     W = T - B + ε tr(T) I                        that within them, and a little more, so that it can be inverted
 *
 * Principal components are the leading eigenvectors of T. Discriminants are the v that maximise vᵀ B v / vᵀ W v: with W
 * = L Lᵀ, v = L⁻ᵀ y for the leading eigenvectors y of L⁻¹ B L⁻ᵀ. Along them, the variance within classes is 1. */
#include "embedding_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 3000, AXES = 2, ROUNDS = 200, LEAST_CLASSES = 3, MOST_CLASSES = 64 };
#define RIDGE 1e-4  /* ε */
#define SHOWN 0.995 /* of the nodes lie inside the drawing; the others are put on its edge */

typedef struct embeddings {
    float *u; /* (nodes, width), centred */
    size_t nodes, width;
    const npgnn_graph *graph;
    int classes;               /* 0: too few, or too many */
    size_t size[MOST_CLASSES]; /* (classes) nodes of each */
    double *mean;              /* (classes, width) of each */
    double *all, *between;     /* (width, width) T and B */
    double axis[AXES][1024];   /* (width) */
    double *place;             /* (AXES, nodes) */
} embeddings;

enum { MOST_WIDTH = sizeof((embeddings *)NULL)->axis[0] / sizeof(double) };

static int label_of(const embeddings *e, size_t node)
{
    int32_t label = npgnn_graph_label(e->graph, (int32_t)node);
    return label < e->classes ? label : -1;
}

/* ---- variances ---- */

static void center(embeddings *e)
{
    for (size_t j = 0; j < e->width; j++) {
        double sum = 0;
        for (size_t i = 0; i < e->nodes; i++)
            sum += (double)e->u[i * e->width + j];
        for (size_t i = 0; i < e->nodes; i++)
            e->u[i * e->width + j] -= (float)(sum / (double)e->nodes);
    }
}

/* matrix (width, width) += weight row rowᵀ */
static void add_square(double *matrix, const double *row, double weight, size_t width)
{
    for (size_t a = 0; a < width; a++)
        for (size_t b = 0; b < width; b++)
            matrix[a * width + b] += weight * row[a] * row[b];
}

static void measure(embeddings *e)
{
    double row[MOST_WIDTH], n = (double)e->nodes;
    for (size_t i = 0; i < e->nodes; i++) {
        int label = label_of(e, i);
        for (size_t j = 0; j < e->width; j++) {
            row[j] = (double)e->u[i * e->width + j];
            if (label >= 0)
                e->mean[(size_t)label * e->width + j] += row[j];
        }
        add_square(e->all, row, 1 / n, e->width);
        if (label >= 0)
            e->size[label]++;
    }
    for (int c = 0; c < e->classes; c++) {
        double *mean = e->mean + (size_t)c * e->width;
        for (size_t j = 0; j < e->width; j++)
            mean[j] /= e->size[c] > 0 ? (double)e->size[c] : 1;
        add_square(e->between, mean, (double)e->size[c] / n, e->width);
    }
}

/* ---- directions ---- */

/* Power iteration: the eigenvector v of the largest eigenvalue of C, by which C is then deflated (C -= value v vᵀ), so
 * that the next call finds the next one. The precision is enough for a plot. */
static void take_axis(double *v, double *c, size_t width)
{
    double next[MOST_WIDTH], value = 0;
    for (size_t a = 0; a < width; a++)
        v[a] = 1 + (double)a / (double)width; /* any start that is not orthogonal to the eigenvector */
    for (int round = 0; round < ROUNDS; round++) {
        value = 0;
        for (size_t a = 0; a < width; a++) {
            next[a] = 0;
            for (size_t b = 0; b < width; b++)
                next[a] += c[a * width + b] * v[b];
            value += next[a] * next[a];
        }
        value = sqrt(value);
        for (size_t a = 0; a < width; a++)
            v[a] = value > 0 ? next[a] / value : 0;
    }
    add_square(c, v, -value, width);
}

/* l (width, width) becomes L of L Lᵀ, of which only the lower triangle counts. */
static void factor(double *l, size_t width)
{
    for (size_t j = 0; j < width; j++)
        for (size_t i = j; i < width; i++) {
            double sum = l[i * width + j];
            for (size_t k = 0; k < j; k++)
                sum -= l[i * width + k] * l[j * width + k];
            if (i == j)
                l[i * width + j] = sqrt(sum > 0 ? sum : 1e-30);
            else
                l[i * width + j] = sum / l[j * width + j];
        }
}

/* L⁻¹ on the rows of B and then on its columns: B becomes L⁻¹ B L⁻ᵀ. */
static void whiten(double *b, const double *l, size_t width)
{
    for (int side = 0; side < 2; side++)
        for (size_t c = 0; c < width; c++)
            for (size_t i = 0; i < width; i++) {
                double *cell = side == 0 ? &b[i * width + c] : &b[c * width + i];
                for (size_t k = 0; k < i; k++)
                    *cell -= l[i * width + k] * (side == 0 ? b[k * width + c] : b[c * width + k]);
                *cell /= l[i * width + i];
            }
}

static void choose_axes(embeddings *e)
{
    size_t width = e->width;
    double trace = 0;
    if (e->classes == 0) {
        for (int a = 0; a < AXES; a++)
            take_axis(e->axis[a], e->all, width);
        return;
    }
    double *l = e->all; /* W, then its factor */
    for (size_t a = 0; a < width; a++)
        trace += e->all[a * width + a];
    for (size_t i = 0; i < width * width; i++)
        l[i] -= e->between[i];
    for (size_t a = 0; a < width; a++)
        l[a * width + a] += RIDGE * trace + 1e-30;
    factor(l, width);
    whiten(e->between, l, width);
    for (int axis = 0; axis < AXES; axis++) {
        double *v = e->axis[axis];
        take_axis(v, e->between, width);
        for (size_t i = width; i-- > 0;) { /* v = L⁻ᵀ y */
            for (size_t k = i + 1; k < width; k++)
                v[i] -= l[k * width + i] * v[k];
            v[i] /= l[i * width + i];
        }
    }
}

/* ---- the plot ---- */

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* place (AXES, nodes): where the nodes lie along the axes. */
static void place_nodes(embeddings *e)
{
    for (int a = 0; a < AXES; a++)
        for (size_t i = 0; i < e->nodes; i++) {
            double sum = 0;
            for (size_t j = 0; j < e->width; j++)
                sum += (double)e->u[i * e->width + j] * e->axis[a][j];
            e->place[(size_t)a * e->nodes + i] = sum;
        }
}

/* The share of the nodes with a class whose own class has the nearest mean in the plane. */
static double nearest_share(const embeddings *e)
{
    double mean[AXES][MOST_CLASSES] = {{0}};
    size_t right = 0, count = 0;
    for (int a = 0; a < AXES; a++)
        for (int c = 0; c < e->classes; c++)
            for (size_t j = 0; j < e->width; j++)
                mean[a][c] += e->mean[(size_t)c * e->width + j] * e->axis[a][j];
    for (size_t i = 0; i < e->nodes; i++) {
        int best = -1, label = label_of(e, i);
        double least = (double)INFINITY;
        for (int c = 0; c < e->classes; c++) {
            double dx = e->place[i] - mean[0][c], dy = e->place[e->nodes + i] - mean[1][c];
            if (e->size[c] > 0 && dx * dx + dy * dy < least) {
                least = dx * dx + dy * dy;
                best = c;
            }
        }
        count += label >= 0;
        right += label >= 0 && best == label;
    }
    return count > 0 ? (double)right / (double)count : 0;
}

/* Every `step`-th node along an axis, scaled to -1 .. 1 such that all but the outermost keep their place. */
static json_t *coordinates(const double *place, size_t nodes, size_t step)
{
    json_t *list = json_array();
    double *distance = calloc(nodes, sizeof *distance), most = 0;
    for (size_t i = 0; distance && i < nodes; i++)
        distance[i] = fabs(place[i]);
    if (distance) {
        qsort(distance, nodes, sizeof *distance, by_size);
        most = distance[(size_t)(SHOWN * (double)(nodes - 1))];
    }
    for (size_t i = 0; distance && i < nodes; i += step)
        json_array_append_new(list, json_real(most > 0 ? round(1e4 * fmax(-1, fmin(1, place[i] / most))) / 1e4 : 0));
    free(distance);
    return list;
}

static json_t *plot_json(const embeddings *e, double whole)
{
    size_t step = (e->nodes + MAX_NODES - 1) / MAX_NODES;
    json_t *labels = json_array(), *share = json_array();
    for (size_t i = 0; i < e->nodes; i += step)
        json_array_append_new(labels, json_integer(npgnn_graph_label(e->graph, (int32_t)i)));
    for (int a = 0; a < AXES; a++) {
        double along = 0, length = 0; /* the variance along the direction of the axis, whatever its length */
        for (size_t i = 0; i < e->nodes; i++)
            along += pow(e->place[(size_t)a * e->nodes + i], 2) / (double)e->nodes;
        for (size_t j = 0; j < e->width; j++)
            length += e->axis[a][j] * e->axis[a][j];
        json_array_append_new(share, json_real(whole > 0 && length > 0 ? along / length / whole : 0));
    }
    return json_pack("{s:i, s:o, s:o, s:o, s:s, s:o, s:o}", "nodes", (int)e->nodes, "x",
                     coordinates(e->place, e->nodes, step), "y", coordinates(e->place + e->nodes, e->nodes, step),
                     "label", labels, "projection", e->classes ? "classes" : "components", "nearest",
                     e->classes ? json_real(nearest_share(e)) : json_null(), "share", share);
}

json_t *embedding_plot(const npgnn_model *model, const npgnn_graph *graph, const npgnn_env *env)
{
    npgnn_options options = {.size = sizeof options};
    npgnn_graph_info info = {.size = sizeof info};
    npgnn_model_options(&options, model, NULL);
    npgnn_graph_describe(&info, graph, NULL);
    embeddings *e = calloc(1, sizeof *e);
    json_t *plot = NULL;
    if (!e)
        return NULL;
    e->nodes = (size_t)npgnn_graph_nodes(graph);
    e->width = (size_t)options.output_size;
    e->graph = graph;
    e->classes = info.classes >= LEAST_CLASSES && info.classes <= MOST_CLASSES ? info.classes : 0;
    size_t square = e->width * e->width;
    e->u = calloc(e->nodes * e->width, sizeof *e->u);
    e->all = calloc(2 * square + (size_t)e->classes * e->width, sizeof *e->all);
    e->place = calloc(AXES * e->nodes, sizeof *e->place);
    if (e->u && e->all && e->place && e->nodes > 0 && e->width <= MOST_WIDTH &&
        npgnn_model_embed(e->u, model, graph, env, NULL) == 0) {
        double whole = 0;
        e->between = e->all + square;
        e->mean = e->between + square;
        center(e);
        measure(e);
        for (size_t a = 0; a < e->width; a++)
            whole += e->all[a * e->width + a];
        choose_axes(e);
        place_nodes(e);
        plot = plot_json(e, whole);
    }
    free(e->u);
    free(e->all);
    free(e->place);
    free(e);
    return plot;
}

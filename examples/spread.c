/* How uncertain is the model when it knows little about a graph? Encodes the latent variable z from larger and larger
 * parts of a graph (contexts), and predicts links for many draws of z. Prints a table; with a file name as its
 * argument, also draws the figure of docs/understand/latent.md. */
#include <math.h>
#include <npgnn/npgnn.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONTEXTS = 10, SIZES = 5, DRAWS = 30, PAIRS = 300, MAX_LATENT = 4096 };
static const double fractions[SIZES] = {0.05, 0.1, 0.2, 0.4, 0.9}; /* of the nodes, in the contexts */

/* Means over the contexts of one size. */
typedef struct point {
    double nodes;
    double sigma;   /* standard deviation of z, mean over its dimensions */
    double within;  /* standard deviation of the log-odds over draws of z, mean over pairs */
    double between; /* standard deviation of the log-odds over contexts, at the mean of z, mean over pairs */
} point;

static double mean_sigma(const npgnn_model *model)
{
    static float sigma[MAX_LATENT];
    int d = npgnn_model_latent(NULL, sigma, model);
    double sum = 0;
    for (int c = 0; c < d; c++)
        sum += (double)sigma[c] / d;
    return sum;
}

/* The standard deviation of the log-odds, from the 95 % interval: its width is 2 * 1.96 standard deviations. */
static double deviation(const npgnn_prediction *p)
{
    double low = (double)p->low, high = (double)p->high;
    return (log(high / (1 - high)) - log(low / (1 - low))) / (2 * 1.96);
}

static double log_odds(const npgnn_prediction *p)
{
    return log((double)p->probability / (1 - (double)p->probability));
}

/* Predicts the pairs with z from one context. Adds to the means in `at`, and to the sums of the log-odds and of their
 * squares. */
static int measure_context(point *at, double sums[PAIRS][2], const npgnn_model *model, const npgnn_graph *context,
                           const npgnn_graph *graph, const npgnn_pair *pairs, npgnn_error *err)
{
    static npgnn_prediction drawn[PAIRS], mean[PAIRS];
    npgnn_predict_options draws = {.size = sizeof draws, .samples = DRAWS, .link_rate = 0.5},
                          none = {.size = sizeof none, .link_rate = 0.5};
    npgnn_model *adapted = NULL;
    int code = npgnn_model_adapt(&adapted, model, context, NULL, err);
    if (code == 0)
        code = npgnn_predict(drawn, adapted, graph, pairs, PAIRS, &draws, NULL, err);
    if (code == 0)
        code = npgnn_predict(mean, adapted, graph, pairs, PAIRS, &none, NULL, err);
    for (int i = 0; code == 0 && i < PAIRS; i++) {
        double odds = log_odds(&mean[i]);
        at->within += deviation(&drawn[i]) / PAIRS / CONTEXTS;
        sums[i][0] += odds;
        sums[i][1] += odds * odds;
    }
    if (code == 0) {
        at->nodes += (double)npgnn_graph_nodes(context) / CONTEXTS;
        at->sigma += mean_sigma(adapted) / CONTEXTS;
    }
    npgnn_model_free(adapted);
    return code;
}

/* All contexts of one size: subgraphs of randomly drawn nodes, made as the training graphs of few-shot splits. */
static int measure_size(point *at, double fraction, const npgnn_model *model, const npgnn_graph *graph,
                        const npgnn_pair *pairs, npgnn_error *err)
{
    static double sums[PAIRS][2];
    npgnn_split_options options = {.size = sizeof options};
    int code = 0;
    npgnn_split_options_default(&options, NPGNN_FEW_SHOT, NULL);
    options.train_nodes = fraction;
    for (int i = 0; i < PAIRS; i++)
        sums[i][0] = sums[i][1] = 0;
    for (int c = 0; code == 0 && c < CONTEXTS; c++) {
        npgnn_split *split = NULL;
        options.seed = (uint64_t)c;
        code = npgnn_split_new(&split, graph, &options, NULL, err);
        if (code == 0)
            code = measure_context(at, sums, model, npgnn_split_train(NULL, split), graph, pairs, err);
        npgnn_split_free(split);
    }
    for (int i = 0; i < PAIRS; i++) {
        double mean = sums[i][0] / CONTEXTS, variance = sums[i][1] / CONTEXTS - mean * mean;
        at->between += sqrt(variance > 0 ? variance : 0) / PAIRS;
    }
    return code;
}

/* ---- the figure, with logarithmic axes ---- */

static double to_x(double nodes, const point points[SIZES])
{
    return 60 + 380 * log(nodes / points[0].nodes) / log(points[SIZES - 1].nodes / points[0].nodes);
}

static double to_y(double deviation_value)
{
    return 20 + 220 * (0.5 - log10(deviation_value)) / 4; /* from 10^0.5 to 10^-3.5 */
}

static void draw_line(FILE *out, const point points[SIZES], int between, const char *color, const char *text)
{
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", color);
    for (int i = 0; i < SIZES; i++)
        fprintf(out, "%.1f,%.1f ", to_x(points[i].nodes, points), to_y(between ? points[i].between : points[i].within));
    fprintf(out, "\"/>\n<text x=\"450\" y=\"%.1f\" fill=\"%s\">%s</text>\n",
            to_y(between ? points[SIZES - 1].between : points[SIZES - 1].within) + 4, color, text);
}

static void draw(FILE *out, const point points[SIZES])
{
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 290\" font-family=\"sans-serif\" "
          "font-size=\"12\">\n"
          "<rect width=\"640\" height=\"290\" fill=\"white\"/>\n<path d=\"M60 20V240H440\" fill=\"none\" "
          "stroke=\"black\"/>\n",
          out);
    for (int i = 0; i < SIZES; i++)
        fprintf(out, "<text x=\"%.1f\" y=\"256\" text-anchor=\"middle\">%.0f</text>\n", to_x(points[i].nodes, points),
                points[i].nodes);
    for (int power = -3; power <= 0; power++)
        fprintf(out, "<text x=\"54\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", to_y(pow(10, power)) + 4,
                pow(10, power));
    fputs("<text x=\"250\" y=\"278\" text-anchor=\"middle\">nodes of the context</text>\n"
          "<text x=\"66\" y=\"16\">standard deviation of the log-odds</text>\n",
          out);
    draw_line(out, points, 0, "#c0392b", "over draws of z: the interval");
    draw_line(out, points, 1, "#2471a3", "over contexts of this size");
    fputs("</svg>\n", out);
}

static int write_figure(const char *path, const point points[SIZES])
{
    FILE *out = fopen(path, "w");
    if (!out)
        return -1;
    draw(out, points);
    return fclose(out);
}

int main(int argc, char **argv)
{
    npgnn_graph *graph = NULL;
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    npgnn_options options = {.size = sizeof options};
    point points[SIZES] = {{0}};
    npgnn_pair pairs[PAIRS];
    npgnn_options_preset(&options, NULL, NULL);
    options.iterations = 100;
    int code = npgnn_load(&graph, "synthetic:nodes=1000", NULL, NULL, &err);
    if (code == 0)
        code = npgnn_fit(&model, graph, &options, NULL, &err);
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = (npgnn_pair){i, 999 - i};
    puts("nodes\tsigma\tover_draws\tover_contexts");
    for (int i = 0; code == 0 && i < SIZES; i++) {
        code = measure_size(&points[i], fractions[i], model, graph, pairs, &err);
        printf("%.0f\t%.4f\t%.4f\t%.4f\n", points[i].nodes, points[i].sigma, points[i].within, points[i].between);
    }
    if (code != 0)
        fprintf(stderr, "%s\n", err.text);
    else if (argc > 1 && (code = write_figure(argv[1], points)) != 0)
        perror(argv[1]);
    npgnn_model_free(model);
    npgnn_graph_free(graph);
    return code != 0;
}

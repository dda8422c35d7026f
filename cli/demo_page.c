/* Draws the results of the demo. A drawing has the node in the middle, some of its known links to the left and the
 * suggestions to the right, one row each, so that labels cannot overlap. It is 400 units wide: a telephone shows it at
 * its full size. */
#include "demo_page.h"

#include <stdlib.h>
#include <string.h>

#include "html_text.h"

enum {
    WIDTH = 400,
    LEFT = 132,   /* where known links end, */
    MIDDLE = 200, /* where the node is, */
    RIGHT = 268,  /* and where suggestions end */
    ROW = 36,     /* height of a suggestion: name and probability */
    LINK_ROW = 20,
    MARGIN = 26,
    MAX_LINKS = 9, /* known links that are drawn */
    MAX_LABEL = 18 /* characters of a name beside the drawing */
};

/* ---- text ---- */

static void write_name(FILE *out, const demo_result *result, int32_t node, int characters)
{
    char buffer[12];
    html_write_cut(out, npgnn_graph_name(result->known, node, buffer), characters);
}

void demo_explain_auc(FILE *out, const demo_result *r)
{
    fprintf(out,
            "AUC %.1f %%: of a hidden link and a random pair without a link, the hidden link gets the higher score in "
            "%.1f %% of all cases; guessing would give 50 %%.",
            100 * r->auc, 100 * r->auc);
}

/* ---- which known links are drawn ---- */

/* Those first that lead on to a suggestion, then those that have few links of their own. */
typedef struct known_link {
    int32_t node;
    int leads;
    int64_t degree;
} known_link;

static int by_interest(const void *a, const void *b)
{
    const known_link *left = a, *right = b;
    if (left->leads != right->leads)
        return right->leads - left->leads;
    if (left->degree != right->degree)
        return left->degree < right->degree ? -1 : 1;
    return left->node < right->node ? -1 : 1;
}

/* Fills out (MAX_LINKS). Returns how many of them there are; *all is the number of known links. */
static int choose_links(known_link *out, int64_t *all, const demo_result *result, const demo_node *node)
{
    const int32_t *neighbors, *none;
    int chosen = 0;
    *all = npgnn_graph_neighbors(&neighbors, result->known, node->node);
    known_link *links = calloc((size_t)*all + 1, sizeof *links);
    for (int64_t i = 0; links && i < *all; i++) {
        links[i].node = neighbors[i];
        links[i].degree = npgnn_graph_neighbors(&none, result->known, neighbors[i]);
        for (int s = 0; s < node->count; s++)
            links[i].leads += npgnn_graph_has_edge(result->known, neighbors[i], node->suggestions[s].node);
    }
    if (links) {
        qsort(links, (size_t)*all, sizeof *links, by_interest);
        chosen = *all < MAX_LINKS ? (int)*all : MAX_LINKS;
        memcpy(out, links, (size_t)chosen * sizeof *links);
    }
    free(links);
    return chosen;
}

/* ---- the drawing ---- */

static const char svg_style[] =
    ".l{fill:none;stroke:#8a8f98;stroke-width:1.3}.s{fill:none;stroke:#2f6fd0;stroke-width:1.6;stroke-dasharray:5 "
    "4}.t{stroke:#15803d;stroke-width:2.2}.n{fill:#8a8f98}.ns{fill:#2f6fd0}.nt{fill:#15803d}.c{fill:#c2410c}text{font:"
    "12px "
    "system-ui,sans-serif;fill:#1f2328}.p{font-size:11px;fill:#2f6fd0}.pt{fill:#15803d;font-weight:600}.m{font-weight:"
    "700;font-size:14px}.f{fill:#656d76;font-size:11px}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.f{fill:#"
    "9198a1}.s{stroke:#6ea8fe}.ns{fill:#6ea8fe}.p{fill:#6ea8fe}.t{stroke:#3fb950}.nt,.pt{fill:#3fb950}}";

/* A line from the node to a row, horizontal at both ends. */
static void write_curve(FILE *out, const char *class, int x, double y, double middle)
{
    fprintf(out, "<path class=\"%s\" d=\"M%d %.1fC%d %.1f %d %.1f %d %.1f\"/>\n", class, MIDDLE, middle,
            (MIDDLE + x) / 2, middle, (MIDDLE + x) / 2, y, x, y);
}

static void write_drawing(FILE *out, const demo_result *result, const demo_node *node, int standalone)
{
    known_link links[MAX_LINKS];
    int64_t all;
    int shown = choose_links(links, &all, result, node), rows = shown + (all > shown);
    int left = rows * LINK_ROW, right = node->count * ROW, height = (left > right ? left : right) + 2 * MARGIN;
    double middle = height / 2.0, link_top = middle - left / 2.0, top = middle - right / 2.0;
    fprintf(out, "<svg %srole=\"img\" viewBox=\"0 0 %d %d\" aria-label=\"Known links of ",
            standalone ? "xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" " : "", WIDTH, height);
    write_name(out, result, node->node, 100);
    fprintf(out, " and %d suggested ones, of which %d are hidden links\">\n<style>%s</style>\n", node->count,
            node->came_true, svg_style);
    fprintf(out, "<text class=\"f\" x=\"%d\" y=\"14\" text-anchor=\"end\">known links</text>\n", LEFT - 8);
    fprintf(out, "<text class=\"f\" x=\"%d\" y=\"14\">suggested</text>\n", RIGHT + 8);
    for (int i = 0; i < shown; i++)
        write_curve(out, "l", LEFT, link_top + (i + 0.5) * LINK_ROW, middle);
    for (int i = 0; i < node->count; i++)
        write_curve(out, node->suggestions[i].came_true ? "s t" : "s", RIGHT, top + (i + 0.5) * ROW, middle);
    for (int i = 0; i < shown; i++) {
        double y = link_top + (i + 0.5) * LINK_ROW;
        fprintf(out,
                "<circle class=\"n\" cx=\"%d\" cy=\"%.1f\" r=\"3.5\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                LEFT, y, LEFT - 8, y + 4);
        write_name(out, result, links[i].node, MAX_LABEL);
        fputs("</text>\n", out);
    }
    if (all > shown)
        fprintf(out, "<text class=\"f\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">and %lld more</text>\n", LEFT - 8,
                link_top + (shown + 0.5) * LINK_ROW + 4, (long long)(all - shown));
    for (int i = 0; i < node->count; i++) {
        const demo_suggestion *s = &node->suggestions[i];
        double y = top + (i + 0.5) * ROW;
        fprintf(out, "<circle class=\"%s\" cx=\"%d\" cy=\"%.1f\" r=\"4.5\"/><text x=\"%d\" y=\"%.1f\">",
                s->came_true ? "nt" : "ns", RIGHT, y, RIGHT + 9, y - 2);
        write_name(out, result, s->node, MAX_LABEL);
        fprintf(out, "</text><text class=\"%s\" x=\"%d\" y=\"%.1f\">%.0f %%%s</text>\n", s->came_true ? "p pt" : "p",
                RIGHT + 9, y + 12, 100 * s->probability, s->came_true ? ", came true" : "");
    }
    fprintf(out, "<circle class=\"c\" cx=\"%d\" cy=\"%.1f\" r=\"9\"/>\n", MIDDLE, middle);
    fprintf(out, "<text class=\"m\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">", MIDDLE, height - 6);
    write_name(out, result, node->node, 2 * MAX_LABEL);
    fputs("</text>\n</svg>\n", out);
}

void demo_picture_write(FILE *out, const demo_result *result, const demo_node *node)
{
    write_drawing(out, result, node, 1);
}

/* ---- the page ---- */

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>npgnn demo</title>\n"
    "<link rel=\"icon\" href=\"data:,\">\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1rem;overflow-wrap:break-word}\n"
    "svg{width:100%;max-width:600px;height:auto;display:block}\n"
    "h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.5rem}\n"
    "li{margin:.5rem 0}.why{font-size:.9rem;opacity:.8}.true{color:#15803d;font-weight:600}\n"
    "@media(prefers-color-scheme:dark){.true{color:#3fb950}}\n"
    "</style>\n</head>\n<body>\n";

void demo_page_write(FILE *out, const demo_result *r)
{
    fputs(page_head, out);
    fputs("<h1>Which links are missing?</h1>\n", out);
    fprintf(out,
            "<p>The Python libraries of Debian 12: %d packages. Two are linked when one needs or recommends the other. "
            "%lld of the %lld links were hidden. <code>universal</code>, which was not trained on this graph, saw the "
            "others and the words of the descriptions. Dashed lines are what it suggests; <span "
            "class=\"true\">green</span> ones are hidden links that it found.</p>\n",
            npgnn_graph_nodes(r->known), (long long)r->hidden, (long long)r->links);
    fprintf(out,
            "<p>Of the %d pairs of the whole graph that it finds most probable, <b>%d</b> are hidden links; by its own "
            "probabilities it expected %.0f. ",
            r->best, r->best_true, r->best_expected);
    demo_explain_auc(out, r);
    fputs("</p>\n", out);
    for (int i = 0; i < r->node_count; i++) {
        const demo_node *node = &r->nodes[i];
        fputs("<section>\n<h2>", out);
        write_name(out, r, node->node, 200);
        fputs("</h2>\n", out);
        write_drawing(out, r, node, 0);
        fputs("<ol>\n", out);
        for (int s = 0; s < node->count; s++) {
            const demo_suggestion *suggestion = &node->suggestions[s];
            fputs("<li><b>", out);
            write_name(out, r, suggestion->node, 200);
            fprintf(out, "</b> %.0f %%%s<br><span class=\"why\">", 100 * suggestion->probability,
                    suggestion->came_true ? " <span class=\"true\">came true: it was hidden</span>" : "");
            html_write(out, suggestion->reason);
            fputs("</span></li>\n", out);
        }
        fputs("</ol>\n</section>\n", out);
    }
    fputs("<p>The number after a reason is what it contributes to the log-odds of a link. A suggestion that did not "
          "come true is not necessarily wrong: nobody has made that link yet.</p>\n</body>\n</html>\n",
          out);
}

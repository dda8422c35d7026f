/* Draws a comparison. The curves of a method are means over its seeds on a grid of 101 positions:
 *
 *     ROC                 the true positive rate, linear between points, which is how a tie counts half in the AUC
 *     precision-recall    the precision at the first threshold that reaches the recall, as in the average precision
 *
 * A chart is 360 units wide: a telephone shows it at its full size. */
#include "compare_page.h"

#include <math.h>
#include <string.h>

#include "html_text.h"

enum {
    WIDTH = 360,
    LEFT = 46, /* of the plot, beside the labels */
    TOP = 12,
    SIDE = 300, /* of the plot, a square */
    HEIGHT = 360,
    GRID = 100,
    COLOURS = 8
};

/* ---- curves ---- */

static double point(const json_t *curve, const char *axis, size_t i)
{
    return json_number_value(json_array_get(json_object_get(curve, axis), i));
}

/* The value of a curve at x, where points are in ascending order of x. */
static double curve_at(const json_t *curve, double x, int linear)
{
    size_t count = json_array_size(json_object_get(curve, "x")), i = 0;
    if (count == 0)
        return (double)NAN;
    /* points with the same x are a vertical step, whose upper end counts: a linear curve passes them all */
    while (i < count && (linear ? point(curve, "x", i) <= x : point(curve, "x", i) < x))
        i++;
    if (i == count)
        return point(curve, "y", count - 1);
    if (!linear || i == 0)
        return point(curve, "y", i);
    double x0 = point(curve, "x", i - 1), x1 = point(curve, "x", i);
    double y0 = point(curve, "y", i - 1), y1 = point(curve, "y", i);
    return y0 + (x - x0) / (x1 - x0) * (y1 - y0);
}

static void write_curve(FILE *out, const compared_method *method, const char *key, int linear, int index)
{
    size_t seeds = json_array_size(method->curves.runs);
    int drawn = 0;
    fprintf(out, "<path class=\"curve c%d%s\" d=\"", index % COLOURS, index < COLOURS ? "" : " dashed");
    for (int g = 0; g <= GRID; g++) {
        double mean = 0, x = (double)g / GRID;
        for (size_t s = 0; s < seeds; s++)
            mean += curve_at(json_object_get(json_array_get(method->curves.runs, s), key), x, linear) / (double)seeds;
        if (isfinite(mean)) /* a curve is missing only where memory ran out */
            fprintf(out, "%c%.1f %.1f", drawn++ ? 'L' : 'M', LEFT + x * SIDE, TOP + (1 - mean) * SIDE);
    }
    fputs("\"/>\n", out);
}

static void write_chart(FILE *out, const comparison *all, const char *title, const char *key, const char *x_title,
                        const char *y_title, int linear)
{
    fprintf(out,
            "<figure><svg role=\"img\" viewBox=\"0 0 %d %d\" aria-label=\"%s of %d methods, mean over %d seed%s\">\n",
            WIDTH, HEIGHT, title, all->count, all->seeds, all->seeds == 1 ? "" : "s");
    for (int tick = 0; tick <= 5; tick++) {
        double x = LEFT + SIDE * tick / 5.0, y = TOP + SIDE * (1 - tick / 5.0);
        fprintf(out, "<path class=\"grid\" d=\"M%.1f %dV%dM%d %.1fH%d\"/>\n", x, TOP, TOP + SIDE, LEFT, y, LEFT + SIDE);
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.1f</text>\n", x, TOP + SIDE + 21, tick / 5.0);
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>\n", LEFT - 6, y + 4, tick / 5.0);
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", LEFT + SIDE / 2, HEIGHT - 8, x_title);
    fprintf(out, "<text transform=\"translate(12 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", TOP + SIDE / 2,
            y_title);
    for (int i = all->count - 1; i >= 0; i--) /* the reference on top */
        write_curve(out, &all->methods[i], key, linear, i);
    fprintf(out, "</svg><figcaption>%s</figcaption></figure>\n", title);
}

/* ---- tables ---- */

void compare_p_text(char *text, size_t size, double p)
{
    if (isnan(p))
        snprintf(text, size, "-");
    else if (p < 0.0001)
        snprintf(text, size, "%.1e", p);
    else
        snprintf(text, size, "%.4f", p);
}

void compare_interval_text(char *text, size_t size, const npgnn_paired *difference)
{
    if (isnan(difference->low))
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%+.2f to %+.2f", 100 * difference->low, 100 * difference->high);
}

const char *compare_missing_p(const comparison *all)
{
    return all->seeds < NPGNN_PAIRED_LEAST ? "p needs at least 6 seeds: with fewer it cannot be below 0.05" : NULL;
}

static void write_means(FILE *out, const comparison *all)
{
    fputs("<div class=\"scroll\"><table aria-label=\"Means\"><thead><tr><th>method</th>", out);
    for (int m = 0; m < all->metric_count; m++)
        fprintf(out, "<th class=\"number\">%s</th>", all->metrics[m].title);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (int i = 0; i < all->count; i++) {
        fputs("<tr><td>", out);
        html_write(out, all->methods[i].name);
        fputs("</td>", out);
        for (int m = 0; m < all->metric_count; m++) {
            report_stats stats = report_summary(all->methods[i].runs, all->seeds, all->metrics[m].column);
            fprintf(out, "<td class=\"number\">%.2f", 100 * stats.mean);
            if (!isnan(stats.std))
                fprintf(out, " ± %.2f", 100 * stats.std);
            fputs("</td>", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void write_differences(FILE *out, const comparison *all)
{
    fputs("<div class=\"scroll\"><table aria-label=\"Differences\"><thead><tr><th>method</th><th>metric</th><th "
          "class=\"number\">difference</th><th class=\"number\">95 % interval</th><th class=\"number "
          "wide\">better</th><th class=\"number\">p</th></tr></thead>\n<tbody>\n",
          out);
    for (int i = 1; i < all->count; i++)
        for (int m = 0; m < all->metric_count; m++) {
            const npgnn_paired *d = &all->methods[i].difference[m];
            char p[32], interval[64];
            compare_p_text(p, sizeof p, d->p);
            compare_interval_text(interval, sizeof interval, d);
            fputs("<tr><td>", out);
            html_write(out, all->methods[i].name);
            fprintf(out,
                    "</td><td>%s</td><td class=\"number\">%+.2f</td><td class=\"number\">%s</td>"
                    "<td class=\"number wide\">%d of %d</td><td class=\"number\">%s</td></tr>\n",
                    all->metrics[m].title, 100 * d->mean, interval, d->better, all->seeds, p);
        }
    fputs("</tbody></table></div>\n", out);
}

/* ---- the page ---- */

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>npgnn compare</title>\n"
    "<link rel=\"icon\" href=\"data:,\">\n<style>\n"
    ":root{color-scheme:light dark;--ink:#1f2328;--grid:#d8dce1;--c0:#0969da;--c1:#c2410c;--c2:#15803d;--c3:#7c3aed;"
    "--c4:#b4236a;--c5:#0e7490;--c6:#8a6100;--c7:#57606a}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--grid:#3a4048;--c0:#6ea8fe;--c1:#fb923c;--c2:#3fb950;"
    "--c3:#b794f6;--c4:#f472b6;--c5:#22d3ee;--c6:#e3b341;--c7:#9aa4af}}\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:0 auto;padding:1rem;overflow-wrap:break-word}\n"
    "h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}\n"
    "th,td{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--grid);white-space:nowrap}\n"
    ".number{text-align:right;font-variant-numeric:tabular-nums}\n"
    "@media(max-width:30rem){table{font-size:.75rem}th,td{white-space:normal;padding-right:.3rem}.wide{display:none}}\n"
    ".charts{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;flex:1 1 300px;max-width:400px}\n"
    "svg{width:100%;height:auto;display:block}figcaption{text-align:center}\n"
    "svg text{font:12px system-ui,sans-serif;fill:var(--ink)}.grid{stroke:var(--grid);fill:none}\n"
    ".curve{fill:none;stroke-width:2}.dashed{stroke-dasharray:6 4}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:.3rem 1rem;list-style:none;padding:0}\n"
    ".legend svg{width:24px;height:10px;display:inline-block;margin-right:.4rem}\n";

void compare_page_write(FILE *out, const comparison *all)
{
    const char *missing = compare_missing_p(all);
    fputs(page_head, out);
    for (int i = 0; i < COLOURS; i++)
        fprintf(out, ".c%d{stroke:var(--c%d)}", i, i);
    fputs("\n</style>\n</head>\n<body>\n<h1>Methods compared on ", out);
    html_write(out, all->dataset);
    fprintf(
        out,
        "</h1>\n<p>Protocol: %s. %d seed%s, each with a split of its own that all methods share. All figures are in "
        "percent, mean ± standard deviation over the seeds.</p>\n",
        all->protocol, all->seeds, all->seeds == 1 ? "" : "s");
    write_means(out, all);
    fputs("<h2>Difference to ", out);
    html_write(out, all->methods[0].name);
    fputs("</h2>\n<p>The interval is a bootstrap over the seeds. <span class=\"wide\"><i>Better</i> counts "
          "seeds.</span> p is that of Wilcoxon's signed-rank test, two-sided",
          out);
    fprintf(out, "%s%s. Both describe other splits of this graph, not other graphs.</p>\n", missing ? "; " : "",
            missing ? missing : "");
    write_differences(out, all);
    fputs("<h2>Curves</h2>\n<ul class=\"legend\">\n", out);
    for (int i = 0; i < all->count; i++) {
        fprintf(out,
                "<li><svg viewBox=\"0 0 24 10\" aria-hidden=\"true\"><path class=\"key c%d%s\" d=\"M0 5H24\" "
                "stroke-width=\"3\"/></svg>",
                i % COLOURS, i < COLOURS ? "" : " dashed");
        html_write(out, all->methods[i].name);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n<div class=\"charts\">\n", out);
    write_chart(out, all, "ROC curves", "roc", "false positive rate", "true positive rate", 1);
    write_chart(out, all, "Precision-recall curves", "pr", "recall", "precision", 0);
    fputs("</div>\n</body>\n</html>\n", out);
}

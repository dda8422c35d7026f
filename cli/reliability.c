/* Prints the calibration of probabilities. */
#include "reliability.h"

#include <math.h>

#include "report.h"

static void print_share(FILE *out, double share)
{
    if (isnan(share))
        fprintf(out, "  %10s", "-");
    else
        fprintf(out, "  %10.4f", 100 * share);
}

static void print_bin(FILE *out, const npgnn_bin *bin)
{
    fprintf(out, "  %10.0f", bin->pairs);
    print_share(out, bin->predicted);
    print_share(out, bin->observed);
    fputc('\n', out);
}

void reliability_print(FILE *out, const npgnn_calibration *c)
{
    fprintf(out, "\ncalibration at a link rate of %.4g, in percent\n", c->link_rate);
    fprintf(out, "%-28s%.4f\n", "ECE", 100 * c->ece);
    fprintf(out, "%-28s%.2f\n", "ECE at a link rate of 1/2", 100 * c->balanced_ece);
    fprintf(out, "%-28s%.2f\n", "ECE, averaged over links", 100 * c->link_ece);
    fprintf(out, "%-28s%.2f\n", "skill", 100 * c->skill);
    fprintf(out, "\n%-6s  %10s  %10s  %10s\n", "links", "pairs", "predicted", "observed");
    for (int i = 0; i < NPGNN_BINS; i++) {
        fprintf(out, "%-6d", 100 * (i + 1) / NPGNN_BINS);
        print_bin(out, &c->bins[i]);
    }
    fprintf(out, "\n%-6s  %10s  %10s  %10s\n", "", "top pairs", "predicted", "observed");
    for (int i = 0; i < NPGNN_TOPS; i++) {
        fprintf(out, "%-6s", "");
        print_bin(out, &c->top[i]);
    }
}

static json_t *bins_json(const npgnn_bin *bins, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(array,
                              json_pack("{s:o, s:o, s:o}", "pairs", report_real(bins[i].pairs), "predicted",
                                        report_real(bins[i].predicted), "observed", report_real(bins[i].observed)));
    return array;
}

json_t *reliability_json(const npgnn_calibration *c)
{
    if (isnan(c->link_rate))
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o}", "link_rate", c->link_rate, "ece", c->ece,
                     "balanced_ece", c->balanced_ece, "link_ece", c->link_ece, "log_loss", c->log_loss, "brier",
                     c->brier, "skill", c->skill, "bins", bins_json(c->bins, NPGNN_BINS), "top",
                     bins_json(c->top, NPGNN_TOPS));
}

/* Writes a scorer as JSON and parses it; scorer.h has the format. */
#include "store/scorer.h"

#include <math.h>

static json_t *reals_json(const double *numbers, int count)
{
    json_t *array = json_array();
    int failed = !array;
    for (int i = 0; i < count; i++)
        failed |= json_array_append_new(array, json_real(numbers[i]));
    if (!failed)
        return array;
    json_decref(array);
    return NULL;
}

json_t *npi_scorer_json(const npi_scorer *scorer)
{
    const npi_calibration *c = &scorer->calibration;
    json_t *weights = json_pack("{s:f, s:f}", "intercept", scorer->weights.shift, "embeddings", scorer->weights.own);
    int failed = !weights;
    for (int column = 0; column < NPI_EVIDENCE_COLUMNS; column++)
        failed |= json_object_set_new(weights, npi_evidence_name(column), json_real(scorer->weights.column[column]));
    json_t *object = failed ? NULL : json_pack("{s:O}", "weights", weights);
    json_decref(weights);
    if (object && scorer->calibrated &&
        json_object_set_new(object, "calibration",
                            json_pack("{s:f, s:o, s:o}", "offset", c->offset, "slopes", reals_json(c->slope, c->pieces),
                                      "knots", reals_json(c->knot, c->pieces - 1)))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static double real_or_nan(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static int parse_calibration(npi_calibration *c, const json_t *object)
{
    json_t *slopes = json_object_get(object, "slopes"), *knots = json_object_get(object, "knots");
    size_t pieces = json_array_size(slopes);
    if (pieces < 1 || pieces > NPI_CALIBRATION_MOST || !json_is_array(knots) || json_array_size(knots) != pieces - 1)
        return 0;
    *c = (npi_calibration){.pieces = (int)pieces, .offset = real_or_nan(json_object_get(object, "offset"))};
    for (size_t p = 0; p < pieces; p++)
        c->slope[p] = real_or_nan(json_array_get(slopes, p));
    for (size_t p = 0; p + 1 < pieces; p++)
        c->knot[p] = real_or_nan(json_array_get(knots, p));
    return npi_calibration_is_sound(c);
}

int npi_scorer_parse(npi_scorer *scorer, const json_t *object)
{
    npi_scorer read = {.calibration = scorer->calibration};
    const json_t *weights = json_object_get(object, "weights"), *calibration = json_object_get(object, "calibration");
    read.weights.shift = real_or_nan(json_object_get(weights, "intercept"));
    read.weights.own = real_or_nan(json_object_get(weights, "embeddings"));
    int sound = isfinite(read.weights.shift) && isfinite(read.weights.own) && read.weights.own >= 0;
    for (int c = 0; c < NPI_EVIDENCE_COLUMNS; c++) {
        read.weights.column[c] = real_or_nan(json_object_get(weights, npi_evidence_name(c)));
        sound = sound && isfinite(read.weights.column[c]) && read.weights.column[c] >= 0;
    }
    read.calibrated = calibration != NULL;
    if (!sound || (calibration && !parse_calibration(&read.calibration, calibration)))
        return 0;
    *scorer = read;
    return 1;
}

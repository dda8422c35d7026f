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

json_t *npi_model_scorer_json(const npi_model_scorer *scorer)
{
    const npi_calibration *c = &scorer->calibration;
    json_t *object = json_object();
    if (object && scorer->calibrated &&
        json_object_set_new(object, "calibration",
                            json_pack("{s:f, s:o, s:o, s:f}", "offset", c->offset, "slopes",
                                      reals_json(c->slope, c->pieces), "knots", reals_json(c->knot, c->pieces - 1),
                                      "most-hidden", c->most_hidden))) {
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
    *c = (npi_calibration){.pieces = (int)pieces,
                           .offset = real_or_nan(json_object_get(object, "offset")),
                           .most_hidden = real_or_nan(json_object_get(object, "most-hidden"))};
    for (size_t p = 0; p < pieces; p++)
        c->slope[p] = real_or_nan(json_array_get(slopes, p));
    for (size_t p = 0; p + 1 < pieces; p++)
        c->knot[p] = real_or_nan(json_array_get(knots, p));
    return npi_calibration_is_sound(c);
}

int npi_model_scorer_parse(npi_model_scorer *scorer, const json_t *object)
{
    npi_model_scorer read = {.calibration = scorer->calibration};
    const json_t *calibration = json_object_get(object, "calibration");
    read.calibrated = calibration != NULL;
    if (!json_is_object(object) || (calibration && !parse_calibration(&read.calibration, calibration)))
        return 0;
    *scorer = read;
    return 1;
}

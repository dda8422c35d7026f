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

static json_t *calibration_json(const npi_calibration *c)
{
    return json_pack("{s:f, s:o, s:o, s:f}", "offset", c->offset, "slopes", reals_json(c->slope, c->pieces), "knots",
                     reals_json(c->knot, c->pieces - 1), "most-hidden", c->most_hidden);
}

json_t *npi_model_scorer_json(const npi_model_scorer *scorer)
{
    json_t *object = json_object(), *samples = json_array();
    int failed = !object || !samples;
    if (!failed && scorer->calibrated)
        failed = json_object_set_new(object, "calibration", calibration_json(&scorer->calibration));
    for (int i = 0; !failed && i < scorer->resampled; i++)
        failed = json_array_append_new(samples, calibration_json(&scorer->sample[i]));
    if (!failed && scorer->resampled > 0)
        failed = json_object_set(object, "samples", samples);
    json_decref(samples);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
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
    const json_t *calibration = json_object_get(object, "calibration"), *samples = json_object_get(object, "samples");
    size_t count = json_array_size(samples);
    read.calibrated = calibration != NULL;
    if (!json_is_object(object) || (calibration && !parse_calibration(&read.calibration, calibration)))
        return 0;
    if (samples && (!calibration || count != NPI_RESAMPLED))
        return 0;
    read.resampled = (int)count;
    for (size_t i = 0; i < count; i++)
        if (!parse_calibration(&read.sample[i], json_array_get(samples, i)))
            return 0;
    *scorer = read;
    return 1;
}

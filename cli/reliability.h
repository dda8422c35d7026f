/* The calibration of probabilities, as a table and as JSON. */
#ifndef CLI_RELIABILITY_H
#define CLI_RELIABILITY_H

#include <jansson.h>
#include <npgnn/npgnn.h>
#include <stdio.h>

/* Prints calibration errors, the table of a reliability diagram, and the precision among the most probable pairs. */
void reliability_print(FILE *out, const npgnn_calibration *calibration);

/* The same as JSON; null where the method has no probabilities. */
json_t *reliability_json(const npgnn_calibration *calibration);

#endif

/* Whether probabilities are true, for people and for programs. */
#ifndef CLI_RELIABILITY_H
#define CLI_RELIABILITY_H

#include <jansson.h>
#include <npgnn/npgnn.h>
#include <stdio.h>

/* The figures, the table behind a reliability diagram, and the precision in the top K. */
void reliability_print(FILE *out, const npgnn_calibration *calibration);

/* The same as JSON; null where there are no probabilities. */
json_t *reliability_json(const npgnn_calibration *calibration);

#endif

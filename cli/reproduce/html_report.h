/* The HTML report of `npgnn reproduce`: one self-contained file. It is html_report.html with the results inserted as
 * JSON, which the script in the file turns into tables and charts. */
#ifndef CLI_HTML_REPORT_H
#define CLI_HTML_REPORT_H

#include "plan.h"

/* Adds a plot of the embeddings of each data set that has a model to `results`, writes the report, completely or not at
 * all, and frees `results`. Returns 0 or EXIT_FAILED. */
int html_report_write(json_t *results, const cli_plan *plan, const char *path, const npgnn_env *env);

#endif

/* The page of `npgnn reproduce`: one HTML file that needs nothing else. The page itself is page.html; what is written here is the
 * data that its script draws. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "plan.h"

/* Takes over `results`, adds a picture of the embeddings of each data set that has a model, and writes the page, whole or not
 * at all. Returns 0 or EXIT_FAILED. */
int page_write(json_t *results, const cli_plan *plan, const char *path, const npgnn_env *env);

#endif

/* Options of a network with all that can be added to the paper's: for tests of what every part keeps, saves and
 * resumes. */
#ifndef NPI_TESTS_NETWORK_H
#define NPI_TESTS_NETWORK_H

#include "npgnn/npgnn.h"

static inline npgnn_options rich_network(void)
{
    npgnn_options o = {.size = sizeof o};
    npgnn_options_preset(&o, NULL, NULL);
    o.input_dropout = 0.5;
    o.loss = NPGNN_LOSS_SAMPLED;
    o.learning_rate = 0.005;
    o.keep_best = 1;
    o.patience = 20;
    return o;
}

#endif

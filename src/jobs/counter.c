/* An environment for one run of several: its progress is forwarded with the number of the run. */
#include "jobs/counter.h"

static int count_progress(void *user, const npgnn_progress *progress)
{
    const npi_counter *c = user;
    npgnn_progress seen = *progress;
    seen.run = c->run;
    seen.runs = c->runs;
    return c->env.progress(c->env.user, &seen);
}

static void pass_log(void *user, const char *message)
{
    const npi_counter *c = user;
    c->env.log(c->env.user, message);
}

npgnn_env npi_counter_env(npi_counter *c)
{
    npgnn_env env = c->env;
    env.user = c;
    env.progress = env.progress ? count_progress : NULL;
    env.log = env.log ? pass_log : NULL;
    return env;
}

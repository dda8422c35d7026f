/* Times the steps of an iteration. */
#include "base/profile.h"

#include "base/env.h"

const char *npgnn_step_name(npgnn_step step)
{
    static const char *const names[NPGNN_STEPS] = {
#define NPGNN_X(name, text) [NPGNN_STEP_##name] = text,
        NPGNN_STEP_LIST(NPGNN_X)
#undef NPGNN_X
    };
    return step < NPGNN_STEPS ? names[step] : "unknown step";
}

void npi_profile_start(npi_profile *profile)
{
    profile->lap = npi_clock_seconds();
}

void npi_profile_end(npi_profile *profile, npgnn_step step)
{
    if (!profile)
        return;
    double now = npi_clock_seconds();
    profile->seconds[step] += now - profile->lap;
    profile->lap = now;
}

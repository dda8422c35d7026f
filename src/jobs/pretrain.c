/* npgnn_pretrain: learns a process across graphs. Each graph becomes tasks, context links and targets (examples/tasks.h),
 * on which npi_pretrain trains. */
#include "base/comm.h"
#include "base/hash.h"
#include "base/sized.h"
#include "graph/graph.h"
#include "model/model.h"
#include "store/pretrainfile.h"

/* Checkpoints of one training. */
typedef struct checkpoints {
    const char *save, *resume; /* paths */
    npi_pretrain_identity identity;
    const npgnn_env *env;
} checkpoints;

static int restore(void *user, npi_pretrain_state *state, npgnn_error *err)
{
    const checkpoints *c = user;
    int code = npi_pretrain_read(state, &c->identity, c->resume, c->env, err);
    if (!code)
        npi_log(c->env, "resuming after step %d of %d", state->step, c->identity.steps);
    return code;
}

static int save(void *user, const npi_pretrain_state *state, npgnn_error *err)
{
    const checkpoints *c = user;
    return npi_pretrain_write(state, &c->identity, c->save, err);
}

/* Whether all processes have been given the same. */
static int check_same(const npi_pretrain_identity *identity, const npgnn_env *env, npgnn_error *err)
{
    uint64_t hash = npi_hash_bytes(NPI_HASH_START, &identity->seed, sizeof identity->seed);
    hash = npi_hash_bytes(hash, &identity->steps, sizeof identity->steps);
    int code = npi_comm_same(env->comm, identity->corpus, "the corpus", err);
    return code ? code : npi_comm_same(env->comm, hash, "the list of options", err);
}

int npgnn_pretrain(npgnn_model **out, const npgnn_graph *const *graphs, const int *family, size_t count,
                   const npgnn_pretrain_options *options, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_pretrain_options o = {0};
    npi_pretrain_options how = npi_pretrain_defaults();
    resolved.comm = npi_comm_ranks(resolved.comm) > 1 ? resolved.comm : NULL;
    npgnn_env alone = resolved;
    alone.comm = NULL;
    npi_tasks tasks = {.env = alone, .comm = resolved.comm};
    npi_process process = {0};
    int code = npi_sized_read(&o, sizeof o, options, "npgnn_pretrain_options", err);
    if (code)
        return code;
    if (o.steps > 0)
        how.steps = o.steps;
    if (o.seed > 0)
        how.seed = o.seed;
    if (o.steps < 0 || o.checkpoint_every < 0)
        return npi_fail(err, NPGNN_E_ARGUMENT, "steps and checkpoint_every must be at least 0, got %d and %d", o.steps,
                        o.checkpoint_every);
    checkpoints c = {o.checkpoint, o.resume, {how.steps, how.seed, NPI_HASH_START}, &resolved};
    for (size_t g = 0; g < count && (o.checkpoint || o.resume || resolved.comm); g++) {
        const uint64_t what[2] = {npi_graph_fingerprint(graphs[g]), (uint64_t)family[g]};
        c.identity.corpus = npi_hash_bytes(c.identity.corpus, what, sizeof what);
    }
    const int saves = o.checkpoint && npi_comm_rank(resolved.comm) == 0; /* of several processes the first one writes */
    const npi_pretrain_hooks hooks = {o.resume ? restore : NULL, saves ? save : NULL, &c,
                                      o.checkpoint_every > 0 ? o.checkpoint_every : 100};
    if (resolved.comm)
        code = check_same(&c.identity, &resolved, err);
    if (!code && o.resume) /* now, not after the minutes that the tasks take */
        code = npi_comm_agree(resolved.comm, npi_pretrain_read(NULL, &c.identity, o.resume, &resolved, err), err);
    if (code)
        return code;
    for (size_t g = 0; !code && g < count; g++) {
        if (family[g] < 0 || family[g] > (int)count)
            code =
                npi_fail(err, NPGNN_E_ARGUMENT, "graph %zu has family %d: families are 0 to %zu", g, family[g], count);
        tasks.groups = !code && family[g] >= tasks.groups ? family[g] + 1 : tasks.groups;
        if (!code)
            code = npi_tasks_add(&tasks, graphs[g], family[g], how.seed + g, err);
        if (!code && npi_env_stopped(&resolved))
            code = npi_fail(err, NPGNN_E_CANCELLED, "cancelled after %zu of %zu graphs", g + 1, count);
    }
    code = npi_tasks_share(&tasks, code, err);
    for (size_t g = 0, t = 0; !code && g < count; g++) {
        size_t before = t;
        while (t < tasks.count && (size_t)tasks.items[t].graph == g)
            t++;
        if (t == before)
            npi_log(&resolved, "graph %zu has too few links to learn from", g);
    }
    if (!code)
        code = npi_pretrain(&process, &tasks, &how, &hooks, &resolved, err);
    if (!code)
        code = npi_comm_agree(resolved.comm, npi_model_from_process(out, &process, &alone, err), err);
    if (!code)
        (*out)->info.iterations = how.steps;
    npi_process_free(&resolved, &process);
    npi_tasks_free(&tasks);
    return code;
}

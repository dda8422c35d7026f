/* The communicator: loads the transport (a module of its own, so that MPI is loaded only where it is used) or takes
 * that between threads, and builds ring pass, gather, broadcast, chain and agreement on its one call, exchange. */
#define _GNU_SOURCE /* dladdr */
#include "base/comm.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"

struct npgnn_comm {
    npgnn_env env;
    void *module;
    const npi_transport *transport;
    void *state; /* of the transport */
    int rank, ranks, local;
    uint64_t sent, received; /* bytes */
};

/* ---- opening ---- */

#define MODULE "npgnn-mpi.so"

/* Loads the module from the folder that this library lies in. */
static void *load_module(npgnn_error *err)
{
    char path[4096];
    Dl_info self;
    const char *(*here)(void) = npgnn_version;
    void *address;
    memcpy(&address, &here, sizeof address);
    const char *file = dladdr(address, &self) && self.dli_fname ? self.dli_fname : "", *slash = strrchr(file, '/');
    int length = snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - file + 1) : 0, file, MODULE);
    /* RTLD_GLOBAL: Open MPI loads components of its own, which look for its symbols */
    void *module = length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (!module)
        npi_fail(err, NPGNN_E_IO, "cannot work in several processes: %s; build npgnn with MPI (Debian: libopenmpi-dev)",
                 length < (int)sizeof path ? dlerror() : "the path of the library is too long");
    return module;
}

int npgnn_comm_open(npgnn_comm **out, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npgnn_comm *comm = npi_alloc(&resolved, 1, sizeof *comm, err);
    if (!comm)
        return NPGNN_E_MEMORY;
    comm->env = resolved;
    comm->module = load_module(err);
    if (!comm->module) {
        npi_free(&resolved, comm);
        return NPGNN_E_IO;
    }
    const char *why = "the module has no transport";
    comm->transport = dlsym(comm->module, NPI_TRANSPORT);
    if (comm->transport)
        why = comm->transport->begin(&comm->rank, &comm->ranks, &comm->local);
    if (why) { /* the module stays loaded: MPI does not survive being unloaded */
        npi_free(&resolved, comm);
        return npi_fail(err, NPGNN_E_IO, "cannot work in several processes: %s", why);
    }
    *out = comm;
    return 0;
}

int npgnn_comm_simulate(npgnn_comm **out, int ranks, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    if (ranks < 1 || ranks > NPI_MOST_RANKS)
        return npi_fail(err, NPGNN_E_ARGUMENT, "the number of processes must be from 1 to %d, got %d", NPI_MOST_RANKS,
                        ranks);
    npgnn_env resolved = npi_env_resolve(env);
    void **states = npi_alloc(&resolved, (size_t)ranks, sizeof *states, err);
    npgnn_comm **comms = npi_alloc(&resolved, (size_t)ranks, sizeof *comms, err);
    int code = states && comms ? 0 : NPGNN_E_MEMORY;
    for (int r = 0; !code && r < ranks; r++)
        if (!(comms[r] = npi_alloc(&resolved, 1, sizeof **comms, err)))
            code = NPGNN_E_MEMORY;
    if (!code)
        code = npi_threads_new(states, ranks, &resolved, err);
    for (int r = 0; comms && r < ranks; r++) {
        if (code) {
            npi_free(&resolved, comms[r]);
            continue;
        }
        *comms[r] = (npgnn_comm){.env = resolved, .transport = &npi_threads, .state = states[r]};
        comms[r]->rank = r;
        comms[r]->ranks = comms[r]->local = ranks;
        out[r] = comms[r];
    }
    npi_free(&resolved, states);
    npi_free(&resolved, comms);
    return code;
}

void npgnn_comm_free(npgnn_comm *comm)
{
    if (!comm)
        return;
    npgnn_env env = comm->env;
    comm->transport->end(comm->state);
    npi_free(&env, comm);
}

int npgnn_comm_describe(npgnn_comm_info *info, const npgnn_comm *comm, npgnn_error *err)
{
    npgnn_comm_info found = {.size = sizeof found, .ranks = 1, .local = 1};
    if (comm) {
        found.rank = comm->rank;
        found.ranks = comm->ranks;
        found.local = comm->local;
        found.sent = comm->sent;
        found.received = comm->received;
    }
    return npi_sized_write(info, &found, sizeof found, "npgnn_comm_info", err);
}

int npi_comm_rank(const npgnn_comm *comm)
{
    return comm ? comm->rank : 0;
}

int npi_comm_ranks(const npgnn_comm *comm)
{
    return comm ? comm->ranks : 1;
}

int npi_comm_local(const npgnn_comm *comm)
{
    return comm ? comm->local : 1;
}

/* ---- exchange ---- */

void npi_comm_exchange(npgnn_comm *comm, const npi_message *sends, int send_count, const npi_message *receives,
                       int receive_count)
{
    if (!comm)
        return;
    for (int i = 0; i < send_count; i++)
        comm->sent += sends[i].bytes;
    for (int i = 0; i < receive_count; i++)
        comm->received += receives[i].bytes;
    comm->transport->exchange(comm->state, sends, send_count, receives, receive_count);
}

/* A message with `bytes` bytes for or from `peer`. */
static npi_message message(const void *data, size_t bytes, int peer)
{
    npi_message m = {.bytes = bytes, .peer = peer};
    memcpy(&m.data, &data, sizeof data); /* sends and receives share the type; a send does not change the data */
    return m;
}

void npi_comm_pass(npgnn_comm *comm, void *from, size_t from_bytes, const void *to, size_t to_bytes)
{
    if (!comm)
        return;
    npi_message send = message(to, to_bytes, (comm->rank + comm->ranks - 1) % comm->ranks);
    npi_message receive = message(from, from_bytes, (comm->rank + 1) % comm->ranks);
    npi_comm_exchange(comm, &send, 1, &receive, 1);
}

void npi_comm_gather(npgnn_comm *comm, void *data, const size_t *start)
{
    char *bytes = data;
    /* in step s each process passes on the piece that it received in the step before */
    for (int step = 0; comm && step < comm->ranks - 1; step++) {
        int mine = (comm->rank + step) % comm->ranks, next = (mine + 1) % comm->ranks;
        npi_comm_pass(comm, bytes + start[next], start[next + 1] - start[next], bytes + start[mine],
                      start[mine + 1] - start[mine]);
    }
}

int64_t npi_comm_share_start(const npgnn_comm *comm, int64_t count, int rank)
{
    int ranks = npi_comm_ranks(comm);
    return count / ranks * rank + count % ranks * rank / ranks;
}

/* What needs one value per process has a function of its own: one process alone needs no stack for it. */
#define AMONG static __attribute__((noinline))

AMONG void gather_shares_among(npgnn_comm *comm, void *data, int64_t count, size_t item)
{
    size_t start[NPI_MOST_RANKS + 1];
    for (int r = 0; r <= comm->ranks; r++)
        start[r] = (size_t)npi_comm_share_start(comm, count, r) * item;
    npi_comm_gather(comm, data, start);
}

void npi_comm_gather_shares(npgnn_comm *comm, void *data, int64_t count, size_t item)
{
    if (comm)
        gather_shares_among(comm, data, count, item);
}

/* A binomial tree: in each step, those who have the data send it to as many others. */
void npi_comm_broadcast(npgnn_comm *comm, void *data, size_t bytes, int root)
{
    int place = comm ? (comm->rank - root + comm->ranks) % comm->ranks : 0;
    for (int have = 1; comm && have < comm->ranks; have *= 2) {
        npi_message send = message(data, bytes, (comm->rank + have) % (comm->ranks)),
                    receive = message(data, bytes, (comm->rank - have + comm->ranks) % comm->ranks);
        if (place < have && place + have < comm->ranks)
            npi_comm_exchange(comm, &send, 1, NULL, 0);
        else if (place >= have && place < 2 * have)
            npi_comm_exchange(comm, NULL, 0, &receive, 1);
    }
}

/* ---- sums in a fixed order ---- */

void npi_comm_chain(npgnn_comm *comm, void *sum, int64_t count, size_t item, int64_t chunk, npi_chain_fn *add,
                    void *arg)
{
    if (!comm) {
        add(arg, 0, count);
        return;
    }
    for (int64_t first = 0; first < count; first += chunk) {
        int64_t last = count - first < chunk ? count : first + chunk;
        char *at = (char *)sum + (size_t)first * item;
        size_t bytes = (size_t)(last - first) * item;
        npi_message receive = message(at, bytes, comm->rank - 1), send = message(at, bytes, comm->rank + 1);
        if (comm->rank > 0)
            npi_comm_exchange(comm, NULL, 0, &receive, 1);
        add(arg, first, last);
        if (comm->rank < comm->ranks - 1)
            npi_comm_exchange(comm, &send, 1, NULL, 0);
    }
    npi_comm_broadcast(comm, sum, (size_t)count * item, comm->ranks - 1);
}

/* ---- agreement ---- */

/* value[r] becomes that of process r. */
static void gather_values(npgnn_comm *comm, uint64_t value[NPI_MOST_RANKS])
{
    size_t start[NPI_MOST_RANKS + 1];
    for (int r = 0; r <= comm->ranks; r++)
        start[r] = (size_t)r * sizeof *value;
    npi_comm_gather(comm, value, start);
}

AMONG int any_among(npgnn_comm *comm, int flag)
{
    uint64_t value[NPI_MOST_RANKS], any = 0;
    value[comm->rank] = flag != 0;
    gather_values(comm, value);
    for (int r = 0; r < comm->ranks; r++)
        any |= value[r];
    return any != 0;
}

int npi_comm_any(npgnn_comm *comm, int flag)
{
    return comm ? any_among(comm, flag) : flag;
}

AMONG int agree_among(npgnn_comm *comm, int code, npgnn_error *err)
{
    uint64_t value[NPI_MOST_RANKS];
    char text[sizeof err->text] = "";
    int first = 0;
    value[comm->rank] = (uint64_t)(int64_t)code;
    gather_values(comm, value);
    while (first < comm->ranks && value[first] == 0)
        first++;
    if (first == comm->ranks)
        return 0;
    if (first == comm->rank && err && err->text[0] && code)
        memcpy(text, err->text, sizeof text);
    else if (first == comm->rank)
        snprintf(text, sizeof text, "%s", npgnn_code_text(code));
    npi_comm_broadcast(comm, text, sizeof text, first);
    if (strncmp(text, "process ", strlen("process ")) == 0) /* they have agreed on this before */
        return npi_fail(err, (int)(int64_t)value[first], "%s", text);
    return npi_fail(err, (int)(int64_t)value[first], "process %d of %d: %s", first, comm->ranks, text);
}

int npi_comm_agree(npgnn_comm *comm, int code, npgnn_error *err)
{
    return comm ? agree_among(comm, code, err) : code;
}

int npgnn_comm_agree(npgnn_comm *comm, int code, npgnn_error *err)
{
    return npi_comm_agree(comm, code, err);
}

AMONG int same_among(npgnn_comm *comm, uint64_t value, const char *what, npgnn_error *err)
{
    uint64_t all[NPI_MOST_RANKS];
    all[comm->rank] = value;
    gather_values(comm, all);
    for (int r = 1; r < comm->ranks; r++)
        if (all[r] != all[0])
            return npi_fail(err, NPGNN_E_MISMATCH,
                            "%s of process %d is not that of process 0 (hash %016" PRIx64 " instead of %016" PRIx64
                            "): give all processes the same files and options",
                            what, r, all[r], all[0]);
    return 0;
}

int npi_comm_same(npgnn_comm *comm, uint64_t value, const char *what, npgnn_error *err)
{
    return comm ? same_among(comm, value, what, err) : 0;
}

int npgnn_comm_same(npgnn_comm *comm, uint64_t value, const char *what, npgnn_error *err)
{
    return npi_comm_same(comm, value, what, err);
}

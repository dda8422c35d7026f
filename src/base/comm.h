/* Several processes that work on one job: who they are, and how they exchange, add and agree.
 *
 * NULL stands for one process alone: every call then does nothing, or runs the caller's own function, and costs
 * nothing. With several processes every call but the first three is collective: all processes make the same calls in
 * the same order. A transport that breaks ends the job; so the calls themselves do not fail. */
#ifndef NPI_BASE_COMM_H
#define NPI_BASE_COMM_H

#include "base/env.h"

/* ---- the transport: what base/comm_mpi.c provides, and nothing else is known of MPI; or base/comm_threads.c ---- */

typedef struct npi_message {
    void *data; /* a send does not change it */
    size_t bytes;
    int peer;
} npi_message;

typedef struct npi_transport {
    /* Joins the other processes: this process's rank among `ranks`, `local` of which are on this machine. Returns NULL,
     * or why it cannot. */
    const char *(*begin)(int *rank, int *ranks, int *local);
    /* All sends and receives at once. Messages between two processes arrive in the order of these lists. */
    void (*exchange)(void *state, const npi_message *sends, int send_count, const npi_message *receives,
                     int receive_count);
    void (*end)(void *state);
} npi_transport;

enum { NPI_MOST_RANKS = 4096 };
#define NPI_TRANSPORT "npi_mpi" /* the symbol of the table in the module */

/* Threads of this process in place of processes: states (ranks) for npi_threads, whose begin is NULL. Freed by the last
 * `end`. */
extern const npi_transport npi_threads;
int npi_threads_new(void **states, int ranks, const npgnn_env *env, npgnn_error *err);

/* ---- this process and the others ---- */

int npi_comm_rank(const npgnn_comm *comm);
int npi_comm_ranks(const npgnn_comm *comm);
int npi_comm_local(const npgnn_comm *comm); /* how many of them are on this machine */

/* ---- exchange ---- */

/* Sends and receives as given, each at most once per peer. Counts the bytes. */
void npi_comm_exchange(npgnn_comm *comm, const npi_message *sends, int send_count, const npi_message *receives,
                       int receive_count);

/* Ring pass: sends `to` to the process before this one, and receives `from` from the process after it. */
void npi_comm_pass(npgnn_comm *comm, void *from, size_t from_bytes, const void *to, size_t to_bytes);

/* Gather: data has one piece per process, that of process r at start[r] .. start[r + 1] (bytes). Each process has its
 * own piece before the call and all pieces after it. */
void npi_comm_gather(npgnn_comm *comm, void *data, const size_t *start);

/* An even division of `count` items: the first one of a process; `count` for the process after the last. */
int64_t npi_comm_share_start(const npgnn_comm *comm, int64_t count, int rank);

/* The gather of items that are divided that way: data has `count` items of `item` bytes. */
void npi_comm_gather_shares(npgnn_comm *comm, void *data, int64_t count, size_t item);

/* What process `root` has in data becomes what all have. */
void npi_comm_broadcast(npgnn_comm *comm, void *data, size_t bytes, int root);

/* ---- sums in a fixed order ---- */

/* Adds this process's terms to the items [first, last) of the sum. */
typedef void npi_chain_fn(void *arg, int64_t first, int64_t last);

/* Process 0 adds its terms to what `sum` holds, process 1 adds its own to the result, and so on; afterwards all
 * processes have the sum. `sum` has `count` items of `item` bytes; `chunk` items travel at a time, so that all
 * processes work at the same time on different items. The order of additions is that of one process that adds the terms
 * of all, in the order of the processes. */
void npi_comm_chain(npgnn_comm *comm, void *sum, int64_t count, size_t item, int64_t chunk, npi_chain_fn *add,
                    void *arg);

/* ---- agreement ---- */

/* Whether `flag` is set in any process. */
int npi_comm_any(npgnn_comm *comm, int flag);

/* The code of the first process that has one, or 0. Its message becomes that of all, with the number of the process. */
int npi_comm_agree(npgnn_comm *comm, int code, npgnn_error *err);

/* E_MISMATCH unless all processes have the same value; `what` is the subject of the message: "the graph". */
int npi_comm_same(npgnn_comm *comm, uint64_t value, const char *what, npgnn_error *err);

#endif

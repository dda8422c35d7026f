/* The transport between processes over MPI: the only file that calls it. It is a module of its own, npgnn-mpi.so, which
 * base/comm.c loads. An error of MPI ends the job (MPI_ERRORS_ARE_FATAL), as does a process that dies: mpirun then says
 * which one it was. */
#include <mpi.h>
#include <stdlib.h>

#include "base/comm.h"

#define MOST_BYTES ((size_t)1 << 30) /* per MPI message: its counts are ints */
#define FEW_REQUESTS 256

static int ours; /* 1: this module initialised MPI, and ends it */

static const char *begin(int *rank, int *ranks, int *local)
{
    int initialized = 0, finalized = 0, level = 0;
    MPI_Comm machine;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (finalized)
        return "MPI was ended before, and cannot be started twice in one process";
    if (!initialized && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return "MPI cannot be started";
    ours = !initialized;
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, ranks);
    if (*ranks > NPI_MOST_RANKS)
        return "there are more than 4096 processes";
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, local);
    MPI_Comm_free(&machine);
    return NULL;
}

/* Receives are posted before anything is waited for, so that no order of messages among processes can block. */
static void exchange(void *state, const npi_message *sends, int send_count, const npi_message *receives,
                     int receive_count)
{
    (void)state; /* MPI has one of its own */
    int count = 0, most = 0;
    for (int i = 0; i < receive_count; i++)
        most += (int)(receives[i].bytes / MOST_BYTES + 1);
    for (int i = 0; i < send_count; i++)
        most += (int)(sends[i].bytes / MOST_BYTES + 1);
    MPI_Request few[FEW_REQUESTS], *requests = most <= FEW_REQUESTS ? few : malloc((size_t)most * sizeof *requests);
    if (!requests)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < receive_count; i++)
        for (size_t at = 0; at < receives[i].bytes; at += MOST_BYTES) {
            size_t bytes = receives[i].bytes - at < MOST_BYTES ? receives[i].bytes - at : MOST_BYTES;
            MPI_Irecv((char *)receives[i].data + at, (int)bytes, MPI_BYTE, receives[i].peer, 0, MPI_COMM_WORLD,
                      &requests[count++]);
        }
    for (int i = 0; i < send_count; i++)
        for (size_t at = 0; at < sends[i].bytes; at += MOST_BYTES) {
            size_t bytes = sends[i].bytes - at < MOST_BYTES ? sends[i].bytes - at : MOST_BYTES;
            MPI_Isend((const char *)sends[i].data + at, (int)bytes, MPI_BYTE, sends[i].peer, 0, MPI_COMM_WORLD,
                      &requests[count++]);
        }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    if (requests != few)
        free(requests);
}

static void end(void *state)
{
    (void)state;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (ours && !finalized)
        MPI_Finalize();
}

__attribute__((visibility("default"))) extern const npi_transport npi_mpi;
const npi_transport npi_mpi = {begin, exchange, end};

/* The processes that mpirun has started: who they are, and one answer from all of them. */
#include "comm.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"

enum { LARGE = 4 << 20 }; /* bytes of an array that the system gives, and gets back when it is freed */

/* Open MPI's variable, or that of MPICH and its relatives. */
static int variable(const char *open_mpi, const char *mpich, int otherwise)
{
    const char *text = getenv(open_mpi);
    if (!text)
        text = getenv(mpich);
    char *end;
    long value = text ? strtol(text, &end, 10) : otherwise;
    return text && (end == text || *end || value < 0 || value > 1 << 20) ? otherwise : (int)value;
}

int comm_rank(void)
{
    return variable("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0);
}

int comm_ranks(void)
{
    return variable("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1);
}

int comm_open(npgnn_comm **comm, common_settings *common)
{
    npgnn_error err = {0};
    npgnn_env env = common_env(common);
    npgnn_comm_info info = {.size = sizeof info};
    if (comm_ranks() == 1)
        return 0;
    /* The vectors of a process, tens of megabytes each, come and go. By itself malloc would take them from one heap
     * after a while, whose gaps nobody can use. */
    mallopt(M_MMAP_THRESHOLD, LARGE);
    if (npgnn_comm_open(comm, &env, &err) != 0)
        return print_error("%s", err.text);
    npgnn_comm_describe(&info, *comm, NULL);
    common->quiet |= info.rank > 0;
    if (common->threads == 0) {
        int share = common_threads(common) / info.local;
        common->threads = share < 1 ? 1 : share;
    }
    return 0;
}

int comm_settle(npgnn_comm *comm, int status)
{
    npgnn_error err = {0};
    if (!comm)
        return status;
    if (status != 0)
        snprintf(err.text, sizeof err.text, "%s", message_last());
    if (npgnn_comm_agree(comm, status ? NPGNN_E_IO : 0, &err) == 0)
        return 0;
    return status ? status : print_error("%s", err.text);
}

void comm_report(json_t *report, const npgnn_comm *comm)
{
    npgnn_comm_info info = {.size = sizeof info};
    if (!comm)
        return;
    npgnn_comm_describe(&info, comm, NULL);
    json_object_set_new(report, "processes", json_integer(info.ranks));
    json_object_set_new(report, "bytes_sent", json_integer((json_int_t)info.sent));
    json_object_set_new(report, "bytes_received", json_integer((json_int_t)info.received));
}

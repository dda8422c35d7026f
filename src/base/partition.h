/* How the nodes of a graph are divided: into blocks, into parts, and among processes.
 *
 * A sum over nodes has one partial sum per part, and the partial sums are added in order. Products of many rows are
 * divided into blocks. Both depend on the number of nodes alone, and a process has whole parts of whole blocks: so the
 * result has the same bits for any number of threads and of processes. */
#ifndef NPI_BASE_PARTITION_H
#define NPI_BASE_PARTITION_H

#include "base/comm.h"

enum {
    NPI_BLOCK = 128,      /* nodes of a block; the last one may have fewer */
    NPI_MOST_PARTS = 64,  /* of a partition */
    NPI_TALL_BLOCK = 512, /* the same for npi_partition_tall */
    NPI_MOST_TALL_PARTS = 32
};

typedef struct npi_partition {
    npgnn_comm *comm;       /* NULL: one process */
    int32_t n;              /* nodes */
    int32_t block;          /* nodes of a block */
    int32_t blocks, parts;  /* how many; parts are as even as whole blocks allow */
    int32_t part, part_end; /* the parts of this process, */
    int32_t from, to;       /* and its nodes */
} npi_partition;

/* All nodes in this process. */
npi_partition npi_partition_whole(int32_t n);

/* Among the processes of comm. E_ARGUMENT where there are more of them than parts. */
int npi_partition_among(npi_partition *out, int32_t n, npgnn_comm *comm, npgnn_error *err);

/* The division of the evidence (evidence/), whose products of tall matrices have larger blocks and fewer parts. Among
 * any number of processes: where there are more of them than parts, some have no nodes. comm NULL: all in this one. */
npi_partition npi_partition_tall(int32_t n, npgnn_comm *comm);

/* The first node of a part; n for the part after the last. */
int32_t npi_part_start(const npi_partition *p, int32_t part);

/* The first node of a process; n for the one after the last. */
int32_t npi_rank_start(const npi_partition *p, int rank);

#endif

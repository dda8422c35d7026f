/* Training: blocks of the size that the tiles of the all-pairs loss have (model/pairs.c), and up to NPI_MOST_PARTS
 * parts of them. Evidence: blocks of the rows that one call to BLAS takes (linalg/dense.c). */
#include "base/partition.h"

int32_t npi_part_start(const npi_partition *p, int32_t part)
{
    int64_t start = (int64_t)part * p->blocks / p->parts * p->block;
    return start < p->n ? (int32_t)start : p->n;
}

static int32_t rank_part(const npi_partition *p, int rank)
{
    return p->parts * rank / npi_comm_ranks(p->comm);
}

int32_t npi_rank_start(const npi_partition *p, int rank)
{
    return npi_part_start(p, rank_part(p, rank));
}

static npi_partition divide(int32_t n, int32_t block, int32_t most_parts, npgnn_comm *comm)
{
    int rank = npi_comm_rank(comm);
    npi_partition p = {.comm = comm, .n = n, .block = block};
    p.blocks = n > 0 ? (n - 1) / block + 1 : 1;
    p.parts = p.blocks < most_parts ? p.blocks : most_parts;
    p.part = rank_part(&p, rank);
    p.part_end = rank_part(&p, rank + 1);
    p.from = npi_part_start(&p, p.part);
    p.to = npi_part_start(&p, p.part_end);
    return p;
}

npi_partition npi_partition_whole(int32_t n)
{
    return divide(n, NPI_BLOCK, NPI_MOST_PARTS, NULL);
}

npi_partition npi_partition_tall(int32_t n, npgnn_comm *comm)
{
    return divide(n, NPI_TALL_BLOCK, NPI_MOST_TALL_PARTS, comm);
}

int npi_partition_among(npi_partition *out, int32_t n, npgnn_comm *comm, npgnn_error *err)
{
    npi_partition p = divide(n, NPI_BLOCK, NPI_MOST_PARTS, comm);
    if (npi_comm_ranks(comm) > p.parts)
        return npi_fail(err, NPGNN_E_ARGUMENT,
                        "a graph of %d nodes can be divided among at most %d processes, and there are %d: start fewer",
                        n, p.parts, npi_comm_ranks(comm));
    *out = p;
    return 0;
}

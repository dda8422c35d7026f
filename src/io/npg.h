/* Graph files (.npg): a graph as its arrays lie in memory, to be mapped. Little-endian.
 *
 *   header        384 bytes (npi_npg_header): magic, version, counts, where each section is
 *   sections      each at a multiple of 64 bytes, in the order of npi_npg_section; zeros between them and up to the next such
 *                 multiple at the end
 *   checksums     CRC-32 (uint64) of each block of 1 MiB of all that is before them, the last block being shorter
 *   checksum      CRC-32 (uint64) of the checksums
 *
 * A file is refused unless all of it is as npgnn_graph_save writes it: every checksum is verified, and then every array, before a
 * graph is made of it. Where each section begins and ends follows from the counts, so that sections cannot overlap.
 * docs/use/formats.md describes the format for other programs. */
#ifndef NPI_IO_NPG_H
#define NPI_IO_NPG_H

#include <zlib.h>

#include "graph/graph.h"
#include "io/locate.h"

#define NPI_NPG_MAGIC "\x89NPG\r\n\x1A\n" /* 8 bytes: what a transfer as text changes is in it */
#define NPI_NPG_VERSION 1
#define NPI_NPG_BLOCK ((size_t)1 << 20)
#define NPI_NPG_ALIGN ((size_t)64)

typedef enum {
    NPI_NPG_LINK_OFFSETS, /* int64 (nodes + 1): the neighbours of node i are entries [i], [i + 1] - 1 of: */
    NPI_NPG_NEIGHBORS,    /* int32 (2 edges): both directions of every edge, ascending within a node */
    NPI_NPG_WEIGHTS,      /* float (2 edges) */
    NPI_NPG_TIMES,        /* double (2 edges) */
    NPI_NPG_LABELS,       /* int32 (nodes), -1: none */
    NPI_NPG_SIDES,        /* uint8 (nodes): 0 source, 1 target */
    NPI_NPG_ROW_OFFSETS,  /* int64 (nodes + 1) of sparse features */
    NPI_NPG_ROW_COLUMNS,  /* int32 (nonzeros) */
    NPI_NPG_ROW_VALUES,   /* float (nonzeros); absent: all are 1 */
    NPI_NPG_DENSE,        /* float (nodes, columns) */
    NPI_NPG_NODE_TEXT,    /* names of the nodes (npi_names_arrays) */
    NPI_NPG_NODE_STARTS,  /* uint64 (nodes) */
    NPI_NPG_NODE_SLOTS,   /* npi_names_slot (npi_names_slots) */
    NPI_NPG_COLUMN_TEXT,  /* names of the feature columns */
    NPI_NPG_COLUMN_STARTS,
    NPI_NPG_COLUMN_SLOTS,
    NPI_NPG_ENCODING, /* JSON, terminated */
    NPI_NPG_SECTIONS
} npi_npg_section;

typedef struct npi_npg_header {
    unsigned char magic[8];
    uint32_t version, block_size;
    uint64_t content; /* bytes before the checksums */
    int64_t nodes, edges, columns, classes;
    int64_t input_edges, duplicates, reverse, self_loops; /* as in npgnn_graph */
    uint64_t fingerprint;
    uint64_t node_key, column_key; /* of the names */
    struct {
        uint64_t offset, length; /* in bytes; offset 0: the section is absent */
    } section[NPI_NPG_SECTIONS];
} npi_npg_header;

_Static_assert(sizeof(npi_npg_header) == 384 && sizeof(npi_npg_header) % NPI_NPG_ALIGN == 0,
               "the header of a graph file has a fixed size");

/* Of a block, and of the checksums themselves. */
static inline uint64_t npi_npg_checksum(const void *bytes, size_t size)
{
    return crc32_z(0, bytes, size);
}

/* The next offset at which a section may begin. */
static inline uint64_t npi_npg_align(uint64_t offset)
{
    return (offset + NPI_NPG_ALIGN - 1) / NPI_NPG_ALIGN * NPI_NPG_ALIGN;
}

/* The blocks of that many bytes. */
static inline uint64_t npi_npg_blocks(uint64_t content)
{
    return (content + NPI_NPG_BLOCK - 1) / NPI_NPG_BLOCK;
}

/* Whether a path is that of a graph file, by its ending; or by that or by the first bytes of the file. */
int npi_npg_is_name(const char *path);
int npi_npg_detect(const char *path);

/* Writes a graph file, completely or not at all. */
int npi_npg_save(const npgnn_graph *graph, const char *path, npgnn_error *err);

/* Maps the graph file where->edges. `how` says whether weights are wanted; it must not choose columns. The features can
 * be changed after npi_features_own. E_FORMAT where anything in the file is damaged; E_ARGUMENT where the location has
 * other files too, and where `how` wants times or sides that the graph has not. */
int npi_npg_load(npgnn_graph **out, const npi_location *where, const npgnn_load_options *how, const npgnn_env *env,
                 npgnn_error *err);

/* The same of what is mapped already, with its weights and times. `name` stands for the file in messages. */
int npi_npg_read(npgnn_graph **out, npi_mapping *mapping, const char *name, const npgnn_env *env, npgnn_error *err);

#endif

/* The vicinity of a node u: walks of two and three steps from u, followed along a bounded number of links, so that a node
 * beside a hub costs what others cost. With P = D⁻¹ A,
 *
 *     two_x = P²_ux,    three_x = P³_ux / d_x,    shared_x = |N(u) ∩ N(x)|
 *
 * Where the links that a step would follow are more than the bound, every middle gives some of its links, evenly spaced, which
 * stand for all of them; and the third step leaves from the likeliest nodes of the second. */
#ifndef NPI_EVIDENCE_VICINITY_H
#define NPI_EVIDENCE_VICINITY_H

#include "linalg/sparse.h"

/* Links that a step follows, at most: with an eighth of these, a tenth of the best partners is missed in dense graphs
 * (docs/use/scale.md). */
enum { NPI_VICINITY_LINKS = 1 << 18 };

/* What walks say of one node; zeros where they do not lead. */
typedef struct npi_near_node {
    float two, three;
    int32_t shared;
    int32_t is_neighbor; /* 1: it has a link with u */
} npi_near_node;

/* Memory of one thread, for one u at a time. */
typedef struct npi_vicinity {
    const npi_csr *a;
    const double *inverse; /* (n) 1 / d, 0 without links: borrowed */
    int32_t node;          /* u; -1: none */
    int is_sampled;        /* 1: the second step did not follow all links, */
    int is_estimated;      /* 1: one of the two steps did not */
    npi_near_node *of;     /* (n) */
    int32_t *second;       /* (second_count) nodes with two > 0 */
    int32_t *third;        /* (third_count) nodes with three > 0 */
    int32_t second_count, third_count;
    int32_t *likeliest; /* (n) scratch: where the third step leaves from */
} npi_vicinity;

/* Memory for a graph of up to `capacity` nodes. `inverse` must outlive it. */
int npi_vicinity_new(npi_vicinity *out, const npi_csr *a, const double *inverse, int32_t capacity, const npgnn_env *env,
                     npgnn_error *err);
void npi_vicinity_free(const npgnn_env *env, npi_vicinity *vicinity);

/* Moves to node u: O(d_u + NPI_VICINITY_LINKS). */
void npi_vicinity_move(npi_vicinity *vicinity, int32_t node);

/* The walks between u and v: lift (NPI_WALK_LIFTS), see walks.h, and the number of common neighbours. Those of npi_walks_pair
 * up to rounding, where no step was sampled and v has few links; estimates otherwise. */
void npi_vicinity_walks(float *common, double *lift, const npi_vicinity *vicinity, int32_t v);

#endif

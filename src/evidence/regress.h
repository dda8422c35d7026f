/* Regressions on the features of the nodes with links, in closed form, G = Fᵀ F over them:
 *
 *     regions    B = (G + r I)⁻¹ Fᵀ Y                     Y unit rows of the regions;     prediction F B
 *     bilinear   K = n (G + r I)⁻¹ Fᵀ Ã F (G + r I)⁻¹     Ã = D^-½ A D^-½, K symmetric;   score F_i K F_j */
#ifndef NPI_EVIDENCE_REGRESS_H
#define NPI_EVIDENCE_REGRESS_H

#include "evidence/bank.h"

/* Fills to_region (k, d) with B and kernel (k, k) with K. inverse (n): 1 / d, 0 without links. Collective: all
 * processes return the same code. */
int npi_regress(real *to_region, real *kernel, const npi_bank *features, const npi_bank *region, const double *inverse,
                npi_spread *links, const npi_partition *rows, const npgnn_env *env, npgnn_error *err);

#endif

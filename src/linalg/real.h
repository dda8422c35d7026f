/* The number type of the kernels: float, or double in the build that the gradient checks use (-DNPI_DOUBLE). */
#ifndef NPI_LINALG_REAL_H
#define NPI_LINALG_REAL_H

#ifdef NPI_DOUBLE
typedef double real;
#define NPI_CBLAS(name) cblas_d##name
#define NPI_CBLAS_NAME(name) "cblas_d" name
#else
typedef float real;
#define NPI_CBLAS(name) cblas_s##name
#define NPI_CBLAS_NAME(name) "cblas_s" name
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_names.c - the preprocessor makes of it the list of functions that
 * libgpukit-blas.so must have.
 */
#define CBLAS(name, parameters)  cblas_##name
#define LAPACK(name, parameters) name##_
#include "fronts/cublas/cblas.def"
#undef CBLAS
#undef LAPACK
#define LAPACK(name, real, complex, params)                                    \
	s##real##_ d##real##_ c##complex##_ z##complex##_
#define LAPACK_REAL(name, params)    s##name##_ d##name##_
#define LAPACK_COMPLEX(name, params) c##name##_ z##name##_
#include "fronts/cusolver/lapack.def"

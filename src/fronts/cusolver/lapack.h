/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lapack.h - LAPACK in OpenBLAS, with 32-bit integers and column-major
 * matrices.
 */
#ifndef GKF_CUSOLVER_LAPACK_H
#define GKF_CUSOLVER_LAPACK_H

#include <stddef.h>

/* In this order: float, double, complex float, complex double. */
enum lapack_type { TYPE_S, TYPE_D, TYPE_C, TYPE_Z, LAPACK_TYPES };

/*
 * Functions, indexed by type; those for only real or only complex types are
 * indexed by type % 2.
 */
struct lapack {
#define LAPACK(name, real, complex, params) void(*name[LAPACK_TYPES]) params;
#define LAPACK_REAL(name, params)           void(*real_##name[2]) params;
#define LAPACK_COMPLEX(name, params)        void(*complex_##name[2]) params;
#include "fronts/cusolver/lapack.def"
#undef LAPACK
#undef LAPACK_REAL
#undef LAPACK_COMPLEX
};

/*
 * Opens LAPACK; any thread may call it. If OpenBLAS is missing, returns NULL
 * and logs that once.
 */
const struct lapack *lapack(void);

#endif

/* lapack.h - LAPACK as OpenBLAS has it: 32-bit integers, columns together. */
#ifndef GKF_CUSOLVER_LAPACK_H
#define GKF_CUSOLVER_LAPACK_H

#include <stddef.h>

/* float, double, and complex numbers of them. */
enum lapack_type { TYPE_S, TYPE_D, TYPE_C, TYPE_Z, LAPACK_TYPES };

/* By type; those of two types by type % 2. */
struct lapack {
#define LAPACK(name, real, complex, params) void(*name[LAPACK_TYPES]) params;
#define LAPACK_REAL(name, params)           void(*real_##name[2]) params;
#define LAPACK_COMPLEX(name, params)        void(*complex_##name[2]) params;
#include "fronts/cusolver/lapack.def"
#undef LAPACK
#undef LAPACK_REAL
#undef LAPACK_COMPLEX
};

/* Any thread. NULL: there is no OpenBLAS, which is logged once. */
const struct lapack *lapack(void);

#endif

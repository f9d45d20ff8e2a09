/* SPDX-License-Identifier: Apache-2.0 */
/* default.c - defines the functions that we refuse; each counts the call. */
#include "fronts/cusolver/solver.h"

#define EXPORT_WEAK __attribute__((visibility("default"), weak))

/*
 * These functions ignore their arguments, so they are declared without
 * parameters instead of with their real prototypes.
 */
#define REFUSE(symbol)                                                         \
	EXPORT_WEAK cusolverStatus_t symbol(void);                             \
	cusolverStatus_t symbol(void)                                          \
	{                                                                      \
		return solver_refuse(#symbol);                                 \
	}
#define IN_11_11(symbol) IN_BOTH_11(symbol)
#define IN_11_12(symbol) REFUSE(symbol)
#if FRONT_MAJOR == 11
#define IN_BOTH_11(symbol) REFUSE(symbol)
#define IN_12_12(symbol)
#else
#define IN_BOTH_11(symbol)
#define IN_12_12(symbol) REFUSE(symbol)
#endif

#define CUSOLVER(symbol, params)
#define CUSOLVER_REFUSED(symbol, first, last) IN_##first##_##last(symbol)
#include "abi/libraries/cusolver.def"

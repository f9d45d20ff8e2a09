/* default.c - the functions of cuSOLVER that refuse; they are weak. */
#include "fronts/cusolver/solver.h"

#define EXPORT_WEAK __attribute__((visibility("default"), weak))

/*
 * Whatever a caller passes is left alone, in registers and on its stack: the
 * prototypes need not be known here.
 */
#define REFUSE(symbol)                                                         \
	EXPORT_WEAK cusolverStatus_t symbol(void);                             \
	cusolverStatus_t symbol(void)                                          \
	{                                                                      \
		return solver_refuse(#symbol);                                 \
	}
#define IN_11_11(symbol) IN_BOTH_11(symbol)
#define IN_11_12(symbol) REFUSE(symbol)
#if FRONT_VERSION == 11
#define IN_BOTH_11(symbol) REFUSE(symbol)
#define IN_12_12(symbol)
#else
#define IN_BOTH_11(symbol)
#define IN_12_12(symbol) REFUSE(symbol)
#endif

#define CUSOLVER(symbol, params)
#define CUSOLVER_REFUSED(symbol, first, last) IN_##first##_##last(symbol)
#include "abi/cusolver.def"

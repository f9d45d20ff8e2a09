/* default.c - the functions of cuSPARSE that refuse; they are weak. */
#include "fronts/cusparse/sparse.h"

#define EXPORT_WEAK __attribute__((visibility("default"), weak))

/*
 * Whatever a caller passes is left alone, in registers and on its stack: the
 * prototypes need not be known here.
 */
#define CUSPARSE(symbol, params)
#define CUSPARSE_TELLS(type, symbol, params)
#define CUSPARSE_REFUSED(symbol)                                               \
	EXPORT_WEAK cusparseStatus_t symbol(void);                             \
	cusparseStatus_t symbol(void)                                          \
	{                                                                      \
		return sparse_refuse(#symbol);                                 \
	}
#include "abi/cusparse.def"

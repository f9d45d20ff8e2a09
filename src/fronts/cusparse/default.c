/* default.c - the functions of cuSPARSE that refuse. */
#include "fronts/cusparse/sparse.h"

/*
 * Whatever a caller passes is left alone, in registers and on its stack: the
 * prototypes need not be known here.
 */
#define CUSPARSE(symbol, params)
#define CUSPARSE_TELLS(type, symbol, params)
#define CUSPARSE_REFUSED(symbol)                                               \
	__attribute__((visibility("default"))) cusparseStatus_t symbol(void);  \
	cusparseStatus_t symbol(void)                                          \
	{                                                                      \
		return sparse_refuse(#symbol);                                 \
	}
#include "abi/cusparse.def"

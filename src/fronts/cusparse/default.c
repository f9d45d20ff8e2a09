/* SPDX-License-Identifier: Apache-2.0 */
/* default.c - defines the functions that we refuse; each counts the call. */
#include "fronts/cusparse/sparse.h"

#define EXPORT_WEAK __attribute__((visibility("default"), weak))

/*
 * These functions ignore their arguments, so they are declared without
 * parameters instead of with their real prototypes.
 */
#define CUSPARSE(symbol, params)
#define CUSPARSE_TELLS(type, symbol, params)
#define CUSPARSE_REFUSED(symbol)                                               \
	EXPORT_WEAK cusparseStatus_t symbol(void);                             \
	cusparseStatus_t symbol(void)                                          \
	{                                                                      \
		return sparse_refuse(#symbol);                                 \
	}
#include "abi/libraries/cusparse.def"

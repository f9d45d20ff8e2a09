/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default.c - defines a version of every function that refuses and counts the
 * call. These definitions are weak: a definition in another file replaces them.
 */
#include "fronts/nccl/front.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static ncclResult_t refuse(const char *symbol)
{
	native_refuse(GPUKIT_NCCL, symbol);
	return error_set(ncclInvalidUsage, "%s is not done by gpukit", symbol);
}

#define NCCL(since, symbol, params)                                            \
	__attribute__((weak)) EXPORT ncclResult_t symbol params                \
	{                                                                      \
		return refuse(#symbol);                                        \
	}                                                                      \
	__attribute__((weak)) EXPORT ncclResult_t p##symbol params             \
	{                                                                      \
		return refuse(#symbol);                                        \
	}
#define NCCL_OTHER(since, type, symbol, params)
#include "abi/libraries/nccl.def"
#undef NCCL_OTHER
#undef NCCL

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default.c - defines a weak default for every function. It counts the call and
 * returns ARCH_MISMATCH (the GPU lacks a feature), because cuRAND has no
 * NOT_SUPPORTED. Implementations in other files override the defaults.
 */
#include "fronts/curand/front.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

curandStatus_t front_refuse(const char *symbol, curandStatus_t answer)
{
	native_refuse(GPUKIT_CURAND, symbol);
	return answer;
}

#define CURAND(symbol, params)                                                 \
	__attribute__((weak)) EXPORT curandStatus_t symbol params              \
	{                                                                      \
		return front_refuse(#symbol, CURAND_STATUS_ARCH_MISMATCH);     \
	}
#include "abi/libraries/curand.def"
#undef CURAND

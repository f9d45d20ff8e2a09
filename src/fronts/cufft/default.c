/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default.c - defines a weak default for every function, which counts the call
 * and returns NOT_SUPPORTED. Implementations in other files override it.
 */
#include "fronts/cufft/front.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

cufftResult front_refuse(const char *symbol)
{
	native_refuse(GPUKIT_CUFFT, symbol);
	return CUFFT_NOT_SUPPORTED;
}

#define CUFFT(symbol, params)                                                  \
	__attribute__((weak)) EXPORT cufftResult symbol params                 \
	{                                                                      \
		return front_refuse(#symbol);                                  \
	}
#if FRONT_MAJOR == 11
#define CUFFT_12(symbol, params) CUFFT(symbol, params)
#else
#define CUFFT_12(symbol, params)
#endif
#include "abi/libraries/cufft.def"
#undef CUFFT
#undef CUFFT_12

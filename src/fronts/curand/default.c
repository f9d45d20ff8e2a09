/*
 * default.c - defines every function that nobody has written: refused, and
 * counted. cuRAND has no status for that; ARCH_MISMATCH says that the GPU does
 * not support what is asked. A strong definition in another file wins.
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
#include "abi/curand.def"
#undef CURAND

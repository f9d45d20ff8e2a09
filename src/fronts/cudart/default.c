/*
 * default.c - defines every function that nobody has written: not supported,
 * and counted, where the driver has a way to. A strong definition in another
 * file of this library wins. Lists of done and not done: nm -D libcudart.so.13,
 * ' T ' and ' W '.
 */
#include "fronts/cudart/runtime.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static cudaError_t refuse_runtime_call(const char *symbol)
{
	ENTER();
	driver_refused(symbol);
	return cudart_fail(cudaErrorNotSupported);
}

#define BODY(symbol, params)                                                   \
	__attribute__((weak)) cudaError_t symbol params                        \
	{                                                                      \
		return refuse_runtime_call(#symbol);                           \
	}
#define CUDART(symbol, first, last, params)                                    \
	CUDART_IN_##first##_##last(BODY(symbol, params))
#define CUDART_OF(symbol, first, last, type, params)
#include "abi/cudart.def"
#undef CUDART
#undef CUDART_OF

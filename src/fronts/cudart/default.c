/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default.c - defines every function whose row in cudart.def says REFUSED: each
 * returns "not supported", and the call is counted if the driver supports that.
 * `nm -D libcudart.so.13` marks implemented functions with T and refused ones
 * with W.
 */
#include "fronts/common/refused.h"
#include "fronts/cudart/runtime.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static cudaError_t refuse_runtime_call(const char *symbol, enum refusal why)
{
	ENTER();
	driver_refused(symbol, refusal_reasons[why]);
	return cudart_fail(cudaErrorNotSupported);
}

#define DEFINE_NOTHING(symbol, why, params)
#define DEFINE_REFUSAL(symbol, why, params)                                    \
	__attribute__((weak)) cudaError_t symbol params                        \
	{                                                                      \
		return refuse_runtime_call(#symbol, why);                      \
	}
#define DEFINE_DONE         DEFINE_NOTHING
#define DEFINE_REFUSED(why) DEFINE_REFUSAL

#define CUDART_SYMBOL(symbol, first, last, refused, type, params)              \
	CUDART_IN_##first##_##last(                                            \
	    DEFINE_##refused(symbol, WHY_##refused, params))
#include "abi/cudart/cudart_symbols.def"

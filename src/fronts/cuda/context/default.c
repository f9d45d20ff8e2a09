/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default.c - defines every function whose row in cuda.def says REFUSED: each
 * counts the call and returns CUDA_ERROR_NOT_SUPPORTED. `nm -D libcuda.so.1`
 * marks implemented functions with T and refused ones with W.
 */
#include "fronts/cuda/context/front.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"

#define DEFINE_NOTHING(symbol, params)
#define DEFINE_REFUSAL(symbol, params)                                         \
	__attribute__((weak)) CUresult symbol params                           \
	{                                                                      \
		return front_refuse(ROW_##symbol);                             \
	}
#define DEFINE_DONE         DEFINE_NOTHING
#define DEFINE_REFUSED(why) DEFINE_REFUSAL

#define CUDA_SYMBOL(symbol, base, since, stream, limit, capture, refused,      \
		    params)                                                    \
	DEFINE_##refused(symbol, params)
#include "abi/cuda/cuda_symbols.def"

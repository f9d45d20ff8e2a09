/*
 * Everything of the CUDA driver API: types by topic, then the prototypes
 * of all functions that libcuda.so.1 exports, from cuda.def. Facts only: names,
 * numbers, layouts. The names are CUDA's own, so that its documentation
 * applies.
 *
 * Each name is the exact exported symbol: nothing is renamed. Programs that
 * include this file call or define them; a definition that disagrees with its
 * row does not compile.
 */
#ifndef GPUKIT_ABI_CUDA_ABI_H
#define GPUKIT_ABI_CUDA_ABI_H

#include "cuda_types.h"

/* Who defines functions that are not exported under these names says so. */
#ifndef CUDA_EXPORT
#define CUDA_EXPORT __attribute__((visibility("default")))
#endif

#define CUDA(symbol, base, since, stream, params)                              \
	CUDA_EXPORT CUresult symbol params;
#include "cuda.def"
#undef CUDA

#endif

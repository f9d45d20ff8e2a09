/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole CUDA driver API: the types by topic, then the prototypes of all
 * functions that libcuda.so.1 exports, made from cuda.def. Contains only facts
 * about the interface: names, numbers and layouts. The names are CUDA's own, so
 * that its documentation applies.
 *
 * Each name is exactly the exported symbol: nothing is renamed. Programs that
 * include this file call the functions or define them; a definition that
 * differs from its row does not compile.
 */
#ifndef GPUKIT_ABI_CUDA_ABI_H
#define GPUKIT_ABI_CUDA_ABI_H

#include "cuda_types.h"

/*
 * Files that do not export these names define CUDA_EXPORT before the #include.
 */
#ifndef CUDA_EXPORT
#define CUDA_EXPORT __attribute__((visibility("default")))
#endif

#define CUDA_SYMBOL(symbol, base, since, stream, limit, capture, refused,      \
		    params)                                                    \
	CUDA_EXPORT CUresult symbol params;
#include "cuda_symbols.def"

#endif

/*
 * Everything of the CUDA runtime API that libcudart exports: types by topic,
 * then the prototypes of all functions of the major that CUDART_MAJOR (12 or
 * 13) names, from cudart.def. Facts only: names, numbers, layouts. The names
 * are CUDA's own, so that its documentation applies.
 *
 * Each name is the exact exported symbol: nothing is renamed. 12 stands for
 * CUDA 12.9, 13 for 13.0 and what 13.1 to 13.3 added.
 */
#ifndef GPUKIT_ABI_CUDART_ABI_H
#define GPUKIT_ABI_CUDART_ABI_H

#include "cudart_graph.h"
#include "cudart_interop.h"
#include "cudart_newer.h"
#include "cudart_texture.h"

#define CUDART_EXPORT __attribute__((visibility("default")))

/*
 * A row of cudart.def stands for itself in its major, for nothing in the other.
 */
#if CUDART_MAJOR == 12
#define CUDART_IN_12_12(...) __VA_ARGS__
#define CUDART_IN_12_13(...) __VA_ARGS__
#define CUDART_IN_13_13(...)
#elif CUDART_MAJOR == 13
#define CUDART_IN_12_12(...)
#define CUDART_IN_12_13(...) __VA_ARGS__
#define CUDART_IN_13_13(...) __VA_ARGS__
#else
#error "CUDART_MAJOR says which runtime is meant: 12 or 13"
#endif

#define CUDART(symbol, first, last, params)                                    \
	CUDART_OF(symbol, first, last, cudaError_t, params)
#define CUDART_OF(symbol, first, last, type, params)                           \
	CUDART_IN_##first##_##last(CUDART_EXPORT type symbol params;)
#include "cudart.def"
#undef CUDART
#undef CUDART_OF

#endif

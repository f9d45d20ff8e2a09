/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole CUDA runtime API that libcudart exports: the types by topic, then
 * the prototypes of all functions of the major version CUDART_MAJOR (12 or 13),
 * made from cudart.def. Contains only facts about the interface: names, numbers
 * and layouts. The names are CUDA's own, so that its documentation applies.
 * Each name is exactly the exported symbol: nothing is renamed.
 *
 * 12 stands for CUDA 12.9; 13 stands for 13.0 and the additions of 13.1 to
 * 13.3.
 */
#ifndef GPUKIT_ABI_CUDART_ABI_H
#define GPUKIT_ABI_CUDART_ABI_H

#include "cudart_graph.h"
#include "cudart_interop.h"
#include "cudart_newer.h"
#include "cudart_texture.h"

#define CUDART_EXPORT __attribute__((visibility("default")))

/*
 * A row of cudart.def expands to its contents in the major versions that have
 * the function, and to nothing in the others.
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

#define CUDART_SYMBOL(symbol, first, last, refused, type, params)              \
	CUDART_IN_##first##_##last(CUDART_EXPORT type symbol params;)
#include "cudart_symbols.def"

#endif

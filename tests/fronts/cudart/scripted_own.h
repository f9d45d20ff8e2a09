/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted_own.h - shared by the files of the scripted driver.
 */
#ifndef TESTS_CUDART_SCRIPTED_OWN_H
#define TESTS_CUDART_SCRIPTED_OWN_H

#include "fronts/cudart/scripted.h"

enum scripted_row {
#define CUDA_SYMBOL(symbol, ...) ROW_##symbol,
#include "abi/cuda/cuda_symbols.def"
	ROW_COUNT
};

/* Counts the call; returns its result unless that follows from its work. */
CUresult scripted_enter(enum scripted_row row);

/* The function that cuGetProcAddress finds; NULL: none. */
void (*scripted_find(const char *base, int version, bool per_thread))(void);

#define ENTER(symbol)                                                          \
	do {                                                                   \
		CUresult entered = scripted_enter(ROW_##symbol);               \
		if (entered)                                                   \
			return entered;                                        \
	} while (0)

#endif

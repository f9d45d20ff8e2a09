/*
 * scripted_own.h - what the files of the scripted driver share.
 */
#ifndef TESTS_CUDART_SCRIPTED_OWN_H
#define TESTS_CUDART_SCRIPTED_OWN_H

#include "fronts/cudart/scripted.h"

enum scripted_row {
#define CUDA(symbol, base, since, stream, params) ROW_##symbol,
#include "abi/cuda.def"
#undef CUDA
	ROW_COUNT
};

/* Counts the call; what it answers unless something is told from its work. */
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

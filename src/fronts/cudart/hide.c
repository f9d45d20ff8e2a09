/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hide.c - hides the runtime's symbols; in the archive only. A program or
 * plugin that is linked with the archive then uses its own copy. It must,
 * because the structs of other CUDA majors have other sizes.
 *
 * The linker gives a symbol the most restrictive visibility that any object
 * requests. The section exists only to make the assembler keep the symbols; the
 * linker drops it.
 */
#include "abi/cudart/cudart_abi.h"

#define HIDE(symbol)                                                           \
	__asm__(".hidden " #symbol "\n"                                        \
		".pushsection .gpukit.hidden, \"e\"\n"                         \
		".8byte " #symbol "\n"                                         \
		".popsection");
#define CUDART_SYMBOL(symbol, first, last, ...)                                \
	CUDART_IN_##first##_##last(HIDE(symbol))
#include "abi/cudart/cudart_symbols.def"

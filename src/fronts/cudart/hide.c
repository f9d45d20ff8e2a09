/*
 * hide.c - in the archive alone: the runtime's names are hidden from other
 * libraries. Each program and plugin that carries the runtime works with its
 * own; one of another CUDA major has structs of another size.
 *
 * The linker gives a symbol the least visibility that any object asks for. The
 * section only names the symbols, so that they are kept; no file has it.
 */
#include "abi/cudart_abi.h"

#define HIDE(symbol)                                                           \
	__asm__(".hidden " #symbol "\n"                                        \
		".pushsection .gpukit.hidden, \"e\"\n"                         \
		".8byte " #symbol "\n"                                         \
		".popsection");
#define CUDART(symbol, first, last, params)                                    \
	CUDART_IN_##first##_##last(HIDE(symbol))
#define CUDART_OF(symbol, first, last, type, params)                           \
	CUDART_IN_##first##_##last(HIDE(symbol))
#include "abi/cudart.def"
#undef CUDART
#undef CUDART_OF

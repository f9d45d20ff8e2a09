/* SPDX-License-Identifier: Apache-2.0 */
/*
 * newer.c - hides the functions that are newer than the driver. It is compiled
 * once per generation; -DFRONT_LEVEL is the driver's GKF_LEVEL().
 *
 * The linker gives a symbol the most restrictive visibility that any object
 * requests, so a function that is hidden here is not exported. The section
 * exists only to make the assembler keep the symbol; the linker drops it
 * (SHF_EXCLUDE).
 */
#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

#define NVML(symbol, major, minor, ...)                                        \
	__asm__(".if " #major " * 1000 + " #minor                              \
		" > " TEXT(FRONT_LEVEL) "\n"                                   \
					".hidden " #symbol "\n"                \
					".pushsection .gpukit.newer, \"e\"\n"  \
					".8byte " #symbol "\n"                 \
					".popsection\n"                        \
					".endif");
#include "abi/nvml/nvml.def"
#undef NVML

/* SPDX-License-Identifier: Apache-2.0 */
/* offsets.S - the table of hooks' offsets, relative to itself. */
#ifdef __CET__
/*
 * Marks this object for CET: libvgpu.so is marked only if all its objects are.
 */
#include <cet.h>
#endif

#define HOOK(symbol)      offset symbol;
#define HOOK_NVML(symbol) offset symbol;

	.macro offset symbol
	.long \symbol - hook_offsets
	.endm

	.section .rodata
	.balign 4
	.globl hook_offsets
	.hidden hook_offsets
hook_offsets:
#include "limit/preload/entry/hooks.def"

	.section .note.GNU-stack, "", %progbits

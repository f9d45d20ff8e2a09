/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.S - the exported functions.
 *
 * Each jumps to its target without changing the arguments or the stack, so that
 * the target is entered as if it had been called directly. The first calls look
 * up the target, and preserve all registers that may hold arguments.
 */
#ifdef __CET__
#include <cet.h>
#endif

#define HOOK(symbol)      entry symbol;
#define HOOK_NVML(symbol) entry symbol;

	.macro begin symbol
	.globl direct_\symbol
	.type direct_\symbol, %function
	.symver direct_\symbol, \symbol@GPUKIT, remove
	.balign 16
direct_\symbol:
	.cfi_startproc
	.endm

	.macro finish symbol
	.cfi_endproc
	.size direct_\symbol, . - direct_\symbol
	.set number, number + 1
	.endm

	.set number, 0
	.text

#if defined(__x86_64__)

	.macro entry symbol
	begin \symbol
	endbr64
	movq entry_targets + 8 * number(%rip), %r11
	testq %r11, %r11
	jz 1f
	jmp *%r11
1:	movl $number, %r11d
	jmp first_call
	finish \symbol
	.endm

#include "limit/preload/entry/hooks.def"

	/* r11: the hook; all other registers as at the call */
	.type first_call, @function
first_call:
	.cfi_startproc
	pushq %rdi
	pushq %rsi
	pushq %rdx
	pushq %rcx
	pushq %r8
	pushq %r9
	pushq %rax
	.cfi_adjust_cfa_offset 56
	subq $128, %rsp
	.cfi_adjust_cfa_offset 128
	movups %xmm0, (%rsp)
	movups %xmm1, 16(%rsp)
	movups %xmm2, 32(%rsp)
	movups %xmm3, 48(%rsp)
	movups %xmm4, 64(%rsp)
	movups %xmm5, 80(%rsp)
	movups %xmm6, 96(%rsp)
	movups %xmm7, 112(%rsp)
	movl %r11d, %edi
	movq 184(%rsp), %rsi
	call entry_target
	movq %rax, %r11
	movups (%rsp), %xmm0
	movups 16(%rsp), %xmm1
	movups 32(%rsp), %xmm2
	movups 48(%rsp), %xmm3
	movups 64(%rsp), %xmm4
	movups 80(%rsp), %xmm5
	movups 96(%rsp), %xmm6
	movups 112(%rsp), %xmm7
	addq $128, %rsp
	.cfi_adjust_cfa_offset -128
	popq %rax
	popq %r9
	popq %r8
	popq %rcx
	popq %rdx
	popq %rsi
	popq %rdi
	.cfi_adjust_cfa_offset -56
	jmp *%r11
	.cfi_endproc
	.size first_call, . - first_call

#elif defined(__aarch64__)

	.macro entry symbol
	begin \symbol
	bti c
	adrp x16, entry_targets + 8 * number
	add x16, x16, :lo12:entry_targets + 8 * number
	ldar x16, [x16]
	cbz x16, 1f
	br x16
1:	mov w17, #number
	b first_call
	finish \symbol
	.endm

#include "limit/preload/entry/hooks.def"

	/* w17: the hook; all other registers as at the call */
	.type first_call, %function
first_call:
	.cfi_startproc
	stp x29, x30, [sp, #-208]!
	.cfi_def_cfa_offset 208
	.cfi_offset x29, -208
	.cfi_offset x30, -200
	stp x0, x1, [sp, #16]
	stp x2, x3, [sp, #32]
	stp x4, x5, [sp, #48]
	stp x6, x7, [sp, #64]
	stp q0, q1, [sp, #80]
	stp q2, q3, [sp, #112]
	stp q4, q5, [sp, #144]
	stp q6, q7, [sp, #176]
	mov x29, sp
	mov w0, w17
	mov x1, x30
	bl entry_target
	mov x16, x0
	ldp q6, q7, [sp, #176]
	ldp q4, q5, [sp, #144]
	ldp q2, q3, [sp, #112]
	ldp q0, q1, [sp, #80]
	ldp x6, x7, [sp, #64]
	ldp x4, x5, [sp, #48]
	ldp x2, x3, [sp, #32]
	ldp x0, x1, [sp, #16]
	ldp x29, x30, [sp], #208
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	br x16
	.cfi_endproc
	.size first_call, . - first_call

#else
#error libvgpu.so knows x86-64 and aarch64
#endif

	.section .note.GNU-stack, "", %progbits

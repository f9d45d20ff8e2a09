/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.S - dlsym and dlvsym.
 *
 * Names that begin with "cu" or "nvml" may be functions of the driver; names
 * that begin with "dl", if looked up in a library, may be dlsym or dlvsym. For
 * all other names a jump to the next dlsym follows, with nothing changed.
 */
#if defined(__x86_64__)

#ifdef __CET__
#include <cet.h>
#endif

	.text

	/* \caller: the first argument register that \name does not use */
	.macro lookup name, caller
	.globl \name
	.type \name, @function
	.balign 16
\name:
	.cfi_startproc
	endbr64
	movzbl (%rsi), %eax
	cmpb $'c', %al
	je 2f
	cmpb $'n', %al
	je 3f
	cmpb $'d', %al
	je 4f
1:	movq next_\name(%rip), %rax
	testq %rax, %rax
	jz 5f
	jmp *%rax
2:	cmpb $'u', 1(%rsi)
	jne 1b
	jmp 6f
3:	cmpb $'v', 1(%rsi)
	jne 1b
	cmpb $'m', 2(%rsi)
	jne 1b
	cmpb $'l', 3(%rsi)
	jne 1b
	jmp 6f
4:	cmpb $'l', 1(%rsi)
	jne 1b
	leaq 1(%rdi), %rax /* RTLD_NEXT is -1, RTLD_DEFAULT 0 */
	cmpq $1, %rax
	jbe 1b
6:	movq (%rsp), \caller
	jmp lookup_\name
5:	pushq %rdi
	pushq %rsi
	pushq %rdx
	.cfi_adjust_cfa_offset 24
	call lookup_next_\name
	popq %rdx
	popq %rsi
	popq %rdi
	.cfi_adjust_cfa_offset -24
	movq %rax, next_\name(%rip)
	jmp *%rax
	.cfi_endproc
	.size \name, . - \name
	.local next_\name
	.comm next_\name, 8, 8
	.endm

	lookup dlsym, %rdx
	lookup dlvsym, %rcx

	.globl lookup_as_caller
	.hidden lookup_as_caller
	.type lookup_as_caller, @function
lookup_as_caller:
	.cfi_startproc
	leaq 1f(%rip), %rax
	pushq %rax
	pushq %rsi
	.cfi_adjust_cfa_offset 16
	movq 24(%rdi), %rax
	movq 16(%rdi), %rdx
	movq 8(%rdi), %rsi
	movq (%rdi), %rdi
	jmp *%rax
	.cfi_adjust_cfa_offset -16
1:	ret
	.cfi_endproc
	.size lookup_as_caller, . - lookup_as_caller

	/* rdsspq leaves its register unchanged without a shadow stack. */
	.globl lookup_returns_are_checked
	.hidden lookup_returns_are_checked
	.type lookup_returns_are_checked, @function
lookup_returns_are_checked:
	.cfi_startproc
	xorl %eax, %eax
	.byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8 /* rdsspq %rax */
	testq %rax, %rax
	setne %al
	movzbl %al, %eax
	ret
	.cfi_endproc
	.size lookup_returns_are_checked, . - lookup_returns_are_checked

#elif defined(__aarch64__)

	.text

	/* \caller: the first argument register that \name does not use */
	.macro lookup name, caller
	.globl \name
	.type \name, %function
	.balign 16
\name:
	.cfi_startproc
	bti c
	ldrb w9, [x1]
	cmp w9, #'c'
	b.eq 2f
	cmp w9, #'n'
	b.eq 3f
	cmp w9, #'d'
	b.eq 4f
1:	adrp x17, next_\name
	ldr x16, [x17, :lo12:next_\name]
	cbz x16, 5f
	br x16
2:	ldrb w9, [x1, #1]
	cmp w9, #'u'
	b.ne 1b
	b 6f
3:	ldrb w9, [x1, #1]
	cmp w9, #'v'
	b.ne 1b
	ldrb w9, [x1, #2]
	cmp w9, #'m'
	b.ne 1b
	ldrb w9, [x1, #3]
	cmp w9, #'l'
	b.ne 1b
	b 6f
4:	ldrb w9, [x1, #1]
	cmp w9, #'l'
	b.ne 1b
	add x9, x0, #1 /* RTLD_NEXT is -1, RTLD_DEFAULT 0 */
	cmp x9, #1
	b.ls 1b
6:	mov \caller, x30
	b lookup_\name
5:	stp x29, x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset x29, -48
	.cfi_offset x30, -40
	stp x0, x1, [sp, #16]
	str x2, [sp, #32]
	mov x29, sp
	bl lookup_next_\name
	mov x16, x0
	adrp x17, next_\name
	str x16, [x17, :lo12:next_\name]
	ldr x2, [sp, #32]
	ldp x0, x1, [sp, #16]
	ldp x29, x30, [sp], #48
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	br x16
	.cfi_endproc
	.size \name, . - \name
	.local next_\name
	.comm next_\name, 8, 8
	.endm

	lookup dlsym, x2
	lookup dlvsym, x3

	/* The gadget is "ldp x29, x30, [sp], #bytes; ret": it pops its return
	 * address from a frame of that many bytes. */
	.globl lookup_as_caller
	.hidden lookup_as_caller
	.type lookup_as_caller, %function
lookup_as_caller:
	.cfi_startproc
	stp x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov x29, sp
	.cfi_def_cfa_register x29
	ldr w9, [x1]
	ubfx x9, x9, #15, #6
	sub sp, sp, x9, lsl #3
	adr x10, 1f
	stp x29, x10, [sp]
	mov x30, x1
	ldp x2, x16, [x0, #16]
	ldp x0, x1, [x0]
	br x16
1:	ldp x29, x30, [sp], #16
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa sp, 0
	ret
	.cfi_endproc
	.size lookup_as_caller, . - lookup_as_caller

	/* chkfeat clears the bit if a guarded stack is on. */
	.globl lookup_returns_are_checked
	.hidden lookup_returns_are_checked
	.type lookup_returns_are_checked, %function
lookup_returns_are_checked:
	.cfi_startproc
	bti c
	mov x16, #1
	hint #40 /* chkfeat x16 */
	eor w0, w16, #1
	ret
	.cfi_endproc
	.size lookup_returns_are_checked, . - lookup_returns_are_checked

#endif

	.section .note.GNU-stack, "", %progbits

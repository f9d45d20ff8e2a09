/*
 * lookup.S - dlsym and dlvsym.
 *
 * Names that begin with "cu" or "nvml" may be the driver's, and those with "dl"
 * ours if they are looked up in a library. All others leave by a jump to the
 * next dlsym, with nothing changed.
 */
#if defined(__x86_64__)

#ifdef __CET__
#include <cet.h>
#endif

	.text

	/* \caller: the parameter of lookup_\name that follows its own */
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

	/* rdsspq leaves its register alone where there is no shadow stack. */
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

#endif

	.section .note.GNU-stack, "", %progbits

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gadget.c - finds a return instruction in an object's code.
 */
#include "limit/preload/entry/gadget.h"

#include "limit/preload/entry/object.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

/* `ret` is one byte, and may be part of another instruction. */
static const void *find_return(const void *from, size_t size)
{
	return memchr(from, 0xc3, size);
}

#elif defined(__aarch64__)

/*
 * "ldp x29, x30, [sp], #bytes; ret", with which most functions end: 16 to 496
 * bytes, as the stack pointer is a multiple of 16.
 */
static const void *find_return(const void *from, size_t size)
{
	const uint32_t *code = from;

	for (size_t i = 0; i + 1 < size / 4; i++) {
		uint32_t words = code[i] >> 15 & 0x7f;

		if ((code[i] & 0xffc07fff) == 0xa8c07bfd && words >= 2 &&
		    words < 64 && words % 2 == 0 && code[i + 1] == 0xd65f03c0)
			return &code[i];
	}
	return NULL;
}

#endif

const void *gadget_of(const void *caller)
{
	struct object object;
	const void *found = NULL;

	if (!object_at(caller, &object))
		return NULL;
	for (unsigned int i = 0; i < object.phdr_count && !found; i++) {
		const ElfW(Phdr) *p = &object.phdrs[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			found = find_return(
			    (const void *)(object.base + p->p_vaddr),
			    p->p_filesz);
	}
	return found;
}

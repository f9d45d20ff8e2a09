/*
 * gadget.c - finds a return instruction in an object's code.
 */
#include "limit/preload/gadget.h"

#include "limit/preload/object.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)

/* `ret` is one byte, also in the middle of another instruction. */
static const void *find_return(const void *from, size_t size)
{
	return memchr(from, 0xc3, size);
}

#else

static const void *find_return(const void *from, size_t size)
{
	(void)from, (void)size;
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

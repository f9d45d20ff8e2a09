/* SPDX-License-Identifier: Apache-2.0 */
/* object.h - programs and libraries in memory, found by an address in them. */
#ifndef GKL_PRELOAD_OBJECT_H
#define GKL_PRELOAD_OBJECT_H

#include <link.h>
#include <stdbool.h>

struct object {
	const char *path; /* name given by the linker; "": the program */
	/* Load address, added to the addresses in the object. */
	ElfW(Addr) base;
	const ElfW(Phdr) * phdrs;
	unsigned int phdr_count;
	const ElfW(Dyn) * dynamic; /* NULL: none */
};

/*
 * Finds the object that contains an address. An address in no object (code made
 * at run time) counts as the program's, as for the linker. Objects of other
 * namespaces are not visible. False: the linker lists nothing.
 */
bool object_at(const void *address, struct object *ret_object);

/* Whether the object's DT_SONAME is `soname`. */
bool object_is(const struct object *object, const char *soname);

#endif

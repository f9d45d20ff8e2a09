/*
 * object.h - programs and libraries in memory, by the addresses in them.
 */
#ifndef GKL_PRELOAD_OBJECT_H
#define GKL_PRELOAD_OBJECT_H

#include <link.h>
#include <stdbool.h>

struct object {
	const char *path; /* as the linker has it; "": the program */
	ElfW(Addr) base;  /* added to its addresses */
	const ElfW(Phdr) * phdrs;
	unsigned int phdr_count;
	const ElfW(Dyn) * dynamic; /* NULL: none */
};

/*
 * The object that holds an address; for one in none (code made at run time),
 * the program itself, as the linker does. Objects of other namespaces are not
 * seen. False: the linker lists nothing.
 */
bool object_at(const void *address, struct object *ret_object);

/* Whether its DT_SONAME is this one. */
bool object_is(const struct object *object, const char *soname);

#endif

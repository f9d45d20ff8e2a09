/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.c - finds the object that holds an address.
 */
#include "limit/preload/entry/object.h"

#include <string.h>

struct search {
	ElfW(Addr) address;
	struct object *found;
	bool any;
};

static bool is_inside(const struct dl_phdr_info *info, ElfW(Addr) address)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD &&
		    address - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			return true;
	}
	return false;
}

static void note_object(const struct dl_phdr_info *info,
			struct object *ret_object)
{
	*ret_object = (struct object){.path = info->dlpi_name,
				      .base = info->dlpi_addr,
				      .phdrs = info->dlpi_phdr,
				      .phdr_count = info->dlpi_phnum};
	for (unsigned int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			ret_object->dynamic =
			    (const ElfW(Dyn) *)(info->dlpi_addr +
						info->dlpi_phdr[i].p_vaddr);
}

/* The first object is the program. */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;
	bool inside = is_inside(info, search->address);

	(void)size;
	if (inside || !search->any)
		note_object(info, search->found);
	search->any = true;
	return inside;
}

bool object_at(const void *address, struct object *ret_object)
{
	struct search search = {(ElfW(Addr))address, ret_object, false};

	dl_iterate_phdr(look_at_object, &search);
	return search.any;
}

static const ElfW(Dyn) * find_entry(const ElfW(Dyn) * dynamic, ElfW(Sxword) tag)
{
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == tag)
			return dynamic;
	return NULL;
}

bool object_is(const struct object *object, const char *soname)
{
	const ElfW(Dyn) *name = find_entry(object->dynamic, DT_SONAME);
	const ElfW(Dyn) *strings = find_entry(object->dynamic, DT_STRTAB);
	ElfW(Addr) table;

	if (!name || !strings)
		return false;
	table = strings->d_un.d_ptr;
	if (table < object->base)
		table += object->base;
	return !strcmp((const char *)table + name->d_un.d_val, soname);
}

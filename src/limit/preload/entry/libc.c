/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc.c - finds functions of the C library in its own symbol table, by the GNU
 * hash table, as the dynamic linker does.
 *
 * It calls no function of the C library: a program's own strcmp may need dlsym
 * to initialise itself (the sanitizers' do).
 */
#include "limit/preload/entry/libc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * pthread_atfork() identifies the object that registers functions by this
 * symbol. The compiler's start-up files define it, but this library is linked
 * without them. Programs linked with both (tests) use the definition of the
 * start-up files.
 */
extern void *__dso_handle __attribute__((visibility("hidden"), weak));
void *__dso_handle = &__dso_handle;

/* The parts of an object's dynamic section that describe its symbols. */
struct symbols {
	const ElfW(Sym) * table;
	const char *names;
	const ElfW(Half) * versions; /* NULL: none */
	const uint32_t *hash;
};

static bool is_same(const char *a, const char *b)
{
	for (; *a && *a == *b; a++)
		b++;
	return *a == *b;
}

/* The address in an entry; some linkers leave it relative to the object. */
static const void *find_pointed(const struct link_map *object,
				const ElfW(Dyn) * d)
{
	ElfW(Addr) address = d->d_un.d_ptr;

	if (address < object->l_addr)
		address += object->l_addr;
	return (const void *)address;
}

static bool read_symbols(const struct link_map *object,
			 struct symbols *ret_symbols)
{
	struct symbols s = {NULL, NULL, NULL, NULL};

	for (const ElfW(Dyn) *d = object->l_ld; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			s.table = find_pointed(object, d);
		else if (d->d_tag == DT_STRTAB)
			s.names = find_pointed(object, d);
		else if (d->d_tag == DT_VERSYM)
			s.versions = find_pointed(object, d);
		else if (d->d_tag == DT_GNU_HASH)
			s.hash = find_pointed(object, d);
	}
	*ret_symbols = s;
	return s.table && s.names && s.hash;
}

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* Hidden versions (0x8000) are for old programs. */
static bool is_defined(const struct symbols *s, uint32_t i, const char *name)
{
	const ElfW(Sym) *symbol = &s->table[i];

	return symbol->st_shndx != SHN_UNDEF &&
	       is_same(s->names + symbol->st_name, name) &&
	       !(s->versions && s->versions[i] & 0x8000);
}

/*
 * The hash table: number of buckets, first hashed symbol, words of the filter,
 * its shift; then the filter, the buckets (first symbol of a chain) and the
 * chains (hashes, whose lowest bit ends a chain).
 */
static const ElfW(Sym) * find_symbol(const struct symbols *s, const char *name)
{
	uint32_t hash = hash_name(name), count = s->hash[0];
	const uint32_t *buckets =
	    s->hash + 4 + s->hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chains = buckets + count;
	uint32_t first = s->hash[1], i = count ? buckets[hash % count] : 0;

	for (; i >= first && i; i++) {
		uint32_t word = chains[i - first];

		if ((word | 1) == (hash | 1) && is_defined(s, i, name))
			return &s->table[i];
		if (word & 1)
			break;
	}
	return NULL;
}

static void *find_definition(const struct link_map *object, const char *name)
{
	struct symbols s;
	const ElfW(Sym) *symbol =
	    read_symbols(object, &s) ? find_symbol(&s, name) : NULL;

	return symbol ? (void *)(object->l_addr + symbol->st_value) : NULL;
}

/* Before glibc 2.34 the functions were in libdl.so.2. */
static bool is_libc(const struct link_map *object)
{
	const char *base = object->l_name;

	for (const char *c = base; *c; c++)
		if (*c == '/')
			base = c + 1;
	return is_same(base, "libc.so.6") || is_same(base, "libdl.so.2");
}

static void *find_function(const char *name)
{
	const struct link_map *object = _r_debug.r_map;
	void *found = NULL;

	for (; object && !found; object = object->l_next)
		if (is_libc(object))
			found = find_definition(object, name);
	return found;
}

/* Finds this library by its own _DYNAMIC. */
static const struct link_map *find_ourselves(void)
{
	const struct link_map *object = _r_debug.r_map;

	while (object && object->l_ld != _DYNAMIC)
		object = object->l_next;
	return object;
}

void *libc_next(const char *name)
{
	const struct link_map *object = find_ourselves();
	void *found = NULL;

	while (object && !found && (object = object->l_next))
		found = find_definition(object, name);
	return found;
}

/* Threads that fill this in at once store the same values. */
static struct libc functions;

static void find_once(void *function, const char *name)
{
	void **known = function;

	if (!__atomic_load_n(known, __ATOMIC_RELAXED))
		__atomic_store_n(known, find_function(name), __ATOMIC_RELAXED);
}

const struct libc *libc(void)
{
	find_once(&functions.dlsym, "dlsym");
	find_once(&functions.dlvsym, "dlvsym");
	find_once(&functions.dlopen, "dlopen");
	find_once(&functions.dlerror, "dlerror");
	return &functions;
}

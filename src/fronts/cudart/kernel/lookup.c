/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.c - a hash table of entries by host address, with open addressing. A
 * slot keeps its key for ever, so that readers need no lock. A table that is
 * nearly full is copied to one of twice the size. The old table is never freed,
 * as threads may still be reading it; all old tables together are smaller than
 * the one in use.
 */
#include "fronts/cudart/kernel/lookup.h"
#include "base/assert.h"

#include <pthread.h>
#include <stdlib.h>

#define FIRST_SIZE 64u

struct slot {
	/* NULL: the slot is free; a search ends here */
	_Atomic(const void *) host;
	_Atomic(struct entry *) entry;
};

struct table {
	unsigned bits;
	size_t used; /* slots that have a key */
	struct slot slots[];
};

static _Atomic(struct table *) current;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

void lookup_lock(void)
{
	pthread_mutex_lock(&writing);
}

void lookup_unlock(void)
{
	pthread_mutex_unlock(&writing);
}

static size_t table_size(const struct table *t)
{
	return (size_t)1 << t->bits;
}

/* Multiplicative hash: functions' addresses differ in their middle bits. */
static size_t place_of_host(const struct table *t, const void *host)
{
	return (size_t)(((uintptr_t)host * 0x9e3779b97f4a7c15ull) >>
			(64 - t->bits));
}

/* The slot of a key, or the free slot where it belongs. */
static struct slot *find_slot(struct table *t, const void *host)
{
	size_t mask = table_size(t) - 1;

	for (size_t i = place_of_host(t, host);; i = (i + 1) & mask) {
		struct slot *s = &t->slots[i];
		const void *key =
		    atomic_load_explicit(&s->host, memory_order_acquire);

		if (!key || key == host)
			return s;
	}
}

struct entry *registry_find(const void *host)
{
	struct table *t = atomic_load_explicit(&current, memory_order_acquire);
	struct slot *s = t && host ? find_slot(t, host) : NULL;

	/* A free slot has no entry. */
	return s ? atomic_load_explicit(&s->entry, memory_order_acquire) : NULL;
}

struct entry *registry_of_kernel(CUkernel kernel)
{
	struct table *t = atomic_load_explicit(&current, memory_order_acquire);
	struct entry *e = NULL;

	for (size_t i = 0; t && kernel && i < table_size(t); i++) {
		e = atomic_load(&t->slots[i].entry);
		if (e && atomic_load(&e->kernel) == kernel)
			return e;
	}
	return NULL;
}

static void insert_entry(struct table *t, struct entry *entry)
{
	struct slot *s = find_slot(t, entry->host);

	t->used += !atomic_load_explicit(&s->host, memory_order_relaxed);
	atomic_store_explicit(&s->entry, entry, memory_order_release);
	atomic_store_explicit(&s->host, entry->host, memory_order_release);
}

/* A table with space for one more entry; NULL: no memory. */
static struct table *with_room(void)
{
	struct table *old =
	    atomic_load_explicit(&current, memory_order_relaxed);
	struct table *t;
	unsigned bits;

	if (old && 4 * (old->used + 1) <= 3 * table_size(old))
		return old;
	bits = old ? old->bits + 1 : (unsigned)__builtin_ctz(FIRST_SIZE);
	t = calloc(1, sizeof *t + ((size_t)1 << bits) * sizeof *t->slots);
	if (!t)
		return NULL;
	t->bits = bits;
	for (size_t i = 0; old && i < table_size(old); i++) {
		struct entry *e = atomic_load(&old->slots[i].entry);

		if (e)
			insert_entry(t, e);
	}
	atomic_store_explicit(&current, t, memory_order_release);
	return t;
}

bool lookup_put(struct entry *entry)
{
	struct table *t;

	GK_ASSERT(gk_lock_held(&writing) && entry && entry->host);
	t = with_room();
	if (t)
		insert_entry(t, entry);
	return t;
}

void lookup_remove(const struct entry *entry)
{
	struct table *t = atomic_load_explicit(&current, memory_order_relaxed);
	struct slot *s;

	GK_ASSERT(gk_lock_held(&writing));
	s = t ? find_slot(t, entry->host) : NULL;
	if (s && atomic_load(&s->entry) == entry)
		atomic_store_explicit(&s->entry, NULL, memory_order_release);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* space_table.c - owns the table of this process's arenas, and creates them. */
#include "device/space_table.h"
#include "base/assert.h"

#include <unistd.h>

#define MANAGED_WANT  (1ULL << 40)
#define RESERVED_WANT (1ULL << 43)

struct space_table space = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t space_id(void)
{
	return 1 + atomic_fetch_add_explicit(&space.last_id, 1,
					     memory_order_relaxed);
}

struct arena *space_add(_Atomic(struct arena *) *place,
			enum gkf_memory_kind kind, uint64_t want)
{
	unsigned count = atomic_load(&space.count);
	struct arena *old = atomic_load(place);
	struct arena *a = arena_new(kind, want);
	unsigned i = 0;

	GK_ASSERT(gk_lock_held(&space.lock));
	if (!a)
		return NULL;
	while (i < count && atomic_load(&space.arena[i]) != old)
		i++;
	atomic_store(&space.arena[i], a);
	if (i == count)
		atomic_store(&space.count, count + 1);
	atomic_store(place, a);
	return a;
}

static _Atomic(struct arena *) *place_of_kind(enum gkf_memory_kind kind)
{
	if (kind == GKF_MEMORY_MAPPED)
		return &space.reserved;
	return kind == GKF_MEMORY_MANAGED ? &space.managed : &space.host;
}

static uint64_t want_of_kind(enum gkf_memory_kind kind, uint64_t ram)
{
	if (kind == GKF_MEMORY_MAPPED)
		return RESERVED_WANT;
	return kind == GKF_MEMORY_MANAGED ? MANAGED_WANT
					  : space_power_of_two(2 * ram);
}

struct arena *space_common(enum gkf_memory_kind kind)
{
	_Atomic(struct arena *) *place = place_of_kind(kind);
	struct arena *a = atomic_load_explicit(place, memory_order_acquire);
	uint64_t ram;

	if (a)
		return a;
	ram =
	    (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	pthread_mutex_lock(&space.lock);
	a = atomic_load(place);
	if (!a)
		a = space_add(place, kind, want_of_kind(kind, ram));
	if (a && kind == GKF_MEMORY_HOST)
		a->pool.max = ram;
	pthread_mutex_unlock(&space.lock);
	return a;
}

struct arena *reserved_arena(void)
{
	return space_common(GKF_MEMORY_MAPPED);
}

struct arena *device_arena(unsigned device)
{
	GK_ASSERT(device < GKF_DEVICES_MAX);
	return atomic_load_explicit(&space.device[device],
				    memory_order_acquire);
}

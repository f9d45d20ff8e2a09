/* SPDX-License-Identifier: Apache-2.0 */
/* space.c - allocates, frees and finds memory by address, in all arenas. */
#include "base/err.h"
#include "device/keeper.h"
#include "device/share_file.h"
#include "device/space_table.h"
#include "machine/file/board.h"
#include "machine/store/board.h"

#include <stdatomic.h>
#include <sys/mman.h>

/*
 * Reserves several times as many addresses as the device has bytes of memory,
 * so that fragmentation does not matter; fewer if there are many devices.
 */
static uint64_t device_want(struct gkf_machine *m, unsigned device)
{
	uint64_t memory = (uint64_t)gkf_board(m, device)->profile.memory_mib
			  << 20;

	return space_power_of_two(memory * (gkf_device_count(m) > 16 ? 2 : 4));
}

void gkf_space_prepare(void)
{
	keeper_start();
}

int gkf_space_open(struct gkf_machine *m, unsigned device, unsigned slot)
{
	struct arena *a;
	uint64_t want;
	int r = 0;

	if (device >= gkf_device_count(m))
		return GK_ERR_RANGE;
	want = device_want(m, device);
	pthread_mutex_lock(&space.lock);
	a = atomic_load(&space.device[device]);
	if (!a || (!a->opens && a->want != want))
		a = space_add(&space.device[device], GKF_MEMORY_DEVICE, want);
	if (!a) {
		r = GK_ERR_NOMEM;
	} else if (!__atomic_fetch_add(&a->opens, 1, __ATOMIC_RELAXED)) {
		a->device = device;
		a->machine = m;
		a->slot = slot;
	}
	pthread_mutex_unlock(&space.lock);
	return r;
}

/* Frees all pieces of an owner; NULL: of all owners. */
static void drop_pieces(struct arena *a, const void *owner)
{
	uint32_t high =
	    atomic_load_explicit(&a->pieces.high, memory_order_acquire);
	struct piece_words words;

	for (uint32_t i = 1; i <= high; i++)
		if (piece_read(&a->pieces, i, &words) &&
		    (!owner || words.owner == (uintptr_t)owner))
			arena_free(a, words.base);
}

void gkf_space_close(unsigned device)
{
	struct arena *a;

	pthread_mutex_lock(&space.lock);
	a = device < GKF_DEVICES_MAX ? atomic_load(&space.device[device])
				     : NULL;
	if (a && a->opens &&
	    !__atomic_sub_fetch(&a->opens, 1, __ATOMIC_RELAXED)) {
		resident_evict(a, a->size);
		drop_pieces(a, NULL);
		share_drop_all(a);
		arena_close(a);
		arena_wipe(a);
	}
	pthread_mutex_unlock(&space.lock);
}

static struct arena *open_arena(unsigned device)
{
	struct arena *a = device < GKF_DEVICES_MAX
			      ? atomic_load_explicit(&space.device[device],
						     memory_order_acquire)
			      : NULL;

	return a && __atomic_load_n(&a->opens, __ATOMIC_RELAXED) ? a : NULL;
}

void gkf_space_repay(unsigned device, uint64_t bytes)
{
	struct arena *a = open_arena(device);

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	pool_owe(&a->pool, bytes);
	pthread_mutex_unlock(&a->lock);
}

/* Registers memory of the program, unless CUDA knows it already. */
static int register_piece(const struct gkf_memory_ask *ask,
			  uint64_t *ret_address)
{
	uint64_t base = (uintptr_t)ask->host;
	struct gkf_extent e;

	if (!base || base + ask->size < base || gkf_space_is_reserved(base))
		return GK_ERR_INVALID;
	if (gkf_space_find(base, &e))
		return GK_ERR_EXISTS;
	return registered_add(ask, ret_address);
}

int gkf_space_alloc(const struct gkf_memory_ask *ask, uint64_t *ret_address)
{
	struct arena *a;
	bool on_device;

	if (!ask->size || (ask->align & (ask->align - 1)) ||
	    ask->align > BLOCK_SIZE)
		return GK_ERR_INVALID;
	if (ask->kind == GKF_MEMORY_REGISTERED)
		return register_piece(ask, ret_address);
	on_device =
	    ask->kind == GKF_MEMORY_DEVICE || ask->kind == GKF_MEMORY_PHYSICAL;
	a = on_device ? open_arena(ask->device) : space_common(ask->kind);
	if (!a)
		return on_device ? GK_ERR_NOT_FOUND : GK_ERR_NOMEM;
	return arena_alloc(ask->pool ? ask->pool : &a->pool, ask, ret_address);
}

/*
 * Returns the arena whose range contains an address, whether a piece is there
 * or not.
 */
static struct arena *arena_of(uint64_t address)
{
	unsigned count =
	    atomic_load_explicit(&space.count, memory_order_acquire);

	for (unsigned i = 0; i < count; i++) {
		struct arena *a =
		    atomic_load_explicit(&space.arena[i], memory_order_acquire);

		if (address - a->base < a->size)
			return a;
	}
	return NULL;
}

int gkf_space_free(uint64_t base)
{
	struct arena *a = arena_of(base);
	struct gkf_extent e;

	if (a && is_reserved_arena(a)) {
		if (!gkf_space_find(base, &e) || e.base != base ||
		    e.kind != GKF_MEMORY_DEVICE)
			return GK_ERR_NOT_FOUND;
		gkf_share_unmap(base);
		return 0;
	}
	return a ? arena_free(a, base) : registered_remove(base);
}

int gkf_space_renew(uint64_t base, uint64_t size)
{
	struct arena *a = arena_of(base);

	return a && !is_reserved_arena(a) ? arena_renew(a, base, size)
					  : GK_ERR_NOT_FOUND;
}

void gkf_space_move(uint64_t address, uint64_t size, unsigned device)
{
	const struct arena *to =
	    device < GKF_DEVICES_MAX ? open_arena(device) : NULL;
	const struct arena *a = arena_of(address);

	if (a && a->kind == GKF_MEMORY_MANAGED && size &&
	    size <= a->size - (address - a->base))
		resident_move(a, address, size, to);
}

void gkf_space_drop(const void *owner)
{
	unsigned count =
	    atomic_load_explicit(&space.count, memory_order_acquire);

	for (unsigned i = 0; i < count; i++)
		if (!is_reserved_arena(atomic_load(&space.arena[i])))
			drop_pieces(atomic_load(&space.arena[i]), owner);
	registered_drop(owner);
}

/* For a mapped stretch, the words `owner` and `pool` contain the rights. */
static void fill_rights(struct gkf_extent *e, const struct piece_words *w)
{
	e->owner = NULL;
	e->pool = NULL;
	e->readers = w->owner;
	e->writers = w->pool;
}

bool gkf_space_find(uint64_t address, struct gkf_extent *ret_extent)
{
	const struct arena *a = arena_of(address);
	struct piece_words w;
	struct gkf_mem_pool *pool;

	if (a ? !arena_find(a, address, &w) : !registered_find(address, &w))
		return false;
	if (w.kind == GKF_MEMORY_PHYSICAL)
		return false;
	pool = (struct gkf_mem_pool *)(uintptr_t)w.pool;
	*ret_extent = (struct gkf_extent){
	    .base = w.base,
	    .size = w.size,
	    .kind = (enum gkf_memory_kind)w.kind,
	    .device = w.device,
	    .flags = w.flags,
	    .owner = (void *)(uintptr_t)w.owner,
	    .pool = a && pool != &a->pool ? pool : NULL,
	    .view =
		a ? a->view + (w.base - a->base) : (void *)(uintptr_t)w.base,
	    .id = w.id,
	};
	if (w.kind == GKF_MEMORY_MAPPED)
		fill_rights(ret_extent, &w);
	return true;
}

bool gkf_space_find_all(uint64_t address, uint64_t size,
			struct gkf_extent *ret_extent)
{
	struct gkf_extent all, next;

	if (!gkf_space_find(address, &all))
		return false;
	while (size > all.size - (address - all.base)) {
		if (all.kind != GKF_MEMORY_MAPPED ||
		    !gkf_space_find(all.base + all.size, &next) ||
		    next.kind != GKF_MEMORY_MAPPED)
			return false;
		all.size = next.base + next.size - all.base;
		all.readers &= next.readers;
		all.writers &= next.writers;
	}
	*ret_extent = all;
	return true;
}

void *gkf_space_source(uint64_t physical)
{
	const struct arena *a = arena_of(physical);

	return a ? a->view + (physical - a->base) : NULL;
}

void *gkf_space_view(uint64_t address, uint64_t size)
{
	struct gkf_extent e;

	if (!gkf_space_find_all(address, size, &e))
		return NULL;
	return (unsigned char *)e.view + (address - e.base);
}

bool gkf_space_is_reserved(uint64_t address)
{
	const struct arena *a = arena_of(address);

	return a && (a->kind == GKF_MEMORY_DEVICE || is_reserved_arena(a));
}

int gkf_mem_pool_new(unsigned device, uint64_t max_size,
		     struct gkf_mem_pool **ret_pool)
{
	struct arena *a = open_arena(device);
	struct gkf_mem_pool *pool;

	if (!a)
		return GK_ERR_NOT_FOUND;
	pool = mmap(NULL, sizeof(*pool), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pool == MAP_FAILED)
		return GK_ERR_NOMEM;
	pool_init(pool, a);
	pool->max = max_size;
	pthread_mutex_lock(&a->lock);
	pool->next = a->pool.next;
	a->pool.next = pool;
	pthread_mutex_unlock(&a->lock);
	*ret_pool = pool;
	return 0;
}

void gkf_space_forget(void)
{
	pthread_mutex_init(&space.lock, NULL);
	atomic_store(&space.count, 0);
	atomic_store(&space.managed, NULL);
	atomic_store(&space.host, NULL);
	atomic_store(&space.reserved, NULL);
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++)
		atomic_store(&space.device[i], NULL);
	registered_forget();
	resident_forget();
	space_map_forget();
	share_forget();
}

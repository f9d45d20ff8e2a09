/* space.c - all memory that CUDA knows in this process, by address. */
#include "base/err.h"
#include "device/keeper.h"
#include "device/share_file.h"
#include "device/space_arena.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/store/board.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENAS        (GKF_DEVICES_MAX + 3)
#define MANAGED_WANT  (1ULL << 40)
#define RESERVED_WANT (1ULL << 43)

/*
 * Arenas are never taken down: programs may hold addresses of them. `arena`
 * has all of them, in the order of their making, for lookups without a lock.
 */
static struct {
	pthread_mutex_t lock;
	_Atomic uint64_t last_id;
	_Atomic unsigned count;
	_Atomic(struct arena *) arena[ARENAS];
	_Atomic(struct arena *) device[GKF_DEVICES_MAX];
	_Atomic(struct arena *) managed, host, reserved;
} space = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t space_id(void)
{
	return 1 + atomic_fetch_add_explicit(&space.last_id, 1,
					     memory_order_relaxed);
}

static uint64_t power_of_two(uint64_t at_least)
{
	return 1ULL << (64 - __builtin_clzll(at_least - 1));
}

/* The lock is held. */
static struct arena *add_arena(_Atomic(struct arena *) *place,
			       enum gkf_memory_kind kind, uint64_t want)
{
	unsigned count = atomic_load(&space.count);
	struct arena *old = atomic_load(place);
	struct arena *a = arena_new(kind, want);
	unsigned i = 0;

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
					  : power_of_two(2 * ram);
}

/*
 * The arena of managed memory, of host memory or of reserved addresses, made
 * when it is first needed. Page-locked memory is never more than the host has.
 */
static struct arena *common_arena(enum gkf_memory_kind kind)
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
		a = add_arena(place, kind, want_of_kind(kind, ram));
	if (a && kind == GKF_MEMORY_HOST)
		a->pool.max = ram;
	pthread_mutex_unlock(&space.lock);
	return a;
}

struct arena *reserved_arena(void)
{
	return common_arena(GKF_MEMORY_MAPPED);
}

bool is_reserved_arena(const struct arena *a)
{
	return a->kind == GKF_MEMORY_MAPPED;
}

/*
 * More addresses than memory, so that it does not matter in which pieces they
 * are given out; not as much when they must do for many devices.
 */
static uint64_t device_want(struct gkf_machine *m, unsigned device)
{
	uint64_t memory = (uint64_t)gkf_board(m, device)->profile.memory_mib
			  << 20;

	return power_of_two(memory * (gkf_device_count(m) > 16 ? 2 : 4));
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
		a = add_arena(&space.device[device], GKF_MEMORY_DEVICE, want);
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

/* Frees the pieces of an arena that have an owner; NULL: all. */
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

struct arena *device_arena(unsigned device)
{
	return atomic_load_explicit(&space.device[device],
				    memory_order_acquire);
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

int gkf_space_alloc(const struct gkf_memory_ask *ask, uint64_t *ret_address)
{
	struct arena *a;
	bool on_device;

	if (!ask->size || (ask->align & (ask->align - 1)) ||
	    ask->align > BLOCK_SIZE)
		return GK_ERR_INVALID;
	if (ask->kind == GKF_MEMORY_REGISTERED)
		return registered_add(ask, ret_address);
	on_device =
	    ask->kind == GKF_MEMORY_DEVICE || ask->kind == GKF_MEMORY_PHYSICAL;
	a = on_device ? open_arena(ask->device) : common_arena(ask->kind);
	if (!a)
		return on_device ? GK_ERR_NOT_FOUND : GK_ERR_NOMEM;
	return arena_alloc(ask->pool ? ask->pool : &a->pool, ask, ret_address);
}

/* The arena that has an address, whether or not anything is alive there. */
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

/* Of a stretch of mapped memory: its words for owner and pool say who may. */
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
	map_forget();
	share_forget();
}

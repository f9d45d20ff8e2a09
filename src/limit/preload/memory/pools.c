/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.c - owns the table of pools: those of stream-ordered memory, and the
 * memory of graphs. A pool is charged for all that it has reserved, used or
 * not, as the driver reports it.
 */
#include "base/assert.h"
#include "limit/preload/memory/hook.h"

/* ---- what the driver says ---- */

static bool read_pool(CUmemoryPool pool, CUmemPool_attribute attr,
		      uint64_t *ret_value)
{
	return REAL(cuMemPoolGetAttribute) &&
	       !REAL(cuMemPoolGetAttribute)(pool, attr, ret_value);
}

static bool read_graphs(CUdevice ordinal, CUgraphMem_attribute attr,
			uint64_t *ret_value)
{
	return REAL(cuDeviceGetGraphMemAttribute) &&
	       !REAL(cuDeviceGetGraphMemAttribute)(ordinal, attr, ret_value);
}

bool pool_reserved(const struct memory_pool *p, uint64_t *ret_bytes)
{
	return p->handle
		   ? read_pool(p->handle, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
			       ret_bytes)
		   : read_graphs(p->ordinal,
				 CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
				 ret_bytes);
}

bool pool_usage(const struct memory_pool *p, uint64_t *ret_reserved,
		uint64_t *ret_used)
{
	return pool_reserved(p, ret_reserved) &&
	       (p->handle
		    ? read_pool(p->handle, CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
				ret_used)
		    : read_graphs(p->ordinal,
				  CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
				  ret_used));
}

enum gkl_kind pool_kind(const struct memory_pool *p)
{
	return p->handle ? GKL_POOL : GKL_GRAPH;
}

/* ---- the table ---- */

/* Never 0, and distinct from handles, which are addresses of the host. */
static uint64_t key_of(CUmemoryPool handle, CUdevice ordinal)
{
	return handle ? (uintptr_t)handle : (uint64_t)ordinal + 1;
}

/* The caller holds s->pools. There always is a free entry for graphs' pools. */
static struct memory_pool *take_place(struct memory_state *s,
				      CUmemoryPool handle)
{
	unsigned max = handle ? POOLS_MAX : POOLS_MAX + PRIMARIES;
	unsigned count = atomic_load(&s->pool_count), i = 0;

	GK_ASSERT(gk_lock_held(&s->pools));
	while (i < count && s->pool[i].used)
		i++;
	if (i >= max)
		return NULL;
	if (i == count)
		atomic_store(&s->pool_count, count + 1);
	return &s->pool[i];
}

static struct memory_pool *note_pool(struct memory_state *s,
				     CUmemoryPool handle, CUdevice ordinal)
{
	struct memory_pool *p = take_place(s, handle);
	struct table_row row = {.key = key_of(handle, ordinal)};

	GK_ASSERT(gk_lock_held(&s->pools));
	if (!p)
		return NULL;
	row.word = (uint32_t)(p - s->pool);
	if (!table_put(&s->pool_of, &row))
		return NULL;
	*p = (struct memory_pool){.used = true,
				  .handle = handle,
				  .ordinal = ordinal,
				  .device = limited_device(ordinal)};
	return p;
}

struct memory_pool *pool_find(CUmemoryPool handle, CUdevice ordinal)
{
	struct memory_state *s = memory_state();
	uint64_t key = key_of(handle, ordinal);
	struct memory_pool *p;
	struct table_row row;

	if (!s)
		return NULL;
	if (table_find(&s->pool_of, key, &row))
		return &s->pool[row.word];
	pthread_mutex_lock(&s->pools);
	p = table_find(&s->pool_of, key, &row) ? &s->pool[row.word]
					       : note_pool(s, handle, ordinal);
	pthread_mutex_unlock(&s->pools);
	return p;
}

bool graphs_allocate(void)
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct table_row row;

	for (CUdevice ordinal = 0; s && ordinal < PRIMARIES; ordinal++)
		if (table_find(&s->pool_of, key_of(NULL, ordinal), &row))
			return true;
	return false;
}

int pool_forget(struct memory_state *s, CUmemoryPool handle)
{
	struct table_row row;
	struct memory_pool *p;
	int device;

	GK_ASSERT(gk_lock_held(&s->pools));
	if (!table_take(&s->pool_of, key_of(handle, 0), &row))
		return LIMITED_NONE;
	p = &s->pool[row.word];
	device = p->device;
	if (device >= 0)
		memory_doubt(device, GKL_POOL, p->charged);
	*p = (struct memory_pool){.used = false};
	return device;
}

/* ---- settling ---- */

/*
 * Charges a pool. While calls are in progress, reserved bytes beyond the charge
 * are these calls' pending memory.
 */
void pool_settle(struct memory_pool *p, uint64_t reserved)
{
	uint64_t more = reserved > p->charged ? reserved - p->charged : 0;

	GK_ASSERT(gk_lock_held(&memory_state()->pools));
	if (reserved < p->charged) {
		memory_give(p->device, pool_kind(p), p->charged - reserved);
		p->charged = reserved;
	} else if (more && !p->calls) {
		settle_charge(p->device, pool_kind(p), more);
		gate_count(&memory_state()->gate, p->device, (int64_t)more);
		p->charged = reserved;
	}
}

/* Calls `f` with each pool of a device, and sums the results. */
static uint64_t each_pool(int device, uint64_t (*f)(struct memory_pool *p))
{
	struct memory_state *s = memory_state();
	unsigned count = s ? atomic_load(&s->pool_count) : 0;
	uint64_t sum = 0;

	if (!count)
		return 0;
	pthread_mutex_lock(&s->pools);
	for (unsigned i = 0; i < count; i++)
		if (s->pool[i].used && s->pool[i].device == device)
			sum += f(&s->pool[i]);
	pthread_mutex_unlock(&s->pools);
	return sum;
}

static uint64_t settle_one(struct memory_pool *p)
{
	uint64_t reserved;

	if (pool_reserved(p, &reserved))
		pool_settle(p, reserved);
	return p->charged;
}

uint64_t pools_settle(int device)
{
	return each_pool(device, settle_one);
}

/* Gives back a pool's unused reserve, except what calls in progress rely on. */
static uint64_t trim_one(struct memory_pool *p)
{
	if (p->handle)
		REAL(cuMemPoolTrimTo)(p->handle, 0);
	else if (!p->claimed)
		REAL(cuDeviceGraphMemTrim)(p->ordinal);
	return settle_one(p);
}

void pools_trim(int device)
{
	memory_enter();
	each_pool(device, trim_one);
	memory_leave();
}

/*
 * The memory of a destroyed pool is measured, because the driver no longer
 * reports it while pieces of the pool are still in use.
 */
void pool_piece_gone(const struct table_row *row)
{
	struct table_row pool;
	bool ended = !table_find(&memory_state()->pool_of, row->owner, &pool);

	memory_expect(row->device, ended ? 2 : 0);
}

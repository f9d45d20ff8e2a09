/*
 * pools.c - pools of memory in the order of streams, and the memory of graphs:
 * what they have in reserve is charged, used or not, as the driver says.
 */
#include "limit/preload/hook.h"

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

static bool read_reserved(const struct memory_pool *p, uint64_t *ret_bytes)
{
	return p->handle
		   ? read_pool(p->handle, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
			       ret_bytes)
		   : read_graphs(p->ordinal,
				 CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
				 ret_bytes);
}

static bool read_usage(const struct memory_pool *p, uint64_t *ret_reserved,
		       uint64_t *ret_used)
{
	return read_reserved(p, ret_reserved) &&
	       (p->handle
		    ? read_pool(p->handle, CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
				ret_used)
		    : read_graphs(p->ordinal,
				  CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
				  ret_used));
}

static enum gkl_kind kind_of(const struct memory_pool *p)
{
	return p->handle ? GKL_POOL : GKL_GRAPH;
}

/* ---- which there are ---- */

/* Never 0, and no handle: handles are addresses of the host. */
static uint64_t key_of(CUmemoryPool handle, CUdevice ordinal)
{
	return handle ? (uintptr_t)handle : (uint64_t)ordinal + 1;
}

/* The lock is held. What graphs allocate always has a place. */
static struct memory_pool *take_place(struct memory_state *s,
				      CUmemoryPool handle)
{
	unsigned max = handle ? POOLS_MAX : POOLS_MAX + PRIMARIES;
	unsigned count = atomic_load(&s->pool_count), i = 0;

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

	if (!s)
		return false;
	for (unsigned i = 0, n = atomic_load(&s->pool_count); i < n; i++)
		if (s->pool[i].used && !s->pool[i].handle)
			return true;
	return false;
}

/* The lock is held. */
static int forget_pool(struct memory_state *s, CUmemoryPool handle)
{
	struct table_row row;
	struct memory_pool *p;
	int device;

	if (!table_take(&s->pool_of, key_of(handle, 0), &row))
		return LIMITED_NONE;
	p = &s->pool[row.word];
	device = p->device;
	if (device >= 0)
		memory_doubt(device, GKL_POOL, p->charged);
	*p = (struct memory_pool){.used = false};
	return device;
}

/* Under the lock, so that nobody asks a pool that has ended. */
CUresult pool_destroy(CUmemoryPool handle)
{
	struct memory_state *s = memory_state();
	int device = LIMITED_NONE;
	CUresult r;

	if (!s)
		return REAL(cuMemPoolDestroy)(handle);
	memory_enter();
	pthread_mutex_lock(&s->pools);
	r = REAL(cuMemPoolDestroy)(handle);
	if (!r && handle)
		device = forget_pool(s, handle);
	pthread_mutex_unlock(&s->pools);
	memory_leave();
	memory_refresh(device);
	return r;
}

/* ---- settling ---- */

/*
 * The lock is held. More than is charged, while calls are under way, is what
 * these have pending.
 */
static void settle_pool(struct memory_pool *p, uint64_t reserved)
{
	uint64_t more = reserved > p->charged ? reserved - p->charged : 0;

	if (reserved < p->charged) {
		memory_give(p->device, kind_of(p), p->charged - reserved);
		p->charged = reserved;
	} else if (more && !p->calls) {
		ledger_charge(p->device, kind_of(p), more);
		gate_count(&memory_state()->gate, p->device, (int64_t)more);
		p->charged = reserved;
	}
}

/* Calls `f` with each pool of a device, and adds up. */
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

	if (read_reserved(p, &reserved))
		settle_pool(p, reserved);
	return p->charged;
}

uint64_t pools_settle(int device)
{
	return each_pool(device, settle_one);
}

/* What calls under way count on stays. */
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

/* ---- calls ---- */

static void count_call(struct memory_pool *pool, int change)
{
	struct memory_state *s = memory_state();

	pthread_mutex_lock(&s->pools);
	pool->calls += (unsigned)change;
	pthread_mutex_unlock(&s->pools);
}

CUresult pool_begin(struct memory_call *ret_call, struct memory_pool *pool,
		    uint64_t most)
{
	CUresult r;

	count_call(pool, 1);
	r = memory_try(ret_call, pool->device, kind_of(pool), most);
	if (r || ret_call->device < 0)
		count_call(pool, -1);
	return r;
}

void pool_end(struct memory_call *call, struct memory_pool *pool)
{
	struct memory_state *s = memory_state();
	uint64_t reserved, taken = 0;

	if (call->device < 0)
		return;
	pthread_mutex_lock(&s->pools);
	pool->calls--;
	if (!read_reserved(pool, &reserved))
		reserved = pool->charged + call->pending;
	if (reserved > pool->charged) {
		taken = reserved - pool->charged;
		if (pool->calls && taken > call->pending)
			taken = call->pending;
		pool->charged += taken;
	} else {
		settle_pool(pool, reserved);
	}
	pthread_mutex_unlock(&s->pools);
	memory_end(call, taken);
}

uint64_t pool_claim_idle(struct memory_pool *pool, uint64_t bytes)
{
	struct memory_state *s = memory_state();
	uint64_t reserved, used, idle = 0;

	pthread_mutex_lock(&s->pools);
	if (read_usage(pool, &reserved, &used) &&
	    reserved > used + pool->claimed)
		idle = reserved - used - pool->claimed;
	idle = idle < bytes ? idle : bytes;
	pool->claimed += idle;
	pthread_mutex_unlock(&s->pools);
	return idle;
}

void pool_unclaim(struct memory_pool *pool, uint64_t bytes)
{
	struct memory_state *s = memory_state();

	pthread_mutex_lock(&s->pools);
	pool->claimed -= bytes;
	pthread_mutex_unlock(&s->pools);
}

/* A pool that ended keeps its pieces: what they have is measured. */
void pool_piece_gone(const struct table_row *row)
{
	struct table_row pool;
	bool ended = !table_find(&memory_state()->pool_of, row->owner, &pool);

	memory_expect(row->device, ended ? 2 : 0);
}

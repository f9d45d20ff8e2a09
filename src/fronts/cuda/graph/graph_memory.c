/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_memory.c - owns the memory that nodes allocate and free. Memory gets
 * its address when the node that allocates it is created, and is charged as
 * long as a graph or instance refers to it. Whether it is in use depends on the
 * launches and frees so far, in the order of the calls.
 */
#include "fronts/cuda/graph/graph_later.h"
#include "base/assert.h"
#include "fronts/cuda/graph/graph_kind.h"
#include "fronts/cuda/graph/graph_memory.h"
#include "fronts/cuda/memory/mem_pool.h"
#include "fronts/cuda/stream/stream_private.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

struct graph_memory {
	CUdeviceptr at;
	/* the piece's id, to detect that the piece no longer exists */
	uint64_t id;
	size_t size;
	CUdevice device;
	unsigned holders;  /* number of nodes that allocate or free it */
	bool is_live;      /* allocated by a launch and not freed since */
	bool freed_inside; /* freed by a node of the same graph */
	/* number of nodes of other graphs that free it */
	unsigned freed_outside;
	CUgraph graph; /* the graph that allocates it */
	uint64_t graph_life;
	struct gkf_ticket freed;
	CUmemAccessDesc *access;
	struct graph_memory *next, **place;
};

static struct graph_memory *memories;
static _Atomic unsigned memory_count;

/* Memory that no graph refers to any more, but that a stream may still use. */
static struct {
	pthread_mutex_t lock;
	struct graph_memory *first;
} leaving = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Bytes in use, by device. */
static struct {
	uint64_t used, used_high;
} usage[GKF_DEVICES_MAX];

static bool is_there(const struct graph_memory *m, struct gkf_extent *ret_piece)
{
	return gkf_space_find(m->at, ret_piece) && ret_piece->id == m->id;
}

static struct graph_memory *find_memory(CUdeviceptr at)
{
	struct graph_memory *m = memories;
	struct gkf_extent e;

	while (m && (m->at != at || !is_there(m, &e)))
		m = m->next;
	return m;
}

/* ---- making and freeing ---- */

static void link_memory(struct graph_memory **list, struct graph_memory *m)
{
	m->next = *list;
	m->place = list;
	if (m->next)
		m->next->place = &m->next;
	*list = m;
}

static void unlink_memory(struct graph_memory *m)
{
	*m->place = m->next;
	if (m->next)
		m->next->place = m->place;
}

static void give_bytes(const struct graph_memory *m)
{
	struct gkf_extent e;

	if (is_there(m, &e))
		memory_free(&e);
}

static void forget_memory(struct graph_memory *m)
{
	free(m->access);
	free(m);
}

static void free_later(void *data)
{
	struct graph_memory *m = data;

	pthread_mutex_lock(&leaving.lock);
	unlink_memory(m);
	give_bytes(m);
	pthread_mutex_unlock(&leaving.lock);
	forget_memory(m);
}

/*
 * Frees the memory that streams have finished using, so that a trim right after
 * a synchronization returns it to the device.
 */
static void free_what_is_done(void)
{
	pthread_mutex_lock(&leaving.lock);
	for (struct graph_memory *m = leaving.first; m; m = m->next)
		if (gkf_ticket_done(m->freed))
			give_bytes(m);
	pthread_mutex_unlock(&leaving.lock);
}

/* Frees memory that no graph uses, at once or after the streams that use it. */
static void drop_if_idle(struct graph_memory *m)
{
	if (m->holders || m->is_live)
		return;
	unlink_memory(m);
	atomic_fetch_sub(&memory_count, 1);
	if (gkf_ticket_done(m->freed)) {
		give_bytes(m);
		forget_memory(m);
		return;
	}
	pthread_mutex_lock(&leaving.lock);
	link_memory(&leaving.first, m);
	pthread_mutex_unlock(&leaving.lock);
	graph_later_call(m->freed, free_later, m);
}

static void use_memory(struct graph_memory *m, bool live)
{
	uint64_t *used = &usage[m->device].used;

	if (live == m->is_live)
		return;
	m->is_live = live;
	*used = live ? *used + m->size : *used - m->size;
	if (*used > usage[m->device].used_high)
		usage[m->device].used_high = *used;
}

static bool is_pool_sound(const CUmemPoolProps *p)
{
	return p->allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
	       p->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
	       front_device(p->location.id) &&
	       p->handleTypes == CU_MEM_HANDLE_TYPE_NONE;
}

static bool is_access_sound(const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p)
{
	if (p->accessDescCount && !p->accessDescs)
		return false;
	for (size_t i = 0; i < p->accessDescCount; i++)
		if (p->accessDescs[i].location.type !=
			CU_MEM_LOCATION_TYPE_DEVICE ||
		    !front_device(p->accessDescs[i].location.id))
			return false;
	return true;
}

static CUmemAccessDesc *copy_access(const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p)
{
	CUmemAccessDesc *copy = calloc(p->accessDescCount + 1, sizeof(*copy));

	for (size_t i = 0; copy && i < p->accessDescCount; i++)
		copy[i] = p->accessDescs[i];
	return copy;
}

static CUresult new_memory(const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p,
			   struct graph_memory **ret_memory)
{
	struct graph_memory *m = calloc(1, sizeof(*m));
	struct gkf_extent e = {0};
	CUmemoryPool pool;
	CUresult r;

	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	m->size = p->bytesize;
	m->device = p->poolProps.location.id;
	m->access = copy_access(p);
	r = m->access ? pool_of_graphs(m->device, &pool)
		      : CUDA_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; !r && i < p->accessDescCount; i++)
		pool_share(pool, p->accessDescs[i].location.id);
	if (!r)
		r = pool_alloc(pool, m->size, 0, &m->at);
	if (r) {
		free(m->access);
		free(m);
		return r;
	}
	gkf_space_find(m->at, &e);
	m->id = e.id;
	link_memory(&memories, m);
	atomic_fetch_add(&memory_count, 1);
	*ret_memory = m;
	return CUDA_SUCCESS;
}

/* ---- nodes ---- */

CUresult alloc_node_take(CUgraphNode node, CUgraphNodeParams *given)
{
	CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p = &given->alloc;
	struct graph_memory *m;
	CUresult r;

	if (!is_pool_sound(&p->poolProps) || !is_access_sound(p) ||
	    !p->bytesize)
		return CUDA_ERROR_INVALID_VALUE;
	r = new_memory(p, &m);
	if (r)
		return r;
	m->holders = 1;
	m->graph = graph_root(node->graph);
	m->graph_life = handle_life(m->graph);
	p->dptr = m->at;
	node->params.alloc = *p;
	node->params.alloc.accessDescs = p->accessDescCount ? m->access : NULL;
	node->own = m;
	return CUDA_SUCCESS;
}

CUresult alloc_node_copy(CUgraphNode node, CUgraphNode from)
{
	node->params.alloc = from->params.alloc;
	node->own = from->own;
	((struct graph_memory *)node->own)->holders++;
	return CUDA_SUCCESS;
}

void alloc_node_drop(CUgraphNode node)
{
	struct graph_memory *m = node->own;

	m->holders--;
	drop_if_idle(m);
}

void alloc_node_print(CUgraphNode node, FILE *file)
{
	fprintf(file, "|{dptr|%#" PRIx64 "}|{bytes|%zu}",
		(uint64_t)node->params.alloc.dptr, node->params.alloc.bytesize);
}

/*
 * A node of the allocating graph may free the memory, or nodes of other graphs
 * may, but not both.
 */
CUresult free_node_take(CUgraphNode node, CUgraphNodeParams *given)
{
	struct graph_memory *m = find_memory(given->free.dptr);
	bool inside = m && handle_life(m->graph) == m->graph_life &&
		      graph_root(node->graph) == graph_root(m->graph);

	if (!m || m->freed_inside || (inside && m->freed_outside))
		return CUDA_ERROR_INVALID_VALUE;
	m->freed_inside = inside;
	m->freed_outside += !inside;
	m->holders++;
	node->params.free = given->free;
	node->own = m;
	return CUDA_SUCCESS;
}

CUresult free_node_copy(CUgraphNode node, CUgraphNode from)
{
	node->params.free = from->params.free;
	node->own = from->own;
	((struct graph_memory *)node->own)->holders++;
	return CUDA_SUCCESS;
}

void free_node_drop(CUgraphNode node)
{
	struct graph_memory *m = node->own;

	if (!graph_root(node->graph)->is_exec && !m->freed_inside)
		m->freed_outside--;
	m->holders--;
	drop_if_idle(m);
}

void free_node_print(CUgraphNode node, FILE *file)
{
	fprintf(file, "|{dptr|%#" PRIx64 "}", (uint64_t)node->params.free.dptr);
}

/* ---- launches ---- */

static bool is_alloc(CUgraphNode node)
{
	return node->params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
}

static bool is_free(CUgraphNode node)
{
	return node->params.type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

static bool is_part(CUgraphNode node)
{
	return node->params.type == CU_GRAPH_NODE_TYPE_GRAPH;
}

CUresult graph_memory_check_launch(CUgraph graph, cuuint64_t flags)
{
	bool freed_first =
	    flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
	CUresult r = CUDA_SUCCESS;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!graph->has_memory)
		return r;
	for (CUgraphNode n = graph->first; !r && n; n = n->next) {
		const struct graph_memory *m = n->own;

		if (is_part(n))
			r = graph_memory_check_launch(n->params.graph.graph,
						      flags);
		else if ((is_alloc(n) && m->is_live && !freed_first) ||
			 (is_free(n) && !m->is_live && !m->freed_inside))
			r = CUDA_ERROR_INVALID_VALUE;
	}
	return r;
}

static void use_by_nodes(CUgraph graph, bool (*which)(CUgraphNode node),
			 bool live)
{
	for (CUgraphNode n = graph->first; n; n = n->next) {
		if (is_part(n))
			use_by_nodes(n->params.graph.graph, which, live);
		else if (which(n))
			use_memory(n->own, live);
	}
}

void graph_memory_launch(CUgraph graph)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!graph->has_memory)
		return;
	use_by_nodes(graph, is_alloc, true);
	use_by_nodes(graph, is_free, false);
}

/* ---- frees outside of graphs ---- */

static CUresult free_live(CUdeviceptr at, struct gkf_ticket after)
{
	struct graph_memory *m = find_memory(at);

	if (!m)
		return CUDA_ERROR_NOT_FOUND;
	if (!m->is_live)
		return CUDA_ERROR_INVALID_VALUE;
	m->freed = after;
	use_memory(m, false);
	drop_if_idle(m);
	return CUDA_SUCCESS;
}

bool graph_memory_free(CUdeviceptr at, struct gkf_ticket after,
		       CUresult *ret_result)
{
	CUresult r;

	if (!atomic_load_explicit(&memory_count, memory_order_relaxed))
		return false;
	r = GRAPH_LOCKED(free_live(at, after));
	if (r == CUDA_ERROR_NOT_FOUND)
		return false;
	*ret_result = r;
	return true;
}

/* ---- queries ---- */

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
	CUmemoryPool pool;
	CUresult r;

	ENTER(cuDeviceGraphMemTrim);
	if (!front_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	r = pool_of_graphs(device, &pool);
	if (r)
		return r;
	free_what_is_done();
	pool_trim_all(pool);
	return CUDA_SUCCESS;
}

static CUresult get_usage(CUdevice device, CUgraphMem_attribute attr,
			  uint64_t *ret_value)
{
	struct gkf_mem_pool_usage pool_usage;
	CUmemoryPool pool;
	CUresult r = pool_of_graphs(device, &pool);

	if (r)
		return r;
	pool_usage = pool_read(pool);
	switch (attr) {
	case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
		*ret_value = usage[device].used;
		break;
	case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
		*ret_value = usage[device].used_high;
		break;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
		*ret_value = pool_usage.reserved;
		break;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		*ret_value = pool_usage.reserved_high;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device,
				      CUgraphMem_attribute attr, void *value)
{
	ENTER(cuDeviceGetGraphMemAttribute);
	if (!front_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	return GRAPH_LOCKED(get_usage(device, attr, value));
}

/* Only high-water marks can be set, and only to 0. */
static CUresult reset_usage(CUdevice device, CUgraphMem_attribute attr,
			    uint64_t value)
{
	CUmemoryPool pool;
	CUresult r;

	if (value || (attr != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH &&
		      attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
		return CUDA_ERROR_INVALID_VALUE;
	r = pool_of_graphs(device, &pool);
	if (r)
		return r;
	if (attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
		usage[device].used_high = usage[device].used;
	else
		pool_reset(pool);
	return CUDA_SUCCESS;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device,
				      CUgraphMem_attribute attr, void *value)
{
	ENTER(cuDeviceSetGraphMemAttribute);
	if (!front_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	return GRAPH_LOCKED(
	    reset_usage(device, attr, *(const uint64_t *)value));
}

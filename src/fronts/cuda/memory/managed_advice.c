/* SPDX-License-Identifier: Apache-2.0 */
/* managed_advice.c - cuMemAdvise, cuMemPrefetchAsync and similar functions. */
#include "base/calls.h"
#include "fronts/cuda/memory/copy.h"
#include "fronts/cuda/memory/managed.h"

#include <sched.h>

/* Returns the location that a CUdevice stands for: a device, or the host. */
static CUmemLocation location_of(CUdevice device)
{
	return device == CU_DEVICE_CPU
		   ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
		   : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

/*
 * Checks a location and normalises it: the host's id becomes 0, and the current
 * NUMA node is replaced by its number.
 */
static CUresult check_location(CUmemLocation *l)
{
	unsigned node = 0;

	switch (l->type) {
	case CU_MEM_LOCATION_TYPE_DEVICE:
		return front_device(l->id) ? CUDA_SUCCESS
					   : CUDA_ERROR_INVALID_DEVICE;
	case CU_MEM_LOCATION_TYPE_HOST_NUMA:
		return l->id < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
	case CU_MEM_LOCATION_TYPE_HOST:
		l->id = 0;
		return CUDA_SUCCESS;
	case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		syscall(SYS_getcpu, NULL, &node, NULL);
		l->type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
		l->id = (int)node;
		return CUDA_SUCCESS;
	case CU_MEM_LOCATION_TYPE_INVALID:
	case CU_MEM_LOCATION_TYPE_MAX:
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

struct asked {
	CUmem_advise advice;
	CUmemLocation location;
};

static void note_access(struct memory_advice *a, const CUmemLocation *l,
			bool on)
{
	uint64_t bit = 1ULL << (l->id & 63);

	if (l->type != CU_MEM_LOCATION_TYPE_DEVICE)
		a->accessed_by_host = on;
	else
		a->accessed_by =
		    on ? a->accessed_by | bit : a->accessed_by & ~bit;
}

static void apply_advice(struct memory_advice *a, const void *data)
{
	const struct asked *asked = data;

	switch (asked->advice) {
	case CU_MEM_ADVISE_SET_READ_MOSTLY:
	case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
		a->read_mostly = asked->advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
		break;
	case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
		a->preferred = asked->location;
		break;
	case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
		a->preferred = (CUmemLocation){CU_MEM_LOCATION_TYPE_INVALID, 0};
		break;
	case CU_MEM_ADVISE_SET_ACCESSED_BY:
	case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
	default:
		note_access(a, &asked->location,
			    asked->advice == CU_MEM_ADVISE_SET_ACCESSED_BY);
		break;
	}
}

/* Whether this kind of advice uses the location. */
static bool has_location(CUmem_advise advice)
{
	return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
	       advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
	       advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

static CUresult advise_range(CUdeviceptr at, size_t count, struct asked asked)
{
	struct managed_range range;
	CUresult r;

	if (asked.advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
	    asked.advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
		return CUDA_ERROR_INVALID_VALUE;
	r = managed_range(at, count, &range);
	if (!r && has_location(asked.advice))
		r = check_location(&asked.location);
	if (!r &&
	    (asked.advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
	     asked.advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY) &&
	    asked.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA)
		/* ACCESSED_BY accepts no NUMA node */
		r = CUDA_ERROR_INVALID_VALUE;
	return r ? r : managed_change(&range, apply_advice, &asked);
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
		     CUdevice device)
{
	ENTER_CONTEXT(cuMemAdvise, ctx);
	return advise_range(devPtr, count,
			    (struct asked){advice, location_of(device)});
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
			CUmemLocation location)
{
	ENTER_CONTEXT(cuMemAdvise_v2, ctx);
	return advise_range(devPtr, count, (struct asked){advice, location});
}

/* ---- prefetching ---- */

static void note_prefetch(struct memory_advice *a, const void *data)
{
	a->prefetched = *(const CUmemLocation *)data;
}

/* Moves pages when the stream reaches the task. */
struct move_task {
	struct gkf_task task;
	uint64_t at, size;
	unsigned device; /* index among the machine's GPUs, or GKF_SPACE_HOST */
};

static int run_move(struct gkf_task *task)
{
	const struct move_task *t = (const struct move_task *)task;

	gkf_space_move(t->at, t->size, t->device);
	return CUDA_SUCCESS;
}

static CUresult move_range(const struct way *w,
			   const struct managed_range *range,
			   const CUmemLocation *to)
{
	struct move_task *t = gkf_task_new(sizeof(*t));

	if (!t)
		return CUDA_ERROR_OUT_OF_MEMORY;
	t->task.run = run_move;
	t->task.work = GKF_WORK_NONE;
	t->at = range->piece.base + range->from;
	t->size = range->to - range->from;
	t->device = to->type == CU_MEM_LOCATION_TYPE_DEVICE
			? front_device(to->id)->index
			: GKF_SPACE_HOST;
	return stream_submit(w->ctx, w->stream, w->per_thread, &t->task);
}

static CUresult prefetch_range(const struct way *w, CUdeviceptr at,
			       size_t count, CUmemLocation location)
{
	struct managed_range range;
	CUresult r = managed_range(at, count, &range);

	if (!r)
		r = check_location(&location);
	if (!r)
		r = managed_change(&range, note_prefetch, &location);
	return r ? r : move_range(w, &range, &location);
}

static CUresult enter_stream(enum cuda_row row, struct way *w)
{
	CUresult r = copy_enter(row, w);

	return r ? r : stream_check(w->ctx, w->stream, w->per_thread);
}

BOTH_STREAMS(cuMemPrefetchAsync, _ptsz,
	     (CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
	      CUstream hStream),
	     (devPtr, count, dstDevice, hStream))
{
	struct way w = {.stream = hStream, .per_thread = per_thread};
	CUresult r = enter_stream(row, &w);

	return r ? r
		 : prefetch_range(&w, devPtr, count, location_of(dstDevice));
}

BOTH_STREAMS(cuMemPrefetchAsync_v2, _ptsz,
	     (CUdeviceptr devPtr, size_t count, CUmemLocation location,
	      unsigned int flags, CUstream hStream),
	     (devPtr, count, location, flags, hStream))
{
	struct way w = {.stream = hStream, .per_thread = per_thread};
	CUresult r = enter_stream(row, &w);

	if (!r && flags)
		r = CUDA_ERROR_INVALID_VALUE;
	return r ? r : prefetch_range(&w, devPtr, count, location);
}

/* ---- batches ---- */

/*
 * A batch of ranges. location[i] applies to the ranges from index from[i] on;
 * from[0] is 0.
 */
struct batch {
	const CUdeviceptr *at;
	const size_t *size;
	size_t count;
	const CUmemLocation *location; /* NULL: no locations */
	const size_t *from;
	size_t locations;
};

static bool is_ordered(const struct batch *b)
{
	if (!b->location || !b->from || !b->locations ||
	    b->locations > b->count || b->from[0])
		return false;
	for (size_t i = 1; i < b->locations; i++)
		if (b->from[i] <= b->from[i - 1] || b->from[i] >= b->count)
			return false;
	return true;
}

static CUresult check_batch(const struct batch *b, bool fetches)
{
	struct managed_range range;
	CUresult r = CUDA_SUCCESS;

	if (!b->at || !b->size || !b->count || (fetches && !is_ordered(b)))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; !r && i < b->count; i++)
		r = managed_range(b->at[i], b->size[i], &range);
	for (size_t i = 0; !r && fetches && i < b->locations; i++)
		r = check_location(
		    &(CUmemLocation){b->location[i].type, b->location[i].id});
	return r;
}

static CUresult run_prefetch_batch(enum cuda_row row, bool per_thread,
				   CUstream stream, const struct batch *b,
				   bool fetches, unsigned long long flags)
{
	struct way w = {.stream = stream, .per_thread = per_thread};
	CUresult r = copy_enter_batch(row, &w);
	size_t place = 0;

	if (!r && flags)
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		r = check_batch(b, fetches);
	for (size_t i = 0; !r && fetches && i < b->count; i++) {
		if (place + 1 < b->locations && b->from[place + 1] == i)
			place++;
		r = prefetch_range(&w, b->at[i], b->size[i],
				   b->location[place]);
	}
	return r;
}

/*
 * The contents of discarded memory are undefined, so the old bytes may remain.
 */
BOTH_STREAMS(cuMemDiscardBatchAsync, _ptsz,
	     (CUdeviceptr * dptrs, size_t *sizes, size_t count,
	      unsigned long long flags, CUstream hStream),
	     (dptrs, sizes, count, flags, hStream))
{
	const struct batch b = {.at = dptrs, .size = sizes, .count = count};

	return run_prefetch_batch(row, per_thread, hStream, &b, false, flags);
}

/* FETCH(symbol) defines one of the two batch functions that prefetch. */
#define FETCH_PARAMS                                                           \
	CUdeviceptr *dptrs, size_t *sizes, size_t count,                       \
	    CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,              \
	    size_t numPrefetchLocs, unsigned long long flags, CUstream hStream
#define FETCH(symbol)                                                          \
	BOTH_STREAMS(symbol, _ptsz, (FETCH_PARAMS),                            \
		     (dptrs, sizes, count, prefetchLocs, prefetchLocIdxs,      \
		      numPrefetchLocs, flags, hStream))                        \
	{                                                                      \
		const struct batch b = {dptrs,           sizes,                \
					count,           prefetchLocs,         \
					prefetchLocIdxs, numPrefetchLocs};     \
                                                                               \
		return run_prefetch_batch(row, per_thread, hStream, &b, true,  \
					  flags);                              \
	}

FETCH(cuMemPrefetchBatchAsync)
FETCH(cuMemDiscardAndPrefetchBatchAsync)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed.c - managed memory: pages shared by host and device. Here the bytes
 * never move: advice only changes what is reported, and prefetching also
 * changes which device is charged.
 */
#include "base/err.h"
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/memory/managed.h"
#include "fronts/cuda/stream/stream.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096ULL

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize,
			   unsigned int flags)
{
	struct gkf_memory_ask ask = {
	    .kind = GKF_MEMORY_MANAGED, .size = bytesize, .flags = flags};
	uint64_t address;
	int error;

	ENTER_CONTEXT(cuMemAllocManaged, ctx);
	if (!dptr || !bytesize ||
	    (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
		return CUDA_ERROR_INVALID_VALUE;
	ask.device = ctx->device->index;
	ask.owner = ctx;
	error = memory_fault(ctx->device) ? GK_ERR_NO_SPACE
					  : gkf_space_alloc(&ask, &address);
	if (error)
		return memory_error(error);
	*dptr = address;
	return CUDA_SUCCESS;
}

BOTH_STREAMS(cuStreamAttachMemAsync, _ptsz,
	     (CUstream hStream, CUdeviceptr dptr, size_t length,
	      unsigned int flags),
	     (hStream, dptr, length, flags))
{
	struct gkf_extent e;
	CUcontext ctx;
	CUresult r = front_enter_context(row, &ctx);

	if (!r)
		r = capture_permit_stream(ctx, hStream, per_thread);
	if (r)
		return r;
	if (!memory_base(dptr, MEMORY_BIT(GKF_MEMORY_MANAGED), &e) ||
	    (length && length != e.size))
		return CUDA_ERROR_INVALID_VALUE;
	switch (flags) {
	case CU_MEM_ATTACH_GLOBAL:
	case CU_MEM_ATTACH_HOST:
		return CUDA_SUCCESS;
	case CU_MEM_ATTACH_SINGLE:
		return !hStream || hStream == CU_STREAM_LEGACY ||
			       hStream == CU_STREAM_PER_THREAD
			   ? CUDA_ERROR_INVALID_VALUE
			   : CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* ---- stretches ---- */

CUresult managed_range(CUdeviceptr at, size_t count, struct managed_range *ret)
{
	struct gkf_extent e;
	uint64_t from, to;

	if (!count || !gkf_space_find(at, &e) || e.kind != GKF_MEMORY_MANAGED ||
	    count > e.size - (at - e.base))
		return CUDA_ERROR_INVALID_VALUE;
	from = at & -PAGE;
	to = (at + count + PAGE - 1) & -PAGE;
	ret->piece = e;
	ret->from = from > e.base ? from - e.base : 0;
	ret->to = to - e.base < e.size ? to - e.base : e.size;
	return CUDA_SUCCESS;
}

static const struct memory_advice no_advice;

/* Splits the stretch that contains `at`, so that a stretch starts there. */
static bool cut_stretch(struct memory_tag *n, uint64_t at)
{
	struct memory_stretch *more;
	unsigned i = 0;

	while (i < n->count && n->stretch[i].end < at)
		i++;
	if (!at || i == n->count || n->stretch[i].end == at)
		return true;
	more = realloc(n->stretch, (n->count + 1) * sizeof(*more));
	if (!more)
		return false;
	n->stretch = more;
	memmove(&more[i + 1], &more[i], (n->count - i) * sizeof(*more));
	more[i].end = at;
	n->count++;
	return true;
}

static bool is_same_location(CUmemLocation a, CUmemLocation b)
{
	return a.type == b.type && a.id == b.id;
}

static bool has_same_advice(const struct memory_stretch *a,
			    const struct memory_stretch *b)
{
	const struct memory_advice *x = &a->advice, *y = &b->advice;

	return x->read_mostly == y->read_mostly &&
	       x->accessed_by_host == y->accessed_by_host &&
	       x->accessed_by == y->accessed_by &&
	       is_same_location(x->preferred, y->preferred) &&
	       is_same_location(x->prefetched, y->prefetched);
}

/* Joins adjacent stretches that have the same advice. */
static void join_stretches(struct memory_tag *n)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n->count; i++)
		if (kept &&
		    has_same_advice(&n->stretch[kept - 1], &n->stretch[i]))
			n->stretch[kept - 1].end = n->stretch[i].end;
		else
			n->stretch[kept++] = n->stretch[i];
	n->count = kept;
}

static bool prepare_stretch(struct memory_tag *n,
			    const struct managed_range *range)
{
	if (!n->count) {
		n->stretch = malloc(sizeof(*n->stretch));
		if (!n->stretch)
			return false;
		memset(n->stretch, 0, sizeof(*n->stretch));
		n->stretch[0].end = range->piece.size;
		n->count = 1;
	}
	return cut_stretch(n, range->from) && cut_stretch(n, range->to);
}

CUresult managed_change(const struct managed_range *range,
			void (*change)(struct memory_advice *advice,
				       const void *data),
			const void *data)
{
	struct memory_tag *n = tag_open(&range->piece, true);
	uint64_t start = 0;
	bool ok;

	if (!n)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ok = prepare_stretch(n, range);
	for (unsigned i = 0; ok && i < n->count; i++) {
		if (start >= range->from && start < range->to)
			change(&n->stretch[i].advice, data);
		start = n->stretch[i].end;
	}
	join_stretches(n);
	tag_close();
	return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void managed_visit(const struct managed_range *range,
		   void (*visit)(const struct memory_advice *advice,
				 void *data),
		   void *data)
{
	struct memory_tag *n = tag_open(&range->piece, false);
	uint64_t start = 0;

	if (!n || !n->count)
		visit(&no_advice, data);
	for (unsigned i = 0; n && i < n->count; i++) {
		if (start < range->to && n->stretch[i].end > range->from)
			visit(&n->stretch[i].advice, data);
		start = n->stretch[i].end;
	}
	if (n)
		tag_close();
}

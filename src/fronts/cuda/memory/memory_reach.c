/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_reach.c - decides which contexts may use which memory, and waits for
 * the work of those contexts.
 */
#include "fronts/cuda/memory/mem_pool.h"
#include "fronts/cuda/stream/stream.h"

CUmemoryPool pool_of(const struct gkf_extent *e)
{
	return handle_is(e->owner, HANDLE_POOL) ? e->owner : NULL;
}

bool memory_reaches(CUcontext ctx, const struct gkf_extent *e)
{
	CUmemoryPool pool;

	if (e->kind == GKF_MEMORY_MAPPED)
		return e->readers >> ctx->device->index & 1;
	if (e->kind != GKF_MEMORY_DEVICE || e->device == ctx->device->index)
		return true;
	if (!e->pool)
		return ctx_reaches(ctx, e->owner);
	pool = pool_of(e);
	return pool &&
	       (atomic_load(&pool->peers) >> front_number(ctx->device) & 1);
}

/* Whether a context's work may use a piece of memory. */
static bool may_use_piece(CUcontext ctx, const void *data)
{
	const struct gkf_extent *e = data;

	bool any = e->kind != GKF_MEMORY_DEVICE && e->kind != GKF_MEMORY_MAPPED;

	return any || memory_reaches(ctx, e);
}

CUresult memory_quiet(CUcontext ctx, const struct gkf_extent *e)
{
	return stream_drain_all(ctx, may_use_piece, e);
}

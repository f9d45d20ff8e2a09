/* SPDX-License-Identifier: Apache-2.0 */
/*
 * green_list.c - owns the list of green contexts, ends them and waits for them.
 */
#include "fronts/cuda/context/green.h"
#include "fronts/cuda/stream/stream.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUgreenCtx greens; /* all green contexts that are not destroyed */

void green_enlist(CUgreenCtx g)
{
	pthread_mutex_lock(&lock);
	g->next = greens;
	greens = g;
	pthread_mutex_unlock(&lock);
}

/* Returns false if the context has ended already. */
bool green_end(CUcontext ctx)
{
	if (!atomic_exchange(&ctx->alive, false))
		return false;
	stream_drain(ctx);
	stream_part.close(ctx);
	atomic_fetch_sub(&ctx->base->greens, 1);
	return true;
}

static CUcontext find_derived_of(CUcontext base)
{
	CUgreenCtx g;

	pthread_mutex_lock(&lock);
	for (g = greens; g; g = g->next)
		if (g->ctx->base == base && atomic_load(&g->ctx->alive))
			break;
	pthread_mutex_unlock(&lock);
	return g ? g->ctx : NULL;
}

void green_end_all(CUcontext base)
{
	CUcontext ctx;

	while (atomic_load(&base->greens) && (ctx = find_derived_of(base)))
		green_end(ctx);
}

/* Returns false if the context was removed from the list already. */
bool green_take_out(CUgreenCtx g)
{
	bool found;

	pthread_mutex_lock(&lock);
	for (CUgreenCtx *at = &greens;; at = &(*at)->next) {
		found = *at == g;
		if (found)
			*at = g->next;
		if (found || !*at)
			break;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static bool is_of_base(CUcontext ctx, const void *base)
{
	return ctx->base == base;
}

CUresult green_drain(CUcontext ctx)
{
	return atomic_load_explicit(&ctx->greens, memory_order_relaxed)
		   ? stream_drain_all(ctx, is_of_base, ctx)
		   : stream_drain(ctx);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_go.c - does copies, or puts them in streams. A call returns as follows
 * (CUDA driver API, "API synchronization behavior"):
 *
 * A synchronous copy is done when the call returns, unless both sides are
 * device memory: then it is left to the stream. An asynchronous copy is left to
 * the stream if a side is device memory and no side is pageable. If its source
 * is pageable and small, the call returns once the source has been read. In all
 * other cases, the copy is done when the call returns.
 */
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/memory/copy.h"

/*
 * The maximum size in bytes of a pageable source that is read at once, so that
 * the copy can be left to the stream.
 */
#define STAGED_MAX ((size_t)64 << 10)

/*
 * LEFT: left to the stream; STAGED: left, but its source is read at once;
 * WAITED: done before the call returns.
 */
enum manner { LEFT, STAGED, WAITED };

static enum manner manner_of(const struct way *w, const struct copy *c)
{
	if (c->src.at_once)
		return WAITED;
	if (!w->async && (c->dst.sync || c->src.sync))
		return WAITED;
	if (!w->async)
		return c->dst.exact && c->src.exact ? LEFT : WAITED;
	if (!c->dst.device && !c->src.device)
		return WAITED;
	if (c->dst.paged)
		return WAITED;
	if (c->src.paged)
		return copy_size(c) <= STAGED_MAX ? STAGED : WAITED;
	return LEFT;
}

CUresult copy_go(const struct way *w, const struct copy *copy)
{
	enum manner manner = manner_of(w, copy);
	struct gkf_task *task;
	CUstream s;

	if (w->async && capture_finds(w->ctx, w->stream, w->per_thread, &s))
		return GRAPH_LOCKED(capture_copy(s, copy));
	task = manner == STAGED ? copy_make_staged(copy) : copy_make(copy);
	if (!task)
		return CUDA_ERROR_OUT_OF_MEMORY;
	return (manner == WAITED ? stream_run : stream_submit)(
	    w->ctx, w->stream, w->per_thread, task);
}

CUresult copy_enter(enum cuda_row row, struct way *w)
{
	CUresult r = front_enter_context(row, &w->ctx);

	if (!r)
		w->ctx = stream_context(w->ctx, w->stream);
	return r;
}

CUresult copy_peer_begin(const struct way *w, const CUcontext contexts[2])
{
	CUcontext of[3] = {w->ctx};
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; !r && i < 2; i++)
		r = ctx_of(contexts[i], &of[i + 1]);
	for (unsigned i = 0; !r && !w->async && i < 3; i++)
		stream_follow(w->ctx, w->per_thread, of[i]);
	return r;
}

void copy_peer_end(const struct way *w, const CUcontext contexts[2])
{
	CUcontext of[3] = {w->ctx};

	for (unsigned i = 0; i < 2; i++)
		if (ctx_of(contexts[i], &of[i + 1]))
			return;
	for (unsigned i = 0; !w->async && i < 3; i++)
		stream_lead(w->ctx, w->per_thread, of[i]);
}

CUresult copy_bytes(const struct way *w, uint64_t dst,
		    enum copy_place dst_place, uint64_t src,
		    enum copy_place src_place, size_t size)
{
	struct copy c = {.width = size, .height = 1, .depth = 1};
	CUresult r = stream_check(w->ctx, w->stream, w->per_thread);

	if (r || !size)
		return r;
	r = copy_find(dst, size, dst_place, &c.dst);
	if (!r)
		r = copy_find(src, size, src_place, &c.src);
	return r ? r : copy_go(w, &c);
}

CUresult copy_3d(const struct way *w, const CUDA_MEMCPY3D *p)
{
	CUresult r = stream_check(w->ctx, w->stream, w->per_thread);
	struct copy c;

	if (r || !p->WidthInBytes || !p->Height || !p->Depth)
		return r;
	r = copy_3d_find(p, &c);
	return r ? r : copy_go(w, &c);
}

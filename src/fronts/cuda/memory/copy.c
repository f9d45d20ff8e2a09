/*
 * copy.c - doing copies. When a call returns (CUDA driver API, "API
 * synchronization behavior"): copies inside devices are left to the stream;
 * what touches pageable memory is done, or its source is read, when the call
 * returns; asynchronous copies of page-locked memory are left to the stream.
 */
#include "fronts/cuda/copy.h"
#include "fronts/cuda/capture.h"

#include <string.h>

/* So much of pageable memory is read at once and copied later. */
#define STAGED_MAX ((size_t)64 << 10)

struct copy_task {
	struct gkf_task task;
	struct copy copy;
	unsigned char staged[];
};

static void move_slice(const struct copy *c, unsigned char *dst,
		       const unsigned char *src)
{
	if (c->dst.pitch == c->width && c->src.pitch == c->width) {
		memmove(dst, src, c->width * c->height);
		return;
	}
	for (size_t y = 0; y < c->height; y++)
		memmove(dst + y * c->dst.pitch, src + y * c->src.pitch,
			c->width);
}

static void move_rows(const struct copy *c)
{
	for (size_t z = 0; z < c->depth; z++)
		move_slice(c, c->dst.at + z * c->dst.slice,
			   c->src.at + z * c->src.slice);
}

static int run_copy(struct gkf_task *task)
{
	move_rows(&((struct copy_task *)task)->copy);
	return CUDA_SUCCESS;
}

int copy_fault(struct gkf_task *task)
{
	(void)task;
	return CUDA_ERROR_ILLEGAL_ADDRESS;
}

static uint32_t work_of(const struct copy *c)
{
	if (c->dst.device)
		return c->src.device ? GKF_WORK_COPY_DEVICE : GKF_WORK_COPY_IN;
	return c->src.device ? GKF_WORK_COPY_OUT : GKF_WORK_NONE;
}

/* Rows without gaps. */
static void pack_rows(struct copy_side *side, unsigned char *at,
		      const struct copy *c)
{
	side->at = at;
	side->pitch = c->width;
	side->slice = c->width * c->height;
}

/* Reads the source now. */
static void stage(struct copy_task *t)
{
	struct copy now = t->copy;

	pack_rows(&now.dst, t->staged, &now);
	move_rows(&now);
	pack_rows(&t->copy.src, t->staged, &t->copy);
}

/* How the rules of CUDA have it. */
enum manner { LEFT, STAGED, WAITED };

static enum manner manner_of(const struct way *w, const struct copy *c,
			     uint64_t bytes)
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
		return bytes <= STAGED_MAX ? STAGED : WAITED;
	return LEFT;
}

static uint64_t bytes_of(const struct copy *c)
{
	return (uint64_t)c->width * c->height * c->depth;
}

static struct copy_task *new_copy_task(const struct copy *copy, size_t staged)
{
	struct copy_task *t = gkf_task_new(sizeof(*t) + staged);

	if (!t)
		return NULL;
	t->task.run = copy->dst.read_only ? copy_fault : run_copy;
	t->task.bytes = bytes_of(copy);
	t->task.work = work_of(copy);
	t->copy = *copy;
	return t;
}

struct gkf_task *copy_make(const struct copy *copy)
{
	struct copy_task *t = new_copy_task(copy, 0);

	return t ? &t->task : NULL;
}

CUresult copy_go(const struct way *w, const struct copy *copy)
{
	uint64_t bytes = bytes_of(copy);
	enum manner manner = manner_of(w, copy, bytes);
	struct copy_task *t;
	CUstream s;

	if (w->async && capture_finds(w->ctx, w->stream, w->per_thread, &s))
		return GRAPH_LOCKED(capture_copy(s, copy));
	t = new_copy_task(copy, manner == STAGED ? (size_t)bytes : 0);
	if (!t)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (manner == STAGED)
		stage(t);
	return (manner == WAITED ? stream_run : stream_submit)(
	    w->ctx, w->stream, w->per_thread, &t->task);
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

static bool is_on_device(const struct gkf_extent *e)
{
	return e->kind == GKF_MEMORY_DEVICE || e->kind == GKF_MEMORY_MAPPED;
}

CUresult copy_find(uint64_t address, size_t size, enum copy_place place,
		   struct copy_side *ret_side)
{
	struct copy_side side = {.at = (unsigned char *)(uintptr_t)address,
				 .address = address};
	struct gkf_extent e;

	if (gkf_space_find(address, &e)) {
		uint64_t offset = address - e.base;

		if (e.kind == GKF_MEMORY_MAPPED &&
		    !gkf_space_find_all(address, size, &e))
			return CUDA_ERROR_INVALID_VALUE;
		if (size > e.size - offset ||
		    (place == COPY_HOST && is_on_device(&e)))
			return CUDA_ERROR_INVALID_VALUE;
		side.at = (unsigned char *)e.view + offset;
		side.exact = is_on_device(&e);
		side.device = side.exact || e.kind == GKF_MEMORY_MANAGED;
		side.sync = note_is_sync(&e);
		side.read_only = e.kind == GKF_MEMORY_MAPPED && !e.writers;
	} else {
		if (!address || place == COPY_DEVICE ||
		    address + size < address || gkf_space_is_reserved(address))
			return CUDA_ERROR_INVALID_VALUE;
		side.paged = true;
	}
	side.pitch = side.slice = size;
	*ret_side = side;
	return CUDA_SUCCESS;
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

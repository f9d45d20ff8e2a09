/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - makes tasks that copy memory, and finds the memory at an address. */
#include "fronts/cuda/memory/copy.h"

#include <string.h>

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

/* Makes a side contiguous: rows and slices without gaps. */
static void pack_rows(struct copy_side *side, unsigned char *at,
		      const struct copy *c)
{
	side->at = at;
	side->pitch = c->width;
	side->slice = c->width * c->height;
}

/* Copies the source to the task's buffer now. */
static void stage_source(struct copy_task *t)
{
	struct copy now = t->copy;

	pack_rows(&now.dst, t->staged, &now);
	move_rows(&now);
	pack_rows(&t->copy.src, t->staged, &t->copy);
}

static struct copy_task *new_copy_task(const struct copy *copy, size_t staged)
{
	struct copy_task *t = gkf_task_new(sizeof(*t) + staged);

	if (!t)
		return NULL;
	t->task.run = copy->dst.read_only ? copy_fault : run_copy;
	t->task.bytes = copy_size(copy);
	t->task.work = work_of(copy);
	t->copy = *copy;
	return t;
}

struct gkf_task *copy_make(const struct copy *copy)
{
	struct copy_task *t = new_copy_task(copy, 0);

	return t ? &t->task : NULL;
}

struct gkf_task *copy_make_staged(const struct copy *copy)
{
	struct copy_task *t = new_copy_task(copy, (size_t)copy_size(copy));

	if (!t)
		return NULL;
	stage_source(t);
	return &t->task;
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
		side.sync = tag_is_sync(&e);
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

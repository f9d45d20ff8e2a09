/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memset.c - makes tasks that fill rows of memory with a value of 1, 2 or 4
 * bytes.
 */
#include "fronts/cuda/memory/copy.h"
#include "base/assert.h"

#include <string.h>

struct memset_task {
	struct gkf_task task;
	unsigned char *at;
	/* pitch and width in bytes, height in rows */
	size_t pitch, width, height;
	unsigned size; /* bytes of a value */
	uint32_t value;
};

static void fill_row(unsigned char *at, size_t bytes,
		     const struct memset_task *t)
{
	switch (t->size) {
	case 1:
		memset(at, (int)t->value, bytes);
		break;
	case 2:
		for (size_t i = 0; i < bytes / 2; i++)
			((uint16_t *)at)[i] = (uint16_t)t->value;
		break;
	default:
		for (size_t i = 0; i < bytes / 4; i++)
			((uint32_t *)at)[i] = t->value;
		break;
	}
}

static int run_memset(struct gkf_task *task)
{
	const struct memset_task *t = (struct memset_task *)task;

	for (size_t y = 0; y < t->height; y++)
		fill_row(t->at + y * t->pitch, t->width, t);
	return CUDA_SUCCESS;
}

static CUresult measure_memset(const struct memset_ask *a, size_t *ret_row,
			       size_t *ret_bytes)
{
	size_t row, bytes;

	if (a->at % a->size || a->pitch > MEMORY_MAX_PITCH ||
	    __builtin_mul_overflow(a->width, (size_t)a->size, &row))
		return CUDA_ERROR_INVALID_VALUE;
	if (a->height > 1 && (a->pitch % a->size || a->pitch < row))
		return CUDA_ERROR_INVALID_VALUE;
	if (__builtin_mul_overflow(a->height - 1, a->pitch, &bytes) ||
	    __builtin_add_overflow(bytes, row, &bytes))
		return CUDA_ERROR_INVALID_VALUE;
	*ret_row = row;
	*ret_bytes = bytes;
	return CUDA_SUCCESS;
}

CUresult memset_make(const struct memset_ask *a, struct copy_side *ret_side,
		     struct gkf_task **ret_task)
{
	struct copy_side side;
	struct memset_task *t;
	size_t row, bytes;
	CUresult r;

	GK_ASSERT(a->width && a->height && a->size);
	r = measure_memset(a, &row, &bytes);
	if (!r)
		r = copy_find(a->at, bytes, COPY_DEVICE, &side);
	if (r)
		return r;
	t = gkf_task_new(sizeof(*t));
	if (!t)
		return CUDA_ERROR_OUT_OF_MEMORY;
	t->task.run = side.read_only ? copy_fault : run_memset;
	t->task.work = side.device ? GKF_WORK_COPY_DEVICE : GKF_WORK_NONE;
	t->task.bytes = (uint64_t)row * a->height;
	t->at = side.at;
	t->pitch = a->pitch;
	t->width = row;
	t->height = a->height;
	t->size = a->size;
	t->value = a->value;
	*ret_side = side;
	*ret_task = &t->task;
	return CUDA_SUCCESS;
}

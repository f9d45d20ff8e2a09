/*
 * memset.c - filling memory with a value of 1, 2 or 4 bytes, in a row or in
 * rows. On device memory also the synchronous calls leave it to the stream
 * (CUDA driver API, "API synchronization behavior").
 */
#include "fronts/cuda/capture.h"
#include "fronts/cuda/copy.h"

#include <string.h>

struct set_task {
	struct gkf_task task;
	unsigned char *at;
	size_t pitch, width, height; /* bytes, bytes, rows */
	unsigned size;               /* bytes of a value */
	uint32_t value;
};

static void fill_row(unsigned char *at, size_t bytes, const struct set_task *t)
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

static int run_set(struct gkf_task *task)
{
	const struct set_task *t = (struct set_task *)task;

	for (size_t y = 0; y < t->height; y++)
		fill_row(t->at + y * t->pitch, t->width, t);
	return CUDA_SUCCESS;
}

static CUresult measure_set(const struct set_ask *a, size_t *ret_row,
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

CUresult set_make(const struct set_ask *a, struct copy_side *ret_side,
		  struct gkf_task **ret_task)
{
	struct copy_side side;
	struct set_task *t;
	size_t row, bytes;
	CUresult r = measure_set(a, &row, &bytes);

	if (!r)
		r = copy_find(a->at, bytes, COPY_DEVICE, &side);
	if (r)
		return r;
	t = gkf_task_new(sizeof(*t));
	if (!t)
		return CUDA_ERROR_OUT_OF_MEMORY;
	t->task.run = side.read_only ? copy_fault : run_set;
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

static CUresult set_memory(const struct way *w, const struct set_ask *a)
{
	struct copy_side side;
	struct gkf_task *task;
	CUstream s;
	bool wait;
	CUresult r = stream_check(w->ctx, w->stream, w->per_thread);

	if (r || !a->width || !a->height)
		return r;
	if (w->async && capture_finds(w->ctx, w->stream, w->per_thread, &s))
		return GRAPH_LOCKED(capture_set(s, a));
	r = set_make(a, &side, &task);
	if (r)
		return r;
	wait = !w->async && (side.sync || !side.exact);
	return (wait ? stream_run : stream_submit)(w->ctx, w->stream,
						   w->per_thread, task);
}

static CUresult enter_set(enum cuda_row row, struct way *w,
			  const struct set_ask *a)
{
	CUresult r = front_enter_context(row, &w->ctx);

	return r ? r : set_memory(w, a);
}

/* A table: VALUE(type of the value, its name, bits). */
#define ROW_OF(bits, name)                                                     \
	{                                                                      \
		.at = dstDevice, .pitch = 0, .width = N, .height = 1,          \
		.size = (bits) / 8, .value = (name)                            \
	}
#define ROWS_OF(bits, name)                                                    \
	{                                                                      \
		.at = dstDevice, .pitch = dstPitch, .width = Width,            \
		.height = Height, .size = (bits) / 8, .value = (name)          \
	}

#define SET(symbol, suffix, params, names, given, later, ...)                  \
	static CUresult symbol##_on(enum cuda_row row, bool per_thread,        \
				    UNWRAP params)                             \
	{                                                                      \
		const struct set_ask a = __VA_ARGS__;                          \
		struct way w = {.stream = given,                               \
				.per_thread = per_thread,                      \
				.async = later};                               \
                                                                               \
		return enter_set(row, &w, &a);                                 \
	}                                                                      \
	BOTH_STREAMS(symbol, suffix, params, names)

#define OLD(symbol, params, ...)                                               \
	CUresult symbol params                                                 \
	{                                                                      \
		const struct set_ask a = __VA_ARGS__;                          \
		struct way w = {.stream = NULL};                               \
                                                                               \
		return enter_set(ROW_##symbol, &w, &a);                        \
	}

#define VALUE(type, name, bits)                                                \
	OLD(cuMemsetD##bits,                                                   \
	    (CUdeviceptr_v1 dstDevice, type name, unsigned int N),             \
	    ROW_OF(bits, name))                                                \
	OLD(cuMemsetD2D##bits,                                                 \
	    (CUdeviceptr_v1 dstDevice, unsigned int dstPitch, type name,       \
	     unsigned int Width, unsigned int Height),                         \
	    ROWS_OF(bits, name))                                               \
	SET(cuMemsetD##bits##_v2, _ptds,                                       \
	    (CUdeviceptr dstDevice, type name, size_t N),                      \
	    (dstDevice, name, N), NULL, false, ROW_OF(bits, name))             \
	SET(cuMemsetD2D##bits##_v2, _ptds,                                     \
	    (CUdeviceptr dstDevice, size_t dstPitch, type name, size_t Width,  \
	     size_t Height),                                                   \
	    (dstDevice, dstPitch, name, Width, Height), NULL, false,           \
	    ROWS_OF(bits, name))                                               \
	SET(cuMemsetD##bits##Async, _ptsz,                                     \
	    (CUdeviceptr dstDevice, type name, size_t N, CUstream hStream),    \
	    (dstDevice, name, N, hStream), hStream, true, ROW_OF(bits, name))  \
	SET(cuMemsetD2D##bits##Async, _ptsz,                                   \
	    (CUdeviceptr dstDevice, size_t dstPitch, type name, size_t Width,  \
	     size_t Height, CUstream hStream),                                 \
	    (dstDevice, dstPitch, name, Width, Height, hStream), hStream,      \
	    true, ROWS_OF(bits, name))

VALUE(unsigned char, uc, 8)
VALUE(unsigned short, us, 16)
VALUE(unsigned int, ui, 32)

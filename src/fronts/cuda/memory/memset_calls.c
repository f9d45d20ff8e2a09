/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memset_calls.c - cuMemset*. On device memory even the synchronous calls only
 * put their work in the stream (CUDA driver API, "API synchronization
 * behavior").
 */
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/memory/copy.h"

static CUresult put_memset(const struct way *w, const struct memset_ask *a)
{
	struct copy_side side;
	struct gkf_task *task;
	CUstream s;
	bool wait;
	CUresult r = stream_check(w->ctx, w->stream, w->per_thread);

	if (r || !a->width || !a->height)
		return r;
	if (w->async && capture_finds(w->ctx, w->stream, w->per_thread, &s))
		return GRAPH_LOCKED(capture_memset(s, a));
	r = memset_make(a, &side, &task);
	if (r)
		return r;
	wait = !w->async && (side.sync || !side.exact);
	return (wait ? stream_run : stream_submit)(w->ctx, w->stream,
						   w->per_thread, task);
}

static CUresult enter_memset(enum cuda_row row, struct way *w,
			     const struct memset_ask *a)
{
	CUresult r = front_enter_context(row, &w->ctx);

	return r ? r : put_memset(w, a);
}

/*
 * ROW_OF and ROWS_OF(bits, name): the memset that a function's parameters
 * describe; `name` is the parameter with the value, which has `bits` bits.
 */
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
	BOTH_STREAMS(symbol, suffix, params, names)                            \
	{                                                                      \
		const struct memset_ask a = __VA_ARGS__;                       \
		struct way w = {.stream = given,                               \
				.per_thread = per_thread,                      \
				.async = later};                               \
                                                                               \
		return enter_memset(row, &w, &a);                              \
	}

#define OLD(symbol, params, ...)                                               \
	CUresult symbol params                                                 \
	{                                                                      \
		const struct memset_ask a = __VA_ARGS__;                       \
		struct way w = {.stream = NULL};                               \
                                                                               \
		return enter_memset(ROW_##symbol, &w, &a);                     \
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_array.c - the entry points that copy between a row of an array and
 * memory or another array.
 */
#include "fronts/cuda/memory/array.h"
#include "fronts/cuda/memory/copy.h"

/*
 * One side of a copy: an offset in an array or, if `array` is NULL, an address.
 */
struct end {
	CUarray array;
	uint64_t at; /* offset in the array's row, or address */
	enum copy_place place;
};

static struct end cells(CUarray array, uint64_t offset)
{
	/*
	 * A NULL handle must fail as an invalid array, not be treated as an
	 * address.
	 */
	return (struct end){array ? array : (CUarray)-1, offset, COPY_ANY};
}

static struct end host_end(const void *at)
{
	return (struct end){NULL, (uintptr_t)at, COPY_HOST};
}

static struct end device_end(CUdeviceptr at)
{
	return (struct end){NULL, at, COPY_DEVICE};
}

static CUresult find_end(const struct end *e, size_t size,
			 struct copy_side *ret_side)
{
	return e->array ? copy_array_row(e->array, e->at, size, ret_side)
			: copy_find(e->at, size, e->place, ret_side);
}

static CUresult copy_ends(enum cuda_row row, struct way *w, struct end dst,
			  struct end src, size_t size)
{
	struct copy c = {.width = size, .height = 1, .depth = 1};
	CUresult r = copy_enter(row, w);

	if (!r)
		r = stream_check(w->ctx, w->stream, w->per_thread);
	if (r || !size)
		return r;
	r = find_end(&dst, size, &c.dst);
	if (!r)
		r = find_end(&src, size, &c.src);
	return r ? r : copy_go(w, &c);
}

#define SYNC(symbol, params, names, dst, src)                                  \
	BOTH_STREAMS(symbol, _ptds, params, names)                             \
	{                                                                      \
		struct way w = {.per_thread = per_thread};                     \
                                                                               \
		return copy_ends(row, &w, dst, src, ByteCount);                \
	}

#define ASYNC(symbol, params, names, dst, src)                                 \
	BOTH_STREAMS(symbol, _ptsz, params, names)                             \
	{                                                                      \
		struct way w = {.stream = hStream,                             \
				.per_thread = per_thread,                      \
				.async = true};                                \
                                                                               \
		return copy_ends(row, &w, dst, src, ByteCount);                \
	}

/* OLD and OLD_ASYNC: the versions of these functions from before CUDA 3.2. */
#define OLD(symbol, params, dst, src)                                          \
	CUresult symbol params                                                 \
	{                                                                      \
		struct way w = {.stream = NULL};                               \
                                                                               \
		return copy_ends(ROW_##symbol, &w, dst, src, ByteCount);       \
	}

#define OLD_ASYNC(symbol, params, dst, src)                                    \
	CUresult symbol params                                                 \
	{                                                                      \
		struct way w = {.stream = hStream, .async = true};             \
                                                                               \
		return copy_ends(ROW_##symbol, &w, dst, src, ByteCount);       \
	}

/* clang-format off */
SYNC(cuMemcpyDtoA_v2,
     (CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
      size_t ByteCount),
     (dstArray, dstOffset, srcDevice, ByteCount),
     cells(dstArray, dstOffset), device_end(srcDevice))
SYNC(cuMemcpyAtoD_v2,
     (CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
      size_t ByteCount),
     (dstDevice, srcArray, srcOffset, ByteCount),
     device_end(dstDevice), cells(srcArray, srcOffset))
SYNC(cuMemcpyHtoA_v2,
     (CUarray dstArray, size_t dstOffset, const void *srcHost,
      size_t ByteCount),
     (dstArray, dstOffset, srcHost, ByteCount),
     cells(dstArray, dstOffset), host_end(srcHost))
SYNC(cuMemcpyAtoH_v2,
     (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount),
     (dstHost, srcArray, srcOffset, ByteCount),
     host_end(dstHost), cells(srcArray, srcOffset))
SYNC(cuMemcpyAtoA_v2,
     (CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
      size_t ByteCount),
     (dstArray, dstOffset, srcArray, srcOffset, ByteCount),
     cells(dstArray, dstOffset), cells(srcArray, srcOffset))

ASYNC(cuMemcpyHtoAAsync_v2,
      (CUarray dstArray, size_t dstOffset, const void *srcHost,
       size_t ByteCount, CUstream hStream),
      (dstArray, dstOffset, srcHost, ByteCount, hStream),
      cells(dstArray, dstOffset), host_end(srcHost))
ASYNC(cuMemcpyAtoHAsync_v2,
      (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
       CUstream hStream),
      (dstHost, srcArray, srcOffset, ByteCount, hStream),
      host_end(dstHost), cells(srcArray, srcOffset))

OLD(cuMemcpyDtoA,
    (CUarray dstArray, unsigned int dstOffset, CUdeviceptr_v1 srcDevice,
     unsigned int ByteCount),
    cells(dstArray, dstOffset), device_end(srcDevice))
OLD(cuMemcpyAtoD,
    (CUdeviceptr_v1 dstDevice, CUarray srcArray, unsigned int srcOffset,
     unsigned int ByteCount),
    device_end(dstDevice), cells(srcArray, srcOffset))
OLD(cuMemcpyHtoA,
    (CUarray dstArray, unsigned int dstOffset, const void *srcHost,
     unsigned int ByteCount),
    cells(dstArray, dstOffset), host_end(srcHost))
OLD(cuMemcpyAtoH,
    (void *dstHost, CUarray srcArray, unsigned int srcOffset,
     unsigned int ByteCount),
    host_end(dstHost), cells(srcArray, srcOffset))
OLD(cuMemcpyAtoA,
    (CUarray dstArray, unsigned int dstOffset, CUarray srcArray,
     unsigned int srcOffset, unsigned int ByteCount),
    cells(dstArray, dstOffset), cells(srcArray, srcOffset))
OLD_ASYNC(cuMemcpyHtoAAsync,
	  (CUarray dstArray, unsigned int dstOffset, const void *srcHost,
	   unsigned int ByteCount, CUstream hStream),
	  cells(dstArray, dstOffset), host_end(srcHost))
OLD_ASYNC(cuMemcpyAtoHAsync,
	  (void *dstHost, CUarray srcArray, unsigned int srcOffset,
	   unsigned int ByteCount, CUstream hStream),
	  host_end(dstHost), cells(srcArray, srcOffset))
/* clang-format on */

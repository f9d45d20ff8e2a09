/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.c - copies 2D boxes of bytes in pitched memory and arrays, and contiguous
 * runs of bytes to and from arrays.
 */
#include "fronts/cudart/memory/box.h"
#include "fronts/cudart/memory/format.h"

#include <stddef.h>

static CUmemorytype memory_type_of_end(const struct end *end,
				       enum cudaMemcpyKind kind, bool is_target)
{
	if (end->array)
		return CU_MEMORYTYPE_ARRAY;
	switch (kind) {
	case cudaMemcpyHostToHost:
		return CU_MEMORYTYPE_HOST;
	case cudaMemcpyHostToDevice:
		return is_target ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
	case cudaMemcpyDeviceToHost:
		return is_target ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
	case cudaMemcpyDeviceToDevice:
		return CU_MEMORYTYPE_DEVICE;
	case cudaMemcpyDefault:
	default:
		return CU_MEMORYTYPE_UNIFIED;
	}
}

static CUDA_MEMCPY3D request_box(const struct end *to, const struct end *from,
				 struct box box, enum cudaMemcpyKind kind)
{
	return (CUDA_MEMCPY3D){
	    .srcXInBytes = from->x,
	    .srcY = from->y,
	    .srcZ = from->z,
	    .srcMemoryType = memory_type_of_end(from, kind, false),
	    .srcHost = from->at,
	    .srcDevice = (CUdeviceptr)from->at,
	    .srcArray = (CUarray)(uintptr_t)from->array,
	    .srcPitch = from->pitch,
	    .srcHeight = from->rows,
	    .dstXInBytes = to->x,
	    .dstY = to->y,
	    .dstZ = to->z,
	    .dstMemoryType = memory_type_of_end(to, kind, true),
	    .dstHost = (void *)(uintptr_t)to->at,
	    .dstDevice = (CUdeviceptr)to->at,
	    .dstArray = (CUarray)(uintptr_t)to->array,
	    .dstPitch = to->pitch,
	    .dstHeight = to->rows,
	    .WidthInBytes = box.width,
	    .Height = box.height,
	    .Depth = box.depth,
	};
}

static bool fits_in_end(const struct end *end, struct box box)
{
	return end->array || box.height == 1 || box.width <= end->pitch;
}

cudaError_t box_request(const struct end *to, const struct end *from,
			struct box box, enum cudaMemcpyKind kind,
			CUDA_MEMCPY3D *ret_request)
{
	REQUIRE(is_direction(kind), cudaErrorInvalidMemcpyDirection);
	REQUIRE(box.width && box.height && box.depth, cudaErrorInvalidValue);
	REQUIRE(fits_in_end(to, box) && fits_in_end(from, box),
		cudaErrorInvalidPitchValue);
	*ret_request = request_box(to, from, box, kind);
	return cudaSuccess;
}

cudaError_t box_copy(const struct driver *d, const cudaStream_t *queue,
		     const struct end *to, const struct end *from,
		     struct box box, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY3D r;

	REQUIRE(is_direction(kind), cudaErrorInvalidMemcpyDirection);
	if (!box.width || !box.height || !box.depth)
		return cudaSuccess;
	REQUIRE(fits_in_end(to, box) && fits_in_end(from, box),
		cudaErrorInvalidPitchValue);
	r = request_box(to, from, box, kind);
	return runtime_result(queue ? d->cuMemcpy3DAsync_v2(&r, *queue)
				    : d->cuMemcpy3D_v2(&r));
}

static cudaError_t copy_2d(const struct driver *d, const cudaStream_t *queue,
			   void *dst, size_t dpitch, const void *src,
			   size_t spitch, size_t width, size_t height,
			   enum cudaMemcpyKind kind)
{
	struct end to = {.at = dst, .pitch = dpitch, .rows = height};
	struct end from = {.at = src, .pitch = spitch, .rows = height};

	ENTER_CONTEXT();
	return box_copy(d, queue, &to, &from, (struct box){width, height, 1},
			kind);
}
NOW(cudaMemcpy2D, copy_2d,
    (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
     size_t height, enum cudaMemcpyKind kind),
    (dst, dpitch, src, spitch, width, height, kind))
QUEUED(cudaMemcpy2DAsync, copy_2d,
       (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
	size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
       (dst, dpitch, src, spitch, width, height, kind))

static cudaError_t to_array(const struct driver *d, const cudaStream_t *queue,
			    cudaArray_t dst, size_t x, size_t y,
			    const void *src, size_t spitch, size_t width,
			    size_t height, enum cudaMemcpyKind kind)
{
	struct end to = {.array = dst, .x = x, .y = y};
	struct end from = {.at = src, .pitch = spitch, .rows = height};

	ENTER_CONTEXT();
	REQUIRE(dst, cudaErrorInvalidValue);
	return box_copy(d, queue, &to, &from, (struct box){width, height, 1},
			kind);
}
NOW(cudaMemcpy2DToArray, to_array,
    (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
     size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind),
    (dst, wOffset, hOffset, src, spitch, width, height, kind))
QUEUED(cudaMemcpy2DToArrayAsync, to_array,
       (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
	size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind,
	cudaStream_t stream),
       (dst, wOffset, hOffset, src, spitch, width, height, kind))

static cudaError_t from_array(const struct driver *d, const cudaStream_t *queue,
			      void *dst, size_t dpitch, cudaArray_const_t src,
			      size_t x, size_t y, size_t width, size_t height,
			      enum cudaMemcpyKind kind)
{
	struct end to = {.at = dst, .pitch = dpitch, .rows = height};
	struct end from = {.array = src, .x = x, .y = y};

	ENTER_CONTEXT();
	REQUIRE(src, cudaErrorInvalidValue);
	return box_copy(d, queue, &to, &from, (struct box){width, height, 1},
			kind);
}
NOW(cudaMemcpy2DFromArray, from_array,
    (void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
     size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind),
    (dst, dpitch, src, wOffset, hOffset, width, height, kind))
QUEUED(cudaMemcpy2DFromArrayAsync, from_array,
       (void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
	size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind,
	cudaStream_t stream),
       (dst, dpitch, src, wOffset, hOffset, width, height, kind))

static cudaError_t between_arrays(const struct driver *d,
				  const cudaStream_t *queue, cudaArray_t dst,
				  size_t dst_x, size_t dst_y,
				  cudaArray_const_t src, size_t src_x,
				  size_t src_y, size_t width, size_t height,
				  enum cudaMemcpyKind kind)
{
	struct end to = {.array = dst, .x = dst_x, .y = dst_y};
	struct end from = {.array = src, .x = src_x, .y = src_y};

	ENTER_CONTEXT();
	REQUIRE(dst && src, cudaErrorInvalidValue);
	return box_copy(d, queue, &to, &from, (struct box){width, height, 1},
			kind);
}
NOW(cudaMemcpy2DArrayToArray, between_arrays,
    (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
     cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t width,
     size_t height, enum cudaMemcpyKind kind),
    (dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height,
     kind))

/*
 * A run of bytes in an array continues at the beginning of the next row. It is
 * copied in pieces: the rest of the first row, whole rows, the beginning of the
 * last row. next_piece() returns the next piece of the run.
 */
struct run {
	size_t row; /* bytes in a row of the array */
	size_t x, y, left;
};

static cudaError_t begin_run(struct run *run, cudaArray_const_t array, size_t x,
			     size_t y, size_t count)
{
	CUDA_ARRAY3D_DESCRIPTOR d;

	ENTER_CONTEXT();
	TRY(runtime_result(
	    legacy->cuArray3DGetDescriptor_v2(&d, (CUarray)(uintptr_t)array)));
	*run = (struct run){d.Width * format_bytes(&d), x, y, count};
	REQUIRE(x < run->row || !count, cudaErrorInvalidValue);
	return cudaSuccess;
}

static struct box next_piece(struct run *run)
{
	size_t room = run->row - run->x;
	struct box piece = {run->left < room ? run->left : room, 1, 1};

	if (!run->x && run->left >= run->row)
		piece.height = run->left / run->row;
	run->left -= piece.width * piece.height;
	run->y += piece.height;
	run->x = 0;
	return piece;
}

static cudaError_t run_to_array(const struct driver *d,
				const cudaStream_t *queue, cudaArray_t dst,
				size_t x, size_t y, const void *src,
				size_t count, enum cudaMemcpyKind kind)
{
	const char *at = src;
	struct run run;

	TRY(begin_run(&run, dst, x, y, count));
	while (run.left) {
		size_t piece_x = run.x, piece_y = run.y;
		struct box piece = next_piece(&run);

		TRY(to_array(d, queue, dst, piece_x, piece_y, at, piece.width,
			     piece.width, piece.height, kind));
		at += piece.width * piece.height;
	}
	return cudaSuccess;
}
NOW(cudaMemcpyToArray, run_to_array,
    (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
     size_t count, enum cudaMemcpyKind kind),
    (dst, wOffset, hOffset, src, count, kind))
QUEUED(cudaMemcpyToArrayAsync, run_to_array,
       (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
	size_t count, enum cudaMemcpyKind kind, cudaStream_t stream),
       (dst, wOffset, hOffset, src, count, kind))

static cudaError_t run_from_array(const struct driver *d,
				  const cudaStream_t *queue, void *dst,
				  cudaArray_const_t src, size_t x, size_t y,
				  size_t count, enum cudaMemcpyKind kind)
{
	struct run run;
	char *at = dst;

	TRY(begin_run(&run, src, x, y, count));
	while (run.left) {
		size_t piece_x = run.x, piece_y = run.y;
		struct box piece = next_piece(&run);

		TRY(from_array(d, queue, at, piece.width, src, piece_x, piece_y,
			       piece.width, piece.height, kind));
		at += piece.width * piece.height;
	}
	return cudaSuccess;
}
NOW(cudaMemcpyFromArray, run_from_array,
    (void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
     size_t count, enum cudaMemcpyKind kind),
    (dst, src, wOffset, hOffset, count, kind))
QUEUED(cudaMemcpyFromArrayAsync, run_from_array,
       (void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
	size_t count, enum cudaMemcpyKind kind, cudaStream_t stream),
       (dst, src, wOffset, hOffset, count, kind))

/* The rows of both arrays must have the same length, so that both runs have the
 * same pieces. */
static cudaError_t
run_between(const struct driver *d, const cudaStream_t *queue, cudaArray_t dst,
	    size_t dst_x, size_t dst_y, cudaArray_const_t src, size_t src_x,
	    size_t src_y, size_t count, enum cudaMemcpyKind kind)
{
	struct run from, to;

	TRY(begin_run(&from, src, src_x, src_y, count));
	TRY(begin_run(&to, dst, dst_x, dst_y, count));
	REQUIRE(from.row == to.row && src_x == dst_x, cudaErrorInvalidValue);
	while (from.left) {
		size_t x = from.x, from_y = from.y, to_y = to.y;
		struct box piece = next_piece(&from);

		next_piece(&to);
		TRY(between_arrays(d, queue, dst, x, to_y, src, x, from_y,
				   piece.width, piece.height, kind));
	}
	return cudaSuccess;
}
NOW(cudaMemcpyArrayToArray, run_between,
    (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
     cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t count,
     enum cudaMemcpyKind kind),
    (dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, count, kind))

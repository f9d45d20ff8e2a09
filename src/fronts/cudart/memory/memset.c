/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memset.c - fills memory with a byte.
 */
#include "fronts/cudart/runtime.h"

#include <stddef.h>

/*
 * The bytes to set: `depth` planes, each with `rows` rows. In the first
 * `height` rows of a plane, `width` bytes are set. Each plane takes one driver
 * call.
 */
struct fill {
	CUdeviceptr at;
	size_t pitch, rows, width, height, depth;
	unsigned char value;
};

/* Sets a plane and waits, or queues the operation. */
static CUresult plane_now(const struct driver *d, const struct fill *b,
			  CUdeviceptr at, size_t height, cudaStream_t stream)
{
	(void)stream;
	return d->cuMemsetD2D8_v2(at, b->pitch, b->value, b->width, height);
}

static CUresult plane_queued(const struct driver *d, const struct fill *b,
			     CUdeviceptr at, size_t height, cudaStream_t stream)
{
	return d->cuMemsetD2D8Async(at, b->pitch, b->value, b->width, height,
				    stream);
}

static cudaError_t
fill_box(const struct driver *d, struct fill *b,
	 CUresult (*plane)(const struct driver *d, const struct fill *b,
			   CUdeviceptr at, size_t height, cudaStream_t stream),
	 cudaStream_t stream)
{
	size_t step, last, rows;

	ENTER_CONTEXT();
	if (!b->width || !b->height || !b->depth)
		return cudaSuccess;
	REQUIRE(b->height == 1 || b->width <= b->pitch,
		cudaErrorInvalidPitchValue);
	REQUIRE(!__builtin_mul_overflow(b->pitch, b->rows, &step) &&
		    !__builtin_mul_overflow(step, b->depth - 1, &last) &&
		    !__builtin_add_overflow(b->at, last, &last) &&
		    !__builtin_mul_overflow(b->height, b->depth, &rows),
		cudaErrorInvalidValue);
	if (b->rows == b->height) /* no gaps: one plane */
		return runtime_result(plane(d, b, b->at, rows, stream));
	/* Begins with the last plane, which is out of bounds if any plane is:
	 * then nothing is set. */
	for (size_t z = b->depth; z--;)
		TRY(runtime_result(
		    plane(d, b, b->at + z * step, b->height, stream)));
	return cudaSuccess;
}

BOTH_STREAMS(cudaMemset, _ptds, (void *devPtr, int value, size_t count),
	     (devPtr, value, count))
{
	ENTER_CONTEXT();
	return count ? runtime_result(d->cuMemsetD8_v2(
			   (CUdeviceptr)devPtr, (unsigned char)value, count))
		     : cudaSuccess;
}

BOTH_STREAMS(cudaMemsetAsync, _ptsz,
	     (void *devPtr, int value, size_t count, cudaStream_t stream),
	     (devPtr, value, count, stream))
{
	ENTER_CONTEXT();
	return count ? runtime_result(d->cuMemsetD8Async((CUdeviceptr)devPtr,
							 (unsigned char)value,
							 count, stream))
		     : cudaSuccess;
}

static struct fill describe_2d(void *at, size_t pitch, int value, size_t width,
			       size_t height)
{
	return (struct fill){
	    (CUdeviceptr)at,     pitch, height, width, height, 1,
	    (unsigned char)value};
}

BOTH_STREAMS(cudaMemset2D, _ptds,
	     (void *devPtr, size_t pitch, int value, size_t width,
	      size_t height),
	     (devPtr, pitch, value, width, height))
{
	struct fill b = describe_2d(devPtr, pitch, value, width, height);

	return fill_box(d, &b, plane_now, NULL);
}

BOTH_STREAMS(cudaMemset2DAsync, _ptsz,
	     (void *devPtr, size_t pitch, int value, size_t width,
	      size_t height, cudaStream_t stream),
	     (devPtr, pitch, value, width, height, stream))
{
	struct fill b = describe_2d(devPtr, pitch, value, width, height);

	return fill_box(d, &b, plane_queued, stream);
}

static struct fill describe_3d(struct cudaPitchedPtr p, int value,
			       struct cudaExtent extent)
{
	return (struct fill){(CUdeviceptr)p.ptr,  p.pitch,       p.ysize,
			     extent.width,        extent.height, extent.depth,
			     (unsigned char)value};
}

BOTH_STREAMS(cudaMemset3D, _ptds,
	     (struct cudaPitchedPtr pitchedDevPtr, int value,
	      struct cudaExtent extent),
	     (pitchedDevPtr, value, extent))
{
	struct fill b = describe_3d(pitchedDevPtr, value, extent);

	return fill_box(d, &b, plane_now, NULL);
}

BOTH_STREAMS(cudaMemset3DAsync, _ptsz,
	     (struct cudaPitchedPtr pitchedDevPtr, int value,
	      struct cudaExtent extent, cudaStream_t stream),
	     (pitchedDevPtr, value, extent, stream))
{
	struct fill b = describe_3d(pitchedDevPtr, value, extent);

	return fill_box(d, &b, plane_queued, stream);
}

/*
 * memset.c - filling memory with a byte.
 */
#include "fronts/cudart/runtime.h"

#include <stddef.h>

/*
 * A box of bytes: depth planes of `rows` rows, of which the first `height` are
 * set, `width` bytes of each. One plane is one call of the driver.
 */
struct box {
	CUdeviceptr at;
	size_t pitch, rows, width, height, depth;
	unsigned char value;
};

/* Who waits, and who queues. */
static CUresult plane_now(const struct driver *d, const struct box *b,
			  CUdeviceptr at, size_t height, cudaStream_t stream)
{
	(void)stream;
	return d->cuMemsetD2D8_v2(at, b->pitch, b->value, b->width, height);
}

static CUresult plane_queued(const struct driver *d, const struct box *b,
			     CUdeviceptr at, size_t height, cudaStream_t stream)
{
	return d->cuMemsetD2D8Async(at, b->pitch, b->value, b->width, height,
				    stream);
}

static cudaError_t
fill_box(const struct driver *d, struct box *b,
	 CUresult (*plane)(const struct driver *d, const struct box *b,
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
	/* The last one first: if any does not fit, nothing is set. */
	for (size_t z = b->depth; z--;)
		TRY(runtime_result(
		    plane(d, b, b->at + z * step, b->height, stream)));
	return cudaSuccess;
}

static cudaError_t cudaMemset_by(const struct driver *d, void *devPtr,
				 int value, size_t count)
{
	ENTER_CONTEXT();
	return count ? runtime_result(d->cuMemsetD8_v2(
			   (CUdeviceptr)devPtr, (unsigned char)value, count))
		     : cudaSuccess;
}
BOTH(cudaMemset, _ptds, (void *devPtr, int value, size_t count),
     (devPtr, value, count))

static cudaError_t cudaMemsetAsync_by(const struct driver *d, void *devPtr,
				      int value, size_t count,
				      cudaStream_t stream)
{
	ENTER_CONTEXT();
	return count ? runtime_result(d->cuMemsetD8Async((CUdeviceptr)devPtr,
							 (unsigned char)value,
							 count, stream))
		     : cudaSuccess;
}
BOTH(cudaMemsetAsync, _ptsz,
     (void *devPtr, int value, size_t count, cudaStream_t stream),
     (devPtr, value, count, stream))

static struct box flat(void *at, size_t pitch, int value, size_t width,
		       size_t height)
{
	return (struct box){
	    (CUdeviceptr)at,     pitch, height, width, height, 1,
	    (unsigned char)value};
}

static cudaError_t cudaMemset2D_by(const struct driver *d, void *devPtr,
				   size_t pitch, int value, size_t width,
				   size_t height)
{
	struct box b = flat(devPtr, pitch, value, width, height);

	return fill_box(d, &b, plane_now, NULL);
}
BOTH(cudaMemset2D, _ptds,
     (void *devPtr, size_t pitch, int value, size_t width, size_t height),
     (devPtr, pitch, value, width, height))

static cudaError_t cudaMemset2DAsync_by(const struct driver *d, void *devPtr,
					size_t pitch, int value, size_t width,
					size_t height, cudaStream_t stream)
{
	struct box b = flat(devPtr, pitch, value, width, height);

	return fill_box(d, &b, plane_queued, stream);
}
BOTH(cudaMemset2DAsync, _ptsz,
     (void *devPtr, size_t pitch, int value, size_t width, size_t height,
      cudaStream_t stream),
     (devPtr, pitch, value, width, height, stream))

static struct box deep(struct cudaPitchedPtr p, int value,
		       struct cudaExtent extent)
{
	return (struct box){(CUdeviceptr)p.ptr,  p.pitch,       p.ysize,
			    extent.width,        extent.height, extent.depth,
			    (unsigned char)value};
}

static cudaError_t cudaMemset3D_by(const struct driver *d,
				   struct cudaPitchedPtr pitchedDevPtr,
				   int value, struct cudaExtent extent)
{
	struct box b = deep(pitchedDevPtr, value, extent);

	return fill_box(d, &b, plane_now, NULL);
}
BOTH(cudaMemset3D, _ptds,
     (struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent),
     (pitchedDevPtr, value, extent))

static cudaError_t cudaMemset3DAsync_by(const struct driver *d,
					struct cudaPitchedPtr pitchedDevPtr,
					int value, struct cudaExtent extent,
					cudaStream_t stream)
{
	struct box b = deep(pitchedDevPtr, value, extent);

	return fill_box(d, &b, plane_queued, stream);
}
BOTH(cudaMemset3DAsync, _ptsz,
     (struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
      cudaStream_t stream),
     (pitchedDevPtr, value, extent, stream))

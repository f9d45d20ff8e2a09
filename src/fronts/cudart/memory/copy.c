/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - copies contiguous bytes within a device and between two devices. */
#include "fronts/cudart/memory/copy.h"

#include <stddef.h>

/*
 * Calls the driver's function for the direction. For cudaMemcpyDefault, calls
 * the function that determines the direction from the pointers.
 */
cudaError_t copy_now(const struct driver *d, void *dst, const void *src,
		     size_t count, enum cudaMemcpyKind kind)
{
	CUdeviceptr to = (CUdeviceptr)dst, from = (CUdeviceptr)src;

	REQUIRE(is_direction(kind), cudaErrorInvalidMemcpyDirection);
	if (!count)
		return cudaSuccess;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return runtime_result(d->cuMemcpyHtoD_v2(to, src, count));
	case cudaMemcpyDeviceToHost:
		return runtime_result(d->cuMemcpyDtoH_v2(dst, from, count));
	case cudaMemcpyDeviceToDevice:
		return runtime_result(d->cuMemcpyDtoD_v2(to, from, count));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
	default:
		return runtime_result(d->cuMemcpy(to, from, count));
	}
}

cudaError_t copy_queued(const struct driver *d, void *dst, const void *src,
			size_t count, enum cudaMemcpyKind kind,
			cudaStream_t stream)
{
	CUdeviceptr to = (CUdeviceptr)dst, from = (CUdeviceptr)src;

	REQUIRE(is_direction(kind), cudaErrorInvalidMemcpyDirection);
	if (!count)
		return cudaSuccess;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return runtime_result(
		    d->cuMemcpyHtoDAsync_v2(to, src, count, stream));
	case cudaMemcpyDeviceToHost:
		return runtime_result(
		    d->cuMemcpyDtoHAsync_v2(dst, from, count, stream));
	case cudaMemcpyDeviceToDevice:
		return runtime_result(
		    d->cuMemcpyDtoDAsync_v2(to, from, count, stream));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
	default:
		return runtime_result(
		    d->cuMemcpyAsync(to, from, count, stream));
	}
}

BOTH_STREAMS(cudaMemcpy, _ptds,
	     (void *dst, const void *src, size_t count,
	      enum cudaMemcpyKind kind),
	     (dst, src, count, kind))
{
	ENTER_CONTEXT();
	return copy_now(d, dst, src, count, kind);
}

BOTH_STREAMS(cudaMemcpyAsync, _ptsz,
	     (void *dst, const void *src, size_t count,
	      enum cudaMemcpyKind kind, cudaStream_t stream),
	     (dst, src, count, kind, stream))
{
	ENTER_CONTEXT();
	return copy_queued(d, dst, src, count, kind, stream);
}

/* Returns the primary contexts of both devices. The current context does not
 * change. */
static cudaError_t both_contexts(int dst_device, int src_device,
				 CUcontext *ret_dst, CUcontext *ret_src)
{
	ENTER_CONTEXT();
	TRY(cudart_primary(dst_device, ret_dst));
	return cudart_primary(src_device, ret_src);
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src,
			   int srcDevice, size_t count)
{
	CUcontext to, from;

	TRY(both_contexts(dstDevice, srcDevice, &to, &from));
	return count ? runtime_result(legacy->cuMemcpyPeer(
			   (CUdeviceptr)dst, to, (CUdeviceptr)src, from, count))
		     : cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src,
				int srcDevice, size_t count,
				cudaStream_t stream)
{
	CUcontext to, from;

	TRY(both_contexts(dstDevice, srcDevice, &to, &from));
	return count ? runtime_result(legacy->cuMemcpyPeerAsync(
			   (CUdeviceptr)dst, to, (CUdeviceptr)src, from, count,
			   stream))
		     : cudaSuccess;
}

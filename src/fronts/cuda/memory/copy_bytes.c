/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_bytes.c - the entry points that copy contiguous bytes. A table says
 * which kinds of memory each of them accepts.
 */
#include "fronts/cuda/memory/copy.h"

#define AT(pointer) ((uintptr_t)(pointer))

static CUresult enter_bytes(enum cuda_row row, struct way *w, uint64_t dst,
			    enum copy_place dst_place, uint64_t src,
			    enum copy_place src_place, size_t size)
{
	CUresult r = copy_enter(row, w);

	return r ? r : copy_bytes(w, dst, dst_place, src, src_place, size);
}

/*
 * SYNC and ASYNC define both stream variants of a function; OLD defines a
 * function from before CUDA 3.2.
 */
#define SYNC(symbol, params, names, dst, dst_place, src, src_place, size)      \
	BOTH_STREAMS(symbol, _ptds, params, names)                             \
	{                                                                      \
		struct way w = {.per_thread = per_thread};                     \
                                                                               \
		return enter_bytes(row, &w, dst, COPY_##dst_place, src,        \
				   COPY_##src_place, size);                    \
	}

#define ASYNC(symbol, params, names, dst, dst_place, src, src_place, size)     \
	BOTH_STREAMS(symbol, _ptsz, params, names)                             \
	{                                                                      \
		struct way w = {.stream = hStream,                             \
				.per_thread = per_thread,                      \
				.async = true};                                \
                                                                               \
		return enter_bytes(row, &w, dst, COPY_##dst_place, src,        \
				   COPY_##src_place, size);                    \
	}

#define OLD(symbol, params, dst, dst_place, src, src_place, size)              \
	CUresult symbol params                                                 \
	{                                                                      \
		struct way w = {.stream = NULL};                               \
                                                                               \
		return enter_bytes(ROW_##symbol, &w, dst, COPY_##dst_place,    \
				   src, COPY_##src_place, size);               \
	}

#define OLD_ASYNC(symbol, params, dst, dst_place, src, src_place, size)        \
	CUresult symbol params                                                 \
	{                                                                      \
		struct way w = {.stream = hStream, .async = true};             \
                                                                               \
		return enter_bytes(ROW_##symbol, &w, dst, COPY_##dst_place,    \
				   src, COPY_##src_place, size);               \
	}

/* clang-format off */
SYNC(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount),
     (dst, src, ByteCount), dst, ANY, src, ANY, ByteCount)
SYNC(cuMemcpyHtoD_v2,
     (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),
     (dstDevice, srcHost, ByteCount),
     dstDevice, DEVICE, AT(srcHost), HOST, ByteCount)
SYNC(cuMemcpyDtoH_v2,
     (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount),
     (dstHost, srcDevice, ByteCount),
     AT(dstHost), HOST, srcDevice, DEVICE, ByteCount)
SYNC(cuMemcpyDtoD_v2,
     (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
     (dstDevice, srcDevice, ByteCount),
     dstDevice, DEVICE, srcDevice, DEVICE, ByteCount)

ASYNC(cuMemcpyAsync,
      (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream),
      (dst, src, ByteCount, hStream), dst, ANY, src, ANY, ByteCount)
ASYNC(cuMemcpyHtoDAsync_v2,
      (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
       CUstream hStream),
      (dstDevice, srcHost, ByteCount, hStream),
      dstDevice, DEVICE, AT(srcHost), HOST, ByteCount)
ASYNC(cuMemcpyDtoHAsync_v2,
      (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
       CUstream hStream),
      (dstHost, srcDevice, ByteCount, hStream),
      AT(dstHost), HOST, srcDevice, DEVICE, ByteCount)
ASYNC(cuMemcpyDtoDAsync_v2,
      (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
       CUstream hStream),
      (dstDevice, srcDevice, ByteCount, hStream),
      dstDevice, DEVICE, srcDevice, DEVICE, ByteCount)

OLD(cuMemcpyHtoD,
    (CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount),
    dstDevice, DEVICE, AT(srcHost), HOST, ByteCount)
OLD(cuMemcpyDtoH,
    (void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount),
    AT(dstHost), HOST, srcDevice, DEVICE, ByteCount)
OLD(cuMemcpyDtoD,
    (CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice,
     unsigned int ByteCount),
    dstDevice, DEVICE, srcDevice, DEVICE, ByteCount)
OLD_ASYNC(cuMemcpyHtoDAsync,
	  (CUdeviceptr_v1 dstDevice, const void *srcHost,
	   unsigned int ByteCount, CUstream hStream),
	  dstDevice, DEVICE, AT(srcHost), HOST, ByteCount)
OLD_ASYNC(cuMemcpyDtoHAsync,
	  (void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount,
	   CUstream hStream),
	  AT(dstHost), HOST, srcDevice, DEVICE, ByteCount)
OLD_ASYNC(cuMemcpyDtoDAsync,
	  (CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice,
	   unsigned int ByteCount, CUstream hStream),
	  dstDevice, DEVICE, srcDevice, DEVICE, ByteCount)
/* clang-format on */

/* ---- from device to device ---- */

static CUresult copy_peer(enum cuda_row row, struct way *w,
			  const CUcontext contexts[2], CUdeviceptr dst,
			  CUdeviceptr src, size_t size)
{
	CUresult r = copy_enter(row, w);

	if (!r)
		r = copy_peer_begin(w, contexts);
	if (r)
		return r;
	r = copy_bytes(w, dst, COPY_DEVICE, src, COPY_DEVICE, size);
	copy_peer_end(w, contexts);
	return r;
}

BOTH_STREAMS(cuMemcpyPeer, _ptds,
	     (CUdeviceptr dstDevice, CUcontext dstContext,
	      CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount),
	     (dstDevice, dstContext, srcDevice, srcContext, ByteCount))
{
	struct way w = {.per_thread = per_thread};

	return copy_peer(row, &w, (CUcontext[]){dstContext, srcContext},
			 dstDevice, srcDevice, ByteCount);
}

BOTH_STREAMS(cuMemcpyPeerAsync, _ptsz,
	     (CUdeviceptr dstDevice, CUcontext dstContext,
	      CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
	      CUstream hStream),
	     (dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream))
{
	struct way w = {
	    .stream = hStream, .per_thread = per_thread, .async = true};

	return copy_peer(row, &w, (CUcontext[]){dstContext, srcContext},
			 dstDevice, srcDevice, ByteCount);
}

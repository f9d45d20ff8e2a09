/* SPDX-License-Identifier: Apache-2.0 */
/* box3d.c - copies 3D boxes within a device and between two devices. */
#include "base/assert.h"
#include "fronts/cudart/memory/box.h"
#include "fronts/cudart/memory/format.h"

/* Describes the source or destination of a copy. *ret_unit is the number of
 * bytes per unit of x: the size of an array's element, or 1 for memory. */
static cudaError_t end_of_copy(struct end *ret_end, size_t *ret_unit,
			       cudaArray_const_t array,
			       struct cudaPitchedPtr memory, struct cudaPos at)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	size_t unit = 1;

	/* Exactly one of `array` and `memory` must be given. */
	REQUIRE(!array != !memory.ptr, cudaErrorInvalidValue);
	if (array) {
		TRY(runtime_result(legacy->cuArray3DGetDescriptor_v2(
		    &d, (CUarray)(uintptr_t)array)));
		unit = format_bytes(&d);
	}
	*ret_end =
	    (struct end){array,       memory.ptr, memory.pitch, memory.ysize,
			 at.x * unit, at.y,       at.z};
	*ret_unit = unit;
	return cudaSuccess;
}

/* Two arrays must have elements of the same size. */
static bool fit_together(const struct end *to, size_t dst_unit,
			 const struct end *from, size_t src_unit)
{
	return !to->array || !from->array || dst_unit == src_unit;
}

/* If the source or the destination is an array, the extent's width is in
 * elements. */
static struct box size_of_extent(struct cudaExtent extent, size_t dst_unit,
				 size_t src_unit)
{
	size_t unit = dst_unit > src_unit ? dst_unit : src_unit;

	return (struct box){extent.width * unit, extent.height, extent.depth};
}

cudaError_t box_request_3d(const struct cudaMemcpy3DParms *p,
			   CUDA_MEMCPY3D *ret_request)
{
	size_t dst_unit = 0, src_unit = 0;
	struct end to = {0}, from = {0};

	TRY(end_of_copy(&to, &dst_unit, p->dstArray, p->dstPtr, p->dstPos));
	TRY(end_of_copy(&from, &src_unit, p->srcArray, p->srcPtr, p->srcPos));
	REQUIRE(fit_together(&to, dst_unit, &from, src_unit),
		cudaErrorInvalidValue);
	return box_request(&to, &from,
			   size_of_extent(p->extent, dst_unit, src_unit),
			   p->kind, ret_request);
}

/* The number of bytes per unit of x: the size of an array's element, or 1 for
 * memory. */
static cudaError_t unit_of(CUarray array, size_t *ret_unit)
{
	CUDA_ARRAY3D_DESCRIPTOR d;

	*ret_unit = 1;
	if (!array)
		return cudaSuccess;
	TRY(runtime_result(legacy->cuArray3DGetDescriptor_v2(&d, array)));
	*ret_unit = format_bytes(&d);
	GK_ASSERT(*ret_unit); /* the driver makes no array without channels */
	return cudaSuccess;
}

static enum cudaMemcpyKind kind_of(CUmemorytype dst, CUmemorytype src)
{
	bool to_host = dst == CU_MEMORYTYPE_HOST,
	     from_host = src == CU_MEMORYTYPE_HOST;

	if (dst == CU_MEMORYTYPE_UNIFIED || src == CU_MEMORYTYPE_UNIFIED)
		return cudaMemcpyDefault;
	if (from_host)
		return to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
	return to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

cudaError_t box_params_3d(const CUDA_MEMCPY3D *r,
			  struct cudaMemcpy3DParms *ret_params)
{
	size_t dst_unit = 1, src_unit = 1, unit;
	const void *from = r->srcMemoryType == CU_MEMORYTYPE_HOST
			       ? r->srcHost
			       : (const void *)r->srcDevice;
	void *to = r->dstMemoryType == CU_MEMORYTYPE_HOST
		       ? r->dstHost
		       : (void *)r->dstDevice;

	TRY(unit_of(r->dstArray, &dst_unit));
	TRY(unit_of(r->srcArray, &src_unit));
	unit = dst_unit > src_unit ? dst_unit : src_unit;
	*ret_params = (struct cudaMemcpy3DParms){
	    .srcArray = (cudaArray_t)r->srcArray,
	    .srcPos = {r->srcXInBytes / src_unit, r->srcY, r->srcZ},
	    .dstArray = (cudaArray_t)r->dstArray,
	    .dstPos = {r->dstXInBytes / dst_unit, r->dstY, r->dstZ},
	    .extent = {r->WidthInBytes / unit, r->Height, r->Depth},
	    .kind = kind_of(r->dstMemoryType, r->srcMemoryType),
	};
	if (!r->srcArray)
		ret_params->srcPtr = (struct cudaPitchedPtr){
		    (void *)(uintptr_t)from, r->srcPitch, r->srcPitch,
		    r->srcHeight};
	if (!r->dstArray)
		ret_params->dstPtr = (struct cudaPitchedPtr){
		    to, r->dstPitch, r->dstPitch, r->dstHeight};
	return cudaSuccess;
}

static cudaError_t copy_3d(const struct driver *d, const cudaStream_t *queue,
			   const struct cudaMemcpy3DParms *p)
{
	size_t dst_unit = 0, src_unit = 0;
	struct end to = {0}, from = {0};
	struct box box;

	ENTER_CONTEXT();
	REQUIRE(p, cudaErrorInvalidValue);
	TRY(end_of_copy(&to, &dst_unit, p->dstArray, p->dstPtr, p->dstPos));
	TRY(end_of_copy(&from, &src_unit, p->srcArray, p->srcPtr, p->srcPos));
	REQUIRE(fit_together(&to, dst_unit, &from, src_unit),
		cudaErrorInvalidValue);
	box = size_of_extent(p->extent, dst_unit, src_unit);
	return box_copy(d, queue, &to, &from, box, p->kind);
}
NOW(cudaMemcpy3D, copy_3d, (const struct cudaMemcpy3DParms *p), (p))
QUEUED(cudaMemcpy3DAsync, copy_3d,
       (const struct cudaMemcpy3DParms *p, cudaStream_t stream), (p))

static CUDA_MEMCPY3D_PEER
request_peer_box(const struct end *to, const struct end *from, struct box box)
{
	return (CUDA_MEMCPY3D_PEER){
	    .srcXInBytes = from->x,
	    .srcY = from->y,
	    .srcZ = from->z,
	    .srcMemoryType =
		from->array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE,
	    .srcDevice = (CUdeviceptr)from->at,
	    .srcArray = (CUarray)(uintptr_t)from->array,
	    .srcPitch = from->pitch,
	    .srcHeight = from->rows,
	    .dstXInBytes = to->x,
	    .dstY = to->y,
	    .dstZ = to->z,
	    .dstMemoryType =
		to->array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE,
	    .dstDevice = (CUdeviceptr)to->at,
	    .dstArray = (CUarray)(uintptr_t)to->array,
	    .dstPitch = to->pitch,
	    .dstHeight = to->rows,
	    .WidthInBytes = box.width,
	    .Height = box.height,
	    .Depth = box.depth,
	};
}

static cudaError_t copy_3d_peer(const struct driver *d,
				const cudaStream_t *queue,
				const struct cudaMemcpy3DPeerParms *p)
{
	size_t dst_unit = 0, src_unit = 0;
	CUDA_MEMCPY3D_PEER r;
	struct end to = {0}, from = {0};
	struct box box;

	ENTER_CONTEXT();
	REQUIRE(p, cudaErrorInvalidValue);
	TRY(end_of_copy(&to, &dst_unit, p->dstArray, p->dstPtr, p->dstPos));
	TRY(end_of_copy(&from, &src_unit, p->srcArray, p->srcPtr, p->srcPos));
	REQUIRE(fit_together(&to, dst_unit, &from, src_unit),
		cudaErrorInvalidValue);
	box = size_of_extent(p->extent, dst_unit, src_unit);
	if (!box.width || !box.height || !box.depth)
		return cudaSuccess;
	r = request_peer_box(&to, &from, box);
	TRY(cudart_primary(p->dstDevice, &r.dstContext));
	TRY(cudart_primary(p->srcDevice, &r.srcContext));
	return runtime_result(queue ? d->cuMemcpy3DPeerAsync(&r, *queue)
				    : d->cuMemcpy3DPeer(&r));
}
NOW(cudaMemcpy3DPeer, copy_3d_peer, (const struct cudaMemcpy3DPeerParms *p),
    (p))
QUEUED(cudaMemcpy3DPeerAsync, copy_3d_peer,
       (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream), (p))

/* memory.c - device memory of a context: taking, freeing, asking. */
#include "fronts/cuda/memory.h"
#include "base/err.h"
#include "fronts/cuda/array.h"
#include "fronts/cuda/graph_memory.h"
#include "fronts/cuda/ipc.h"
#include "fronts/cuda/stream.h"
#include "machine/file/fault_kinds.h"
#include "machine/store/gate.h"
#include "machine/trouble/cuda_fault.h"

/* The size to which a row of pitched memory is rounded, in bytes. */
#define PITCH_STEP 512u

bool memory_fault(const struct cuda_device *d)
{
	return __builtin_expect(
		   (gkf_gate_word(cuda.gate->device[d->index].faults) &
		    GKF_FAULT_BIT(GKF_FAULT_OOM)) != 0,
		   0) &&
	       gkf_cuda_fault_allocation(cuda.machine, d->index);
}

CUresult memory_alloc(CUcontext ctx, size_t size, size_t align, unsigned flags,
		      CUdeviceptr *ret_address)
{
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_DEVICE,
				     .device = ctx->device->index,
				     .size = size,
				     .align = align,
				     .owner = ctx->base,
				     .flags = flags};
	uint64_t address;
	int error = memory_fault(ctx->device) ? GK_ERR_NO_SPACE
					      : gkf_space_alloc(&ask, &address);

	if (error)
		return memory_error(error);
	*ret_address = address;
	return CUDA_SUCCESS;
}

CUresult memory_error(int gk_err)
{
	return gk_err == GK_ERR_NOT_FOUND ? CUDA_ERROR_DEVICE_UNAVAILABLE
					  : front_error(gk_err);
}

CUresult memory_counted(enum cuda_row row, CUresult r)
{
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		front_count_refusal(row);
	return r;
}

bool memory_base(CUdeviceptr address, unsigned kinds,
		 struct gkf_extent *ret_extent)
{
	struct gkf_extent e;

	if (!gkf_space_find(address, &e) || e.base != address ||
	    !(kinds & MEMORY_BIT(e.kind)) || note_is_leaving(&e))
		return false;
	*ret_extent = e;
	return true;
}

bool memory_known(CUdeviceptr address, struct gkf_extent *ret_extent)
{
	bool found = gkf_space_find(address, ret_extent);
	struct gkf_mapping m;

	if (found && ret_extent->kind != GKF_MEMORY_MAPPED)
		return true;
	if (!gkf_space_mapping(address, &m))
		return false;
	*ret_extent = (struct gkf_extent){.base = m.base,
					  .size = m.size,
					  .kind = GKF_MEMORY_MAPPED,
					  .device = m.device,
					  .readers = m.readers,
					  .writers = m.writers,
					  .id = m.id};
	return true;
}

bool memory_writes(CUcontext ctx, const struct gkf_extent *e)
{
	return e->kind != GKF_MEMORY_MAPPED ||
	       (e->writers >> ctx->device->index & 1);
}

/* May work of a context use a piece? */
static bool concerns(CUcontext ctx, const void *data)
{
	const struct gkf_extent *e = data;

	bool any = e->kind != GKF_MEMORY_DEVICE && e->kind != GKF_MEMORY_MAPPED;

	return any || memory_reaches(ctx, e);
}

CUresult memory_quiet(CUcontext ctx, const struct gkf_extent *e)
{
	return stream_drain_all(ctx, concerns, e);
}

CUresult memory_free(const struct gkf_extent *e)
{
	tag_drop(e);
	return gkf_space_free(e->base) ? CUDA_ERROR_INVALID_VALUE
				       : CUDA_SUCCESS;
}

/* Everything of a context that is left. */
static void close_memory(CUcontext ctx)
{
	array_close(ctx);
	ipc_close(ctx);
	gkf_space_drop(ctx);
}

const struct cuda_part_row memory_part = {NULL, close_memory};

/* ---- entry points ---- */

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	ENTER_CONTEXT(cuMemAlloc_v2, ctx);
	if (!dptr || !bytesize)
		return CUDA_ERROR_INVALID_VALUE;
	return memory_alloc(ctx, bytesize, 0, 0, dptr);
}

/* Addresses have more than its 32 bits. */
CUresult cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
	ENTER_CONTEXT(cuMemAlloc, ctx);
	return !dptr || !bytesize ? CUDA_ERROR_INVALID_VALUE
				  : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult check_pitched(size_t width, size_t height, unsigned element)
{
	if (!width || !height ||
	    (element != 4 && element != 8 && element != 16) ||
	    width > MEMORY_MAX_PITCH - PITCH_STEP)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch,
			    size_t WidthInBytes, size_t Height,
			    unsigned int ElementSizeBytes)
{
	size_t pitch = (WidthInBytes + PITCH_STEP - 1) & -(size_t)PITCH_STEP;
	size_t size;
	CUresult r;

	ENTER_CONTEXT(cuMemAllocPitch_v2, ctx);
	r = dptr && pPitch
		? check_pitched(WidthInBytes, Height, ElementSizeBytes)
		: CUDA_ERROR_INVALID_VALUE;
	if (r)
		return r;
	if (__builtin_mul_overflow(pitch, Height, &size))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = memory_alloc(ctx, size, 0, 0, dptr);
	if (!r)
		*pPitch = pitch;
	return r;
}

CUresult cuMemAllocPitch(CUdeviceptr_v1 *dptr, unsigned int *pPitch,
			 unsigned int WidthInBytes, unsigned int Height,
			 unsigned int ElementSizeBytes)
{
	CUresult r;

	ENTER_CONTEXT(cuMemAllocPitch, ctx);
	r = dptr && pPitch
		? check_pitched(WidthInBytes, Height, ElementSizeBytes)
		: CUDA_ERROR_INVALID_VALUE;
	return r ? r : CUDA_ERROR_OUT_OF_MEMORY;
}

/* What a graph allocated, if it was one: after all that uses it. */
static CUresult free_of_graph(CUcontext ctx, const struct gkf_extent *e)
{
	CUresult r = memory_quiet(ctx, e);

	if (!r && !graph_memory_free(e->base, (struct gkf_ticket){0}, &r))
		r = CUDA_ERROR_INVALID_VALUE;
	return r;
}

/* Nothing is freed of nothing, as with free(). */
static CUresult free_piece(CUcontext ctx, CUdeviceptr address)
{
	struct gkf_extent e;
	CUresult r;

	if (!address)
		return CUDA_SUCCESS;
	if (!memory_base(address,
			 MEMORY_BIT(GKF_MEMORY_DEVICE) |
			     MEMORY_BIT(GKF_MEMORY_MANAGED),
			 &e))
		return CUDA_ERROR_INVALID_VALUE;
	if (e.flags & MEMORY_FIXED)
		return free_of_graph(ctx, &e);
	r = memory_quiet(ctx, &e);
	return r ? r : memory_free(&e);
}

CUresult cuMemFree_v2(CUdeviceptr dptr)
{
	ENTER_CONTEXT(cuMemFree_v2, ctx);
	return free_piece(ctx, dptr);
}

CUresult cuMemFree(CUdeviceptr_v1 dptr)
{
	ENTER_CONTEXT(cuMemFree, ctx);
	return free_piece(ctx, dptr);
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
	uint64_t all, left;

	ENTER_CONTEXT(cuMemGetInfo_v2, ctx);
	device_memory(ctx->device, &all, &left);
	if (free)
		*free = left;
	if (total)
		*total = all;
	return CUDA_SUCCESS;
}

static unsigned clamp_to_unsigned(uint64_t n)
{
	return n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
}

CUresult cuMemGetInfo(unsigned int *free, unsigned int *total)
{
	uint64_t all, left;

	ENTER_CONTEXT(cuMemGetInfo, ctx);
	device_memory(ctx->device, &all, &left);
	if (free)
		*free = clamp_to_unsigned(left);
	if (total)
		*total = clamp_to_unsigned(all);
	return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize,
				 CUdeviceptr dptr)
{
	struct gkf_extent e;

	ENTER_CONTEXT(cuMemGetAddressRange_v2, ctx);
	if (!memory_known(dptr, &e))
		return CUDA_ERROR_NOT_FOUND;
	if (pbase)
		*pbase = e.base;
	if (psize)
		*psize = e.size;
	return CUDA_SUCCESS;
}

/* The answers have 32 bits: a greater size is told as the greatest one. */
CUresult cuMemGetAddressRange(CUdeviceptr_v1 *pbase, unsigned int *psize,
			      CUdeviceptr_v1 dptr)
{
	struct gkf_extent e;

	ENTER_CONTEXT(cuMemGetAddressRange, ctx);
	if (!memory_known(dptr, &e))
		return CUDA_ERROR_NOT_FOUND;
	if (pbase)
		*pbase = (CUdeviceptr_v1)e.base;
	if (psize)
		*psize = clamp_to_unsigned(e.size);
	return CUDA_SUCCESS;
}

/* No memory here is behind a descriptor. */
CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr,
				       size_t size,
				       CUmemRangeHandleType handleType,
				       unsigned long long flags)
{
	ENTER_CONTEXT(cuMemGetHandleForAddressRange, ctx);
	if (!handle || !size ||
	    handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD ||
	    (flags & ~(unsigned long long)
			 CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE) ||
	    !gkf_space_view(dptr, size))
		return CUDA_ERROR_INVALID_VALUE;
	return memory_counted(ROW_cuMemGetHandleForAddressRange,
			      CUDA_ERROR_NOT_SUPPORTED);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - allocates, frees and finds the device memory of contexts. */
#include "fronts/cuda/memory/memory.h"
#include "base/err.h"
#include "machine/file/fault_kinds.h"
#include "machine/store/gate.h"
#include "machine/trouble/cuda_fault.h"

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
	    !(kinds & MEMORY_BIT(e.kind)) || tag_is_leaving(&e))
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

CUresult memory_free(const struct gkf_extent *e)
{
	tag_drop(e);
	return gkf_space_free(e->base) ? CUDA_ERROR_INVALID_VALUE
				       : CUDA_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* pointer.c - reports the attributes of pointers. */
#include "fronts/cuda/memory/ipc.h"
#include "fronts/cuda/memory/mem_pool.h"
#include "fronts/cuda/memory/memory.h"
#include "fronts/cuda/memory/physical.h"

#include <string.h>

/* The value of an attribute. */
union value {
	uint64_t word;
	uint32_t half;
	int32_t number;
	void *pointer;
};

/* The size of each attribute in bytes; 0: unknown attribute. */
static const unsigned char sizes[] = {
    [CU_POINTER_ATTRIBUTE_CONTEXT] = sizeof(CUcontext),
    [CU_POINTER_ATTRIBUTE_MEMORY_TYPE] = sizeof(unsigned),
    [CU_POINTER_ATTRIBUTE_DEVICE_POINTER] = sizeof(CUdeviceptr),
    [CU_POINTER_ATTRIBUTE_HOST_POINTER] = sizeof(void *),
    [CU_POINTER_ATTRIBUTE_P2P_TOKENS] =
	sizeof(CUDA_POINTER_ATTRIBUTE_P2P_TOKENS),
    [CU_POINTER_ATTRIBUTE_SYNC_MEMOPS] = sizeof(unsigned),
    [CU_POINTER_ATTRIBUTE_BUFFER_ID] = sizeof(uint64_t),
    [CU_POINTER_ATTRIBUTE_IS_MANAGED] = sizeof(unsigned),
    [CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL] = sizeof(int),
    [CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE] = sizeof(unsigned),
    [CU_POINTER_ATTRIBUTE_RANGE_START_ADDR] = sizeof(CUdeviceptr),
    [CU_POINTER_ATTRIBUTE_RANGE_SIZE] = sizeof(size_t),
    [CU_POINTER_ATTRIBUTE_MAPPED] = sizeof(unsigned),
    [CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES] = sizeof(uint64_t),
    [CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE] = sizeof(unsigned),
    [CU_POINTER_ATTRIBUTE_ACCESS_FLAGS] = sizeof(unsigned),
    [CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE] = sizeof(CUmemoryPool),
    [CU_POINTER_ATTRIBUTE_MAPPING_SIZE] = sizeof(size_t),
    [CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR] = sizeof(CUdeviceptr),
    [CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID] = sizeof(uint64_t),
    [CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE] = sizeof(unsigned),
};

static unsigned attribute_size(CUpointer_attribute a)
{
	return (unsigned)a < sizeof(sizes) ? sizes[a] : 0;
}

static int ordinal_of(const struct gkf_extent *e)
{
	for (unsigned i = 0; i < cuda.device_count; i++)
		if (cuda.device[i].index == e->device)
			return (int)i;
	return CU_DEVICE_INVALID;
}

static bool is_host(const struct gkf_extent *e)
{
	return e->kind == GKF_MEMORY_HOST || e->kind == GKF_MEMORY_REGISTERED;
}

static unsigned access_of(const struct gkf_extent *e)
{
	bool fixed = e->kind == GKF_MEMORY_REGISTERED &&
		     (e->flags & CU_MEMHOSTREGISTER_READ_ONLY);
	CUcontext ctx = ctx_current();

	if (e->kind == GKF_MEMORY_MAPPED) {
		if (!ctx || !memory_reaches(ctx, e))
			return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
		fixed = !memory_writes(ctx, e);
	}
	return fixed ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ
		     : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
}

/* Returns an attribute of an address that CUDA does not know. */
static CUresult attribute_of_unknown(CUpointer_attribute a, union value *v)
{
	*v = (union value){0};
	if (a == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
		v->number = CU_DEVICE_INVALID;
	return CUDA_ERROR_INVALID_VALUE;
}

/* Whether kernels of the current context may use a piece. */
static CUresult can_reach(const struct gkf_extent *e)
{
	CUcontext ctx = ctx_current();

	if (!ctx || ctx_of(ctx, &ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	return memory_reaches(ctx, e) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Returns the types of shareable handles that the memory can have. */
static uint64_t handle_types_of(const struct gkf_extent *e, CUdeviceptr at)
{
	struct gkf_mapping m;
	const struct physical *p;

	if (e->kind != GKF_MEMORY_MAPPED || !gkf_space_mapping(at, &m))
		return CU_MEM_HANDLE_TYPE_NONE;
	p = m.tag;
	return p->prop.requestedHandleTypes;
}

static CUresult attribute_of_known(CUpointer_attribute a, CUdeviceptr at,
				   const struct gkf_extent *e, union value *v)
{
	CUresult r = CUDA_SUCCESS;

	*v = (union value){0};
	switch (a) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		v->pointer = e->pool ? NULL : e->owner;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		v->half =
		    is_host(e) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		r = can_reach(e);
		v->word = r ? 0 : at;
		break;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (e->kind == GKF_MEMORY_DEVICE ||
		    e->kind == GKF_MEMORY_MAPPED)
			return CUDA_ERROR_INVALID_VALUE;
		v->word = at;
		break;
	case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
		return CUDA_ERROR_NOT_SUPPORTED;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		v->half = tag_is_sync(e);
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
	case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
		v->word = e->id;
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		v->half = e->kind == GKF_MEMORY_MANAGED;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		v->number = ordinal_of(e);
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		v->word = e->base;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		v->word = e->size;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		v->half = 1;
		break;
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		v->half = access_of(e);
		break;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		v->pointer = e->pool ? pool_of(e) : NULL;
		break;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		v->half = ipc_is_capable(e);
		break;
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		v->word = handle_types_of(e, at);
		break;
	/* RDMA and hardware decompression are not supported. */
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
	case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
	default:
		break;
	}
	return r;
}

static CUresult get_pointer_attribute(CUpointer_attribute a, CUdeviceptr at,
				      void *data)
{
	struct gkf_extent e;
	union value v;
	CUresult r = memory_known(at, &e) ? attribute_of_known(a, at, &e, &v)
					  : attribute_of_unknown(a, &v);

	memcpy(data, &v,
	       attribute_size(a) < sizeof(v) ? attribute_size(a) : sizeof(v));
	return r;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute_id,
			       CUdeviceptr ptr)
{
	CUDA_POINTER_ATTRIBUTE_P2P_TOKENS room;
	CUresult r;

	ENTER(cuPointerGetAttribute);
	if (!data || !attribute_size(attribute_id))
		return CUDA_ERROR_INVALID_VALUE;
	r = get_pointer_attribute(attribute_id, ptr, &room);
	if (!r)
		memcpy(data, &room, attribute_size(attribute_id));
	return memory_counted(ROW_cuPointerGetAttribute, r);
}

/* Attributes that an address does not have are 0; that is not an error. */
CUresult cuPointerGetAttributes(unsigned int numAttributes,
				CUpointer_attribute *attributes, void **data,
				CUdeviceptr ptr)
{
	ENTER(cuPointerGetAttributes);
	if (!numAttributes || !attributes || !data)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < numAttributes; i++)
		if (!data[i] || !attribute_size(attributes[i]) ||
		    attributes[i] == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
			return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < numAttributes; i++)
		get_pointer_attribute(attributes[i], ptr, data[i]);
	return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value,
			       CUpointer_attribute attribute_id,
			       CUdeviceptr ptr)
{
	struct memory_tag *tag;
	struct gkf_extent e;
	unsigned on;

	ENTER(cuPointerSetAttribute);
	if (!value || attribute_id != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
	    !gkf_space_find(ptr, &e) || e.kind != GKF_MEMORY_DEVICE || e.pool)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&on, value, sizeof(on));
	tag = tag_open(&e, true);
	if (!tag)
		return CUDA_ERROR_OUT_OF_MEMORY;
	tag->sync_memops = on != 0;
	tag_close();
	/* Copies that were started earlier must be finished, too. */
	return on ? memory_quiet(e.owner, &e) : CUDA_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_mipmap.c - mipmapped arrays: one allocation, with an array for each
 * level.
 */
#include "fronts/cuda/memory/array.h"
#include "fronts/cuda/memory/memory.h"

#define LEVELS_MAX 17 /* enough for 65536 elements in a row */

struct CUmipmappedArray_st {
	CUdeviceptr base;
	unsigned levels;
	CUarray level[LEVELS_MAX];
};

static bool is_mipmap(CUmipmappedArray mipmap)
{
	return handle_is(mipmap, HANDLE_MIPMAP);
}

static size_t half_side(size_t n)
{
	return n > 1 ? n / 2 : n;
}

/*
 * Returns the next smaller level, which has the same number of layers and
 * faces.
 */
static CUDA_ARRAY3D_DESCRIPTOR next_level(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	CUDA_ARRAY3D_DESCRIPTOR next = *d;

	next.Width = half_side(d->Width);
	next.Height = half_side(d->Height);
	if (!(d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
		next.Depth = half_side(d->Depth);
	return next;
}

/*
 * Returns the number of levels requested, but at least 1 and at most 1 + log2
 * of the longest side.
 */
static unsigned levels_of(CUDA_ARRAY3D_DESCRIPTOR d, unsigned asked)
{
	unsigned levels = 1;

	for (; levels < LEVELS_MAX; levels++) {
		CUDA_ARRAY3D_DESCRIPTOR next = next_level(&d);

		if (next.Width == d.Width && next.Height == d.Height &&
		    next.Depth == d.Depth)
			break;
		d = next;
	}
	if (asked > levels)
		return levels;
	return asked ? asked : 1;
}

/*
 * Makes the handles of all levels; returns their total size in bytes, 0: out of
 * memory.
 */
static size_t lay_out_levels(CUcontext ctx, CUmipmappedArray m,
			     CUDA_ARRAY3D_DESCRIPTOR d, size_t element)
{
	size_t size = 0;

	for (unsigned i = 0; i < m->levels; i++) {
		m->level[i] = array_lay_out(ctx, &d, element);
		if (!m->level[i])
			return 0;
		m->level[i]->level_of = m;
		size += m->level[i]->size;
		d = next_level(&d);
	}
	return size;
}

static CUresult abandon_mipmap(CUmipmappedArray m, CUresult r)
{
	for (unsigned i = 0; i < m->levels && m->level[i]; i++)
		handle_free(m->level[i]);
	handle_free(m);
	return r;
}

CUresult
cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
		       const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
		       unsigned int numMipmapLevels)
{
	const CUDA_ARRAY3D_DESCRIPTOR *d = pMipmappedArrayDesc;
	CUmipmappedArray m;
	size_t element, size;
	CUdeviceptr at;
	CUresult r;

	ENTER_CONTEXT(cuMipmappedArrayCreate, ctx);
	if (!pHandle || !d)
		return CUDA_ERROR_INVALID_VALUE;
	r = array_check(ctx, d, true, &element);
	if (r)
		return memory_counted(ROW_cuMipmappedArrayCreate, r);
	m = handle_new(HANDLE_MIPMAP, sizeof(*m));
	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	m->levels = levels_of(*d, numMipmapLevels);
	size = lay_out_levels(ctx, m, *d, element);
	r = size ? memory_alloc(ctx, size, 0, MEMORY_FIXED, &m->base)
		 : CUDA_ERROR_OUT_OF_MEMORY;
	if (r)
		return abandon_mipmap(m, r);
	at = m->base;
	for (unsigned i = 0; i < m->levels; i++) {
		array_settle(m->level[i], at);
		at += m->level[i]->size;
	}
	*pHandle = m;
	return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
	CUmipmappedArray m = hMipmappedArray;
	struct gkf_extent e;
	CUresult r;

	ENTER_CONTEXT(cuMipmappedArrayDestroy, ctx);
	if (!is_mipmap(m) || !gkf_space_find(m->base, &e))
		return CUDA_ERROR_INVALID_HANDLE;
	r = memory_quiet(ctx, &e);
	if (r)
		return r;
	for (unsigned i = 0; i < m->levels; i++)
		array_end(m->level[i]);
	handle_free(m);
	return memory_free(&e);
}

CUresult cuMipmappedArrayGetLevel(CUarray *pLevelArray,
				  CUmipmappedArray hMipmappedArray,
				  unsigned int level)
{
	ENTER_CONTEXT(cuMipmappedArrayGetLevel, ctx);
	if (!pLevelArray)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_mipmap(hMipmappedArray))
		return CUDA_ERROR_INVALID_HANDLE;
	if (level >= hMipmappedArray->levels)
		return CUDA_ERROR_INVALID_VALUE;
	*pLevelArray = hMipmappedArray->level[level];
	return CUDA_SUCCESS;
}

/*
 * As with arrays, memory cannot be mapped to mipmapped arrays later or in part.
 */
CUresult cuMipmappedArrayGetMemoryRequirements(
    CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, CUmipmappedArray mipmap,
    CUdevice device)
{
	ENTER(cuMipmappedArrayGetMemoryRequirements);
	if (!front_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	return !memoryRequirements || is_mipmap(mipmap)
		   ? CUDA_ERROR_INVALID_VALUE
		   : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuMipmappedArrayGetSparseProperties(
    CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUmipmappedArray mipmap)
{
	ENTER(cuMipmappedArrayGetSparseProperties);
	return !sparseProperties || is_mipmap(mipmap)
		   ? CUDA_ERROR_INVALID_VALUE
		   : CUDA_ERROR_INVALID_HANDLE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_shape.c - finds the memory described by the structs of two-dimensional
 * and three-dimensional copies.
 */
#include "fronts/cuda/memory/array.h"
#include "base/assert.h"
#include "fronts/cuda/memory/copy.h"

/* One side of a CUDA_MEMCPY3D. */
struct corner {
	CUmemorytype type;
	const void *host;
	CUdeviceptr device;
	CUarray array;
	size_t x, y, z, lod; /* x in bytes, y in rows, z in slices */
	size_t pitch, height;
};

struct extent {
	size_t width, height, depth;
};

/* Adds b * c to a; false: overflow. */
static bool grow_product(size_t *a, size_t b, size_t c)
{
	size_t product;

	return !__builtin_mul_overflow(b, c, &product) &&
	       !__builtin_add_overflow(*a, product, a);
}

/*
 * Returns the offsets of the first byte of a box and of the end of its last
 * byte, relative to the address in the struct.
 */
static bool reach_bytes(const struct corner *c, const struct extent *e,
			size_t *ret_from, size_t *ret_to)
{
	size_t slice = 0, from = c->x, to = c->x;

	if (!grow_product(&slice, c->pitch, c->height) ||
	    !grow_product(&to, e->width, 1) ||
	    !grow_product(&from, c->y, c->pitch) ||
	    !grow_product(&from, c->z, slice) ||
	    !grow_product(&to, c->y, c->pitch) ||
	    !grow_product(&to, e->height - 1, c->pitch) ||
	    !grow_product(&to, c->z, slice) ||
	    !grow_product(&to, e->depth - 1, slice))
		return false;
	*ret_from = from;
	*ret_to = to;
	return true;
}

/*
 * Whether a row fits in the pitch and a slice in the height. The pitch matters
 * only if there are several rows, the height only if there are several slices.
 */
static bool is_shape_sound(const struct corner *c, const struct extent *e)
{
	bool rows = e->height > 1 || e->depth > 1 || c->y || c->z;
	bool slices = e->depth > 1 || c->z;
	size_t right = c->x, below = c->y;

	if (c->lod || c->pitch > MEMORY_MAX_PITCH ||
	    !grow_product(&right, e->width, 1) ||
	    !grow_product(&below, e->height, 1))
		return false;
	return (c->pitch ? c->pitch >= right : !rows) &&
	       (!slices || c->height >= below);
}

static CUresult find_rows(const struct corner *c, const struct extent *e,
			  enum copy_place place, struct copy_side *ret_side)
{
	uint64_t base = place == COPY_HOST ? (uintptr_t)c->host : c->device;
	struct copy_side side;
	size_t from, to;
	CUresult r;

	if (!base || !is_shape_sound(c, e) || !reach_bytes(c, e, &from, &to) ||
	    base + to < base)
		return CUDA_ERROR_INVALID_VALUE;
	r = copy_find(base + from, to - from, place, &side);
	if (r)
		return r;
	side.pitch = c->pitch;
	side.slice = c->pitch * c->height;
	*ret_side = side;
	return CUDA_SUCCESS;
}

static CUresult find_cells(const struct corner *c, const struct extent *e,
			   struct copy_side *ret_side)
{
	CUarray a = c->array;

	if (!array_is(a))
		return CUDA_ERROR_INVALID_HANDLE;
	if (c->lod || c->x > a->width || e->width > a->width - c->x ||
	    c->y > a->height || e->height > a->height - c->y ||
	    c->z > a->depth || e->depth > a->depth - c->z)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_side = (struct copy_side){
	    .at = a->view + c->z * a->slice + c->y * a->pitch + c->x,
	    .pitch = a->pitch,
	    .slice = a->slice,
	    .device = true,
	    .exact = true,
	    .array = a,
	    .x = c->x,
	    .y = c->y,
	    .z = c->z,
	};
	return CUDA_SUCCESS;
}

static CUresult find_corner(const struct corner *c, const struct extent *e,
			    struct copy_side *ret_side)
{
	switch (c->type) {
	case CU_MEMORYTYPE_HOST:
		return find_rows(c, e, COPY_HOST, ret_side);
	case CU_MEMORYTYPE_DEVICE:
		return find_rows(c, e, COPY_DEVICE, ret_side);
	case CU_MEMORYTYPE_UNIFIED:
		return find_rows(c, e, COPY_ANY, ret_side);
	case CU_MEMORYTYPE_ARRAY:
		return find_cells(c, e, ret_side);
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult copy_3d_find(const CUDA_MEMCPY3D *p, struct copy *ret_copy)
{
	const struct extent e = {p->WidthInBytes, p->Height, p->Depth};
	const struct corner dst = {
	    p->dstMemoryType, p->dstHost,  p->dstDevice, p->dstArray,
	    p->dstXInBytes,   p->dstY,     p->dstZ,      p->dstLOD,
	    p->dstPitch,      p->dstHeight};
	const struct corner src = {
	    p->srcMemoryType, p->srcHost,  p->srcDevice, p->srcArray,
	    p->srcXInBytes,   p->srcY,     p->srcZ,      p->srcLOD,
	    p->srcPitch,      p->srcHeight};
	struct copy c = {
	    .width = e.width, .height = e.height, .depth = e.depth};
	CUresult r = find_corner(&dst, &e, &c.dst);

	GK_ASSERT(e.width && e.height && e.depth);
	if (!r)
		r = find_corner(&src, &e, &c.src);
	if (!r)
		*ret_copy = c;
	return r;
}

CUresult copy_array_row(CUarray array, size_t offset, size_t size,
			struct copy_side *ret_side)
{
	const struct corner c = {.array = array, .x = offset};
	const struct extent e = {size, 1, 1};

	return find_cells(&c, &e, ret_side);
}

bool array_is(CUarray array)
{
	return handle_is(array, HANDLE_ARRAY);
}

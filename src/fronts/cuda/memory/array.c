/* SPDX-License-Identifier: Apache-2.0 */
/* array.c - creates, destroys and describes arrays. */
#include "fronts/cuda/memory/array.h"
#include "base/assert.h"
#include "fronts/cuda/memory/memory.h"

#include <pthread.h>

#define ROW_STEP 512u

/* ---- formats and limits ---- */

/*
 * The bytes of a channel, by format. If `channels` is not 0, the format has
 * that number of channels. All other formats (compressed, multi-planar) are
 * refused.
 */
static const struct format {
	CUarray_format format;
	unsigned char bytes, channels;
} formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 1, 0},  {CU_AD_FORMAT_UNSIGNED_INT16, 2, 0},
    {CU_AD_FORMAT_UNSIGNED_INT32, 4, 0}, {CU_AD_FORMAT_SIGNED_INT8, 1, 0},
    {CU_AD_FORMAT_SIGNED_INT16, 2, 0},   {CU_AD_FORMAT_SIGNED_INT32, 4, 0},
    {CU_AD_FORMAT_HALF, 2, 0},           {CU_AD_FORMAT_FLOAT, 4, 0},
    {CU_AD_FORMAT_UNORM_INT8X1, 1, 1},   {CU_AD_FORMAT_UNORM_INT8X2, 1, 2},
    {CU_AD_FORMAT_UNORM_INT8X4, 1, 4},   {CU_AD_FORMAT_UNORM_INT16X1, 2, 1},
    {CU_AD_FORMAT_UNORM_INT16X2, 2, 2},  {CU_AD_FORMAT_UNORM_INT16X4, 2, 4},
    {CU_AD_FORMAT_SNORM_INT8X1, 1, 1},   {CU_AD_FORMAT_SNORM_INT8X2, 1, 2},
    {CU_AD_FORMAT_SNORM_INT8X4, 1, 4},   {CU_AD_FORMAT_SNORM_INT16X1, 2, 1},
    {CU_AD_FORMAT_SNORM_INT16X2, 2, 2},  {CU_AD_FORMAT_SNORM_INT16X4, 2, 4},
};

static const struct format *format_of(CUarray_format id)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (formats[i].format == id)
			return &formats[i];
	return NULL;
}

static CUresult element_size(const CUDA_ARRAY3D_DESCRIPTOR *d, size_t *ret_size)
{
	const struct format *f = format_of(d->Format);

	if (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4)
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return d->Format > 0x20 ? CUDA_ERROR_NOT_SUPPORTED
					: CUDA_ERROR_INVALID_VALUE;
	if (f->channels && f->channels != d->NumChannels)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_size = (size_t)f->bytes * d->NumChannels;
	return CUDA_SUCCESS;
}

enum shape {
	SHAPE_1D,
	SHAPE_2D,
	SHAPE_3D,
	SHAPE_1D_LAYERED,
	SHAPE_2D_LAYERED,
	SHAPE_CUBE,
	SHAPE_CUBE_LAYERED,
	SHAPES
};

/*
 * For each shape, the device attributes that limit the sides of an array:
 * width, height, and depth or layers. 0: the shape has no such side. Separate
 * tables have further limits for surfaces and for some mipmapped or gathered
 * arrays; a shape without a row there has no further limit. A 3D array may
 * satisfy the alternate limits instead.
 */
struct bound {
	CUdevice_attribute side[3];
};
#define A(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_##name
#define SHAPES_OF(what)                                                        \
	[SHAPE_1D] = {{A(what##1D_WIDTH), 0, 0}},                              \
	[SHAPE_2D] = {{A(what##2D_WIDTH), A(what##2D_HEIGHT), 0}},             \
	[SHAPE_3D] = {{A(what##3D_WIDTH), A(what##3D_HEIGHT),                  \
		       A(what##3D_DEPTH)}},                                    \
	[SHAPE_1D_LAYERED] = {{A(what##1D_LAYERED_WIDTH), 0,                   \
			       A(what##1D_LAYERED_LAYERS)}},                   \
	[SHAPE_2D_LAYERED] = {{A(what##2D_LAYERED_WIDTH),                      \
			       A(what##2D_LAYERED_HEIGHT),                     \
			       A(what##2D_LAYERED_LAYERS)}},                   \
	[SHAPE_CUBE] = {{A(what##CUBEMAP_WIDTH), A(what##CUBEMAP_WIDTH), 0}},  \
	[SHAPE_CUBE_LAYERED] = {{A(what##CUBEMAP_LAYERED_WIDTH),               \
				 A(what##CUBEMAP_LAYERED_WIDTH),               \
				 A(what##CUBEMAP_LAYERED_LAYERS)}}
static const struct bound textures[SHAPES] = {SHAPES_OF(TEXTURE)};
static const struct bound surfaces[SHAPES] = {SHAPES_OF(SURFACE)};
static const struct bound mipmaps[SHAPES] = {
    [SHAPE_1D] = {{A(TEXTURE1D_MIPMAPPED_WIDTH), 0, 0}},
    [SHAPE_2D] = {{A(TEXTURE2D_MIPMAPPED_WIDTH), A(TEXTURE2D_MIPMAPPED_HEIGHT),
		   0}},
};
static const struct bound gathers[SHAPES] = {
    [SHAPE_2D] = {{A(TEXTURE2D_GATHER_WIDTH), A(TEXTURE2D_GATHER_HEIGHT), 0}},
};
static const struct bound alternates[SHAPES] = {
    [SHAPE_3D] = {{A(TEXTURE3D_WIDTH_ALTERNATE), A(TEXTURE3D_HEIGHT_ALTERNATE),
		   A(TEXTURE3D_DEPTH_ALTERNATE)}},
};
#undef A
#undef SHAPES_OF

static enum shape shape_of_array(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	bool layered = d->Flags & CUDA_ARRAY3D_LAYERED;

	if (d->Flags & CUDA_ARRAY3D_CUBEMAP)
		return layered ? SHAPE_CUBE_LAYERED : SHAPE_CUBE;
	if (layered)
		return d->Height ? SHAPE_2D_LAYERED : SHAPE_1D_LAYERED;
	if (d->Depth)
		return SHAPE_3D;
	return d->Height ? SHAPE_2D : SHAPE_1D;
}

static bool is_within(CUcontext ctx, const struct bound *bound,
		      const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	const size_t size[] = {d->Width, d->Height, d->Depth};
	int most;

	for (unsigned i = 0; i < 3; i++)
		if (bound->side[i] &&
		    device_attribute(ctx->device, bound->side[i], &most) &&
		    size[i] > (size_t)most)
			return false;
	return true;
}

/* Whether the sides are within all limits that the array's flags imply. */
static bool sides_fit(CUcontext ctx, const CUDA_ARRAY3D_DESCRIPTOR *d,
		      bool mipmapped)
{
	enum shape shape = shape_of_array(d);

	if ((d->Flags & CUDA_ARRAY3D_SURFACE_LDST) &&
	    !is_within(ctx, &surfaces[shape], d))
		return false;
	if (mipmapped && !is_within(ctx, &mipmaps[shape], d))
		return false;
	if ((d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER) &&
	    (shape != SHAPE_2D || !is_within(ctx, &gathers[shape], d)))
		return false;
	return is_within(ctx, &textures[shape], d) ||
	       (alternates[shape].side[0] &&
		is_within(ctx, &alternates[shape], d));
}

/* Whether the array has all sides that its shape needs. */
static bool is_shape(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	enum shape shape = shape_of_array(d);

	if (!d->Width || (shape == SHAPE_3D && !d->Height) ||
	    ((d->Flags & CUDA_ARRAY3D_LAYERED) && !d->Depth))
		return false;
	return !(d->Flags & CUDA_ARRAY3D_CUBEMAP) ||
	       (d->Width == d->Height && d->Depth && d->Depth % 6 == 0 &&
		(shape == SHAPE_CUBE_LAYERED || d->Depth == 6));
}

#define REFUSED_FLAGS                                                          \
	(CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING |                 \
	 CUDA_ARRAY3D_VIDEO_ENCODE_DECODE)
#define KNOWN_FLAGS                                                            \
	(CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |                    \
	 CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER |                  \
	 CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT)

CUresult array_check(CUcontext ctx, const CUDA_ARRAY3D_DESCRIPTOR *d,
		     bool mipmapped, size_t *ret_element)
{
	if (d->Flags & REFUSED_FLAGS)
		return CUDA_ERROR_NOT_SUPPORTED;
	if ((d->Flags & ~(unsigned)KNOWN_FLAGS) || !is_shape(d) ||
	    !sides_fit(ctx, d, mipmapped))
		return CUDA_ERROR_INVALID_VALUE;
	return element_size(d, ret_element);
}

/* ---- making ---- */

static size_t at_least_1(size_t n)
{
	return n ? n : 1;
}

/* No product can overflow, because the sides are within the device's limits. */
CUarray array_lay_out(CUcontext ctx, const CUDA_ARRAY3D_DESCRIPTOR *d,
		      size_t element)
{
	CUarray a = handle_new(HANDLE_ARRAY, sizeof(*a));

	if (!a)
		return NULL;
	a->ctx = ctx->base;
	a->desc = *d;
	a->element = element;
	a->width = d->Width * element;
	a->height = at_least_1(d->Height);
	a->depth = at_least_1(d->Depth);
	a->pitch = (a->width + ROW_STEP - 1) & -(size_t)ROW_STEP;
	a->slice = a->pitch * a->height;
	a->size = a->slice * a->depth;
	return a;
}

/* All live arrays. */
static struct {
	pthread_mutex_t lock;
	CUarray first;
} arrays = {.lock = PTHREAD_MUTEX_INITIALIZER};

void array_settle(CUarray a, CUdeviceptr base)
{
	GK_ASSERT(base && a->size);
	a->base = base;
	a->view = gkf_space_view(base, a->size);
	pthread_mutex_lock(&arrays.lock);
	a->next = arrays.first;
	if (a->next)
		a->next->prev = a;
	arrays.first = a;
	pthread_mutex_unlock(&arrays.lock);
}

/* The caller holds arrays.lock. */
static void take_out_array(CUarray a)
{
	GK_ASSERT(gk_lock_held(&arrays.lock));
	if (a->next)
		a->next->prev = a->prev;
	if (a->prev)
		a->prev->next = a->next;
	else
		arrays.first = a->next;
	handle_free(a);
}

void array_end(CUarray a)
{
	pthread_mutex_lock(&arrays.lock);
	take_out_array(a);
	pthread_mutex_unlock(&arrays.lock);
}

void array_close(CUcontext ctx)
{
	CUarray next;

	pthread_mutex_lock(&arrays.lock);
	for (CUarray a = arrays.first; a; a = next) {
		next = a->next;
		if (a->ctx != ctx)
			continue;
		if (handle_is(a->level_of, HANDLE_MIPMAP))
			handle_free(a->level_of);
		take_out_array(a);
	}
	pthread_mutex_unlock(&arrays.lock);
}

static CUresult create_array(CUcontext ctx, CUarray *handle,
			     const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	CUdeviceptr base;
	size_t element;
	CUarray a;
	CUresult r = array_check(ctx, d, false, &element);

	if (r)
		return r;
	a = array_lay_out(ctx, d, element);
	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = memory_alloc(ctx, a->size, 0, MEMORY_FIXED, &base);
	if (r) {
		handle_free(a);
		return r;
	}
	array_settle(a, base);
	*handle = a;
	return CUDA_SUCCESS;
}

/* CREATE(symbol, struct, conversion): a function that creates an array. */
#define AS_2D(d)                                                               \
	(&(CUDA_ARRAY3D_DESCRIPTOR){.Width = (d)->Width,                       \
				    .Height = (d)->Height,                     \
				    .Format = (d)->Format,                     \
				    .NumChannels = (d)->NumChannels})
#define AS_3D(d)                                                               \
	(&(CUDA_ARRAY3D_DESCRIPTOR){.Width = (d)->Width,                       \
				    .Height = (d)->Height,                     \
				    .Depth = (d)->Depth,                       \
				    .Format = (d)->Format,                     \
				    .NumChannels = (d)->NumChannels,           \
				    .Flags = (d)->Flags})
#define CREATE(symbol, type, read)                                             \
	CUresult symbol(CUarray *pHandle, const type *pAllocateArray)          \
	{                                                                      \
		ENTER_CONTEXT(symbol, ctx);                                    \
		if (!pHandle || !pAllocateArray)                               \
			return CUDA_ERROR_INVALID_VALUE;                       \
		return memory_counted(                                         \
		    ROW_##symbol,                                              \
		    create_array(ctx, pHandle, read(pAllocateArray)));         \
	}

CREATE(cuArrayCreate, CUDA_ARRAY_DESCRIPTOR_v1, AS_2D)
CREATE(cuArrayCreate_v2, CUDA_ARRAY_DESCRIPTOR, AS_2D)
CREATE(cuArray3DCreate, CUDA_ARRAY3D_DESCRIPTOR_v1, AS_3D)
CREATE(cuArray3DCreate_v2, CUDA_ARRAY3D_DESCRIPTOR, AS_3D)

/* The levels of a mipmapped array are destroyed with it, not one by one. */
CUresult cuArrayDestroy(CUarray hArray)
{
	struct gkf_extent e;
	CUresult r;

	ENTER_CONTEXT(cuArrayDestroy, ctx);
	if (!array_is(hArray) || hArray->level_of)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!gkf_space_find(hArray->base, &e))
		return CUDA_ERROR_INVALID_HANDLE;
	r = memory_quiet(ctx, &e);
	if (r)
		return r;
	array_end(hArray);
	return memory_free(&e);
}

/* ---- describing ---- */

/*
 * TELL(symbol, struct, members): a function that describes an array. Members of
 * the older structs have fewer bits, which always suffice.
 */
#define TELL(symbol, type, ...)                                                \
	CUresult symbol(type *pArrayDescriptor, CUarray hArray)                \
	{                                                                      \
		const CUDA_ARRAY3D_DESCRIPTOR *d;                              \
                                                                               \
		ENTER_CONTEXT(symbol, ctx);                                    \
		if (!pArrayDescriptor)                                         \
			return CUDA_ERROR_INVALID_VALUE;                       \
		if (!array_is(hArray))                                         \
			return CUDA_ERROR_INVALID_HANDLE;                      \
		d = &hArray->desc;                                             \
		*pArrayDescriptor = (type)__VA_ARGS__;                         \
		return CUDA_SUCCESS;                                           \
	}

TELL(cuArrayGetDescriptor, CUDA_ARRAY_DESCRIPTOR_v1,
     {(unsigned)d->Width, (unsigned)d->Height, d->Format, d->NumChannels})
TELL(cuArrayGetDescriptor_v2, CUDA_ARRAY_DESCRIPTOR,
     {d->Width, d->Height, d->Format, d->NumChannels})
TELL(cuArray3DGetDescriptor, CUDA_ARRAY3D_DESCRIPTOR_v1,
     {(unsigned)d->Width, (unsigned)d->Height, (unsigned)d->Depth, d->Format,
      d->NumChannels, d->Flags})
TELL(cuArray3DGetDescriptor_v2, CUDA_ARRAY3D_DESCRIPTOR,
     {d->Width, d->Height, d->Depth, d->Format, d->NumChannels, d->Flags})

/*
 * Only arrays whose memory is mapped later have requirements. Such arrays are
 * not supported.
 */
CUresult
cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
			     CUarray array, CUdevice device)
{
	ENTER(cuArrayGetMemoryRequirements);
	if (!front_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	return !memoryRequirements || array_is(array)
		   ? CUDA_ERROR_INVALID_VALUE
		   : CUDA_ERROR_INVALID_HANDLE;
}

/* Sparse arrays are not supported. */
CUresult
cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties,
			   CUarray array)
{
	ENTER(cuArrayGetSparseProperties);
	return !sparseProperties || array_is(array) ? CUDA_ERROR_INVALID_VALUE
						    : CUDA_ERROR_INVALID_HANDLE;
}

/*
 * Only arrays of multi-planar formats have planes. Such formats are not
 * supported.
 */
CUresult cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray,
			 unsigned int planeIdx)
{
	(void)planeIdx;
	ENTER(cuArrayGetPlane);
	return !pPlaneArray || array_is(hArray) ? CUDA_ERROR_INVALID_VALUE
						: CUDA_ERROR_INVALID_HANDLE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_image.c - puts modules in device memory: variables with their initial
 * values, and kernels, which are decoded on first use.
 */
#include "fronts/cuda/memory/memory.h"
#include "base/assert.h"
#include "fronts/cuda/module/module.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE         4096U
#define MUCH         ((size_t)1 << 20)
#define FUNCTIONS_AT ((uint64_t)4 << 48)
/* bytes of shared memory available without opting in */
#define STATIC_MOST 49152U

static bool has_memory(const struct gkf_ptx_variable *v)
{
	return (v->space == GKF_PTX_GLOBAL || v->space == GKF_PTX_CONST) &&
	       v->size && v->linkage != GKF_PTX_EXTERN;
}

/*
 * Zeroes memory, which may have been used before. Returns the whole pages of
 * large variables to the system, so that pages never touched again cost
 * nothing.
 */
static void clear_variable(unsigned char *at, size_t size)
{
	size_t head = -(uintptr_t)at & (PAGE - 1), pages;

	if (size >= MUCH) {
		pages = (size - head) & -(size_t)PAGE;
		if (!madvise(at + head, pages, MADV_REMOVE)) {
			memset(at, 0, head);
			at += head + pages;
			size -= head + pages;
		}
	}
	memset(at, 0, size);
}

static CUresult place_variable(struct module_image *image, uint32_t index)
{
	const struct gkf_ptx_variable *v =
	    &image->source->ptx->variables[index];
	struct gkf_memory_ask ask = {.kind = v->managed ? GKF_MEMORY_MANAGED
							: GKF_MEMORY_DEVICE,
				     .device = image->device,
				     .size = v->size,
				     .align = v->align < 256 ? 256 : v->align,
				     .owner = image->ctx,
				     .flags = MEMORY_FIXED};
	void *view;
	int error = gkf_space_alloc(&ask, &image->addresses[index]);

	if (error) {
		image->addresses[index] = 0;
		return front_error(error);
	}
	view = gkf_space_view(image->addresses[index], v->size);
	if (!view)
		return CUDA_ERROR_OUT_OF_MEMORY;
	clear_variable(view, v->size);
	if (v->data_size)
		memcpy(view, v->data, v->data_size);
	return CUDA_SUCCESS;
}

/*
 * Functions get addresses outside of all memory. The addresses serve only as
 * identifiers: a kernel that calls a function by its address is refused.
 */
static uint64_t function_address(const struct gkf_ptx_module *m,
				 const char *name)
{
	const struct gkf_ptx_function *f = gkf_ptx_function_find(m, name);

	return f ? FUNCTIONS_AT + (uint64_t)(f - m->functions) * 16 : 0;
}

/* Writes those initial values that are addresses of variables or functions. */
static CUresult fix_addresses(const struct module_image *image, uint32_t index)
{
	const struct gkf_ptx_variable *v =
	    &image->source->ptx->variables[index];
	unsigned char *view;

	if (!v->fixup_count)
		return CUDA_SUCCESS;
	view = gkf_space_view(image->addresses[index], v->size);
	for (uint32_t i = 0; i < v->fixup_count; i++) {
		const struct gkf_ptx_fixup *f = &v->fixups[i];
		uint64_t value = 0;

		if (f->variable != GKF_PTX_NO_VARIABLE)
			value = image->addresses[f->variable];
		else
			value = function_address(image->source->ptx, f->symbol);
		if (!value) {
			front_log(GK_LOG_WARN,
				  "%s: the address of %s is unknown", v->name,
				  f->symbol);
			return CUDA_ERROR_NOT_SUPPORTED;
		}
		value = (value + (uint64_t)f->addend) >> f->shift;
		memcpy(view + f->offset, &value, f->bytes);
	}
	return CUDA_SUCCESS;
}

static CUresult fill_image(struct module_image *image)
{
	const struct gkf_ptx_module *m = image->source->ptx;
	CUresult r = CUDA_SUCCESS;

	for (uint32_t i = 0; i < m->variable_count && !r; i++)
		if (has_memory(&m->variables[i]))
			r = place_variable(image, i);
	for (uint32_t i = 0; i < m->variable_count && !r; i++)
		if (image->addresses[i])
			r = fix_addresses(image, i);
	return r;
}

CUresult module_image_new(CUcontext ctx, struct module_source *source,
			  struct module_image **ret_image)
{
	struct module_image *image = calloc(1, sizeof *image);
	const struct gkf_ptx_module *m = source->ptx;
	CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

	if (!image)
		return r;
	atomic_init(&image->references, 1);
	atomic_fetch_add(&source->references, 1);
	image->source = source;
	image->ctx = ctx;
	image->ctx_id = ctx->id;
	image->device = ctx->device->index;
	image->addresses = calloc(m->variable_count + 1, sizeof(uint64_t));
	image->kernels = calloc(m->function_count + 1, sizeof *image->kernels);
	if (image->addresses && image->kernels)
		r = fill_image(image);
	if (r) {
		module_image_drop(image);
		return r;
	}
	*ret_image = image;
	return CUDA_SUCCESS;
}

bool module_has_memory(const struct module_image *image)
{
	for (uint32_t i = 0; i < image->source->ptx->variable_count; i++)
		if (image->addresses[i])
			return true;
	return false;
}

void module_image_drop(struct module_image *image)
{
	const struct gkf_ptx_module *m;

	if (!image || atomic_fetch_sub(&image->references, 1) != 1)
		return;
	m = image->source->ptx;
	/* The memory may have been freed already, together with its context. */
	for (uint32_t i = 0; image->addresses && i < m->variable_count; i++) {
		struct gkf_extent e;

		if (!image->leaves_memory && image->addresses[i] &&
		    gkf_space_find(image->addresses[i], &e) &&
		    e.base == image->addresses[i] && e.owner == image->ctx &&
		    e.flags == MEMORY_FIXED && image->ctx->id == image->ctx_id)
			memory_free(&e);
	}
	for (uint32_t i = 0; image->kernels && i < m->function_count; i++)
		gkf_ptx_kernel_free(image->kernels[i]);
	free(image->addresses);
	free((void *)(uintptr_t)image->kernels);
	module_source_drop(image->source);
	free(image);
}

CUresult module_kernel(struct module_image *image,
		       const struct gkf_ptx_function *f,
		       const struct gkf_ptx_kernel **ret_kernel)
{
	const struct gkf_ptx_module *m = image->source->ptx;
	struct gkf_ptx_kernel *_Atomic *place =
	    &image->kernels[f - m->functions];
	struct gkf_ptx_kernel *k =
	    atomic_load_explicit(place, memory_order_acquire);
	struct gkf_ptx_kernel *made = NULL;

	GK_ASSERT(f >= m->functions && f < m->functions + m->function_count);
	if (!k) {
		if (gkf_ptx_kernel_new(m, image->addresses, f, &made))
			return CUDA_ERROR_OUT_OF_MEMORY;
		if (atomic_compare_exchange_strong(place, &k, made))
			k = made;
		else
			gkf_ptx_kernel_free(made);
	}
	if (gkf_ptx_kernel_shared(k) > STATIC_MOST)
		return CUDA_ERROR_INVALID_PTX;
	*ret_kernel = k;
	return CUDA_SUCCESS;
}

CUresult module_global(const struct module_image *image, const char *name,
		       CUdeviceptr *ret_address, size_t *ret_bytes)
{
	const struct gkf_ptx_module *m = image->source->ptx;

	for (uint32_t i = 0; i < m->variable_count; i++) {
		if (!image->addresses[i] || strcmp(m->variables[i].name, name))
			continue;
		if (ret_address)
			*ret_address = image->addresses[i];
		if (ret_bytes)
			*ret_bytes = m->variables[i].size;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_NOT_FOUND;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.c - cuModule*: the modules of contexts. Their handles become invalid
 * when the context ends or the module is unloaded.
 */
#include "fronts/cuda/module/module.h"
#include "base/assert.h"
#include "fronts/cuda/stream/stream.h"

#include <stdlib.h>
#include <string.h>

/* ctx->part[PART_MODULE] points to the first module of the context. */
void module_enlist(CUmodule m)
{
	GK_ASSERT(gk_lock_held(&module_lock));
	m->next = m->ctx->part[PART_MODULE];
	m->ctx->part[PART_MODULE] = m;
}

static void strike_module(CUmodule m)
{
	CUmodule at = m->ctx->part[PART_MODULE], before = NULL;

	while (at && at != m) {
		before = at;
		at = at->next;
	}
	if (before)
		before->next = m->next;
	else if (at)
		m->ctx->part[PART_MODULE] = m->next;
}

static void forget_in_library(CUlibrary lib, CUmodule m)
{
	unsigned kept = 0;

	GK_ASSERT(gk_lock_held(&module_lock));
	for (unsigned i = 0; i < lib->module_count; i++)
		if (lib->modules[i] != m)
			lib->modules[kept++] = lib->modules[i];
	lib->module_count = kept;
	for (unsigned i = 0; i < lib->kernel_count; i++)
		atomic_store(&lib->kernels[i]->last_ctx, 0);
}

static void finish_module(struct retired *retired)
{
	CUmodule m = (CUmodule)retired;

	for (unsigned i = 0; i < m->function_count; i++)
		handle_recycle(m->functions[i]);
	free(m->functions);
	module_image_drop(m->image);
	handle_recycle(m);
}

static void end_handles(CUmodule m)
{
	for (unsigned i = 0; i < m->function_count; i++)
		handle_end(m->functions[i]);
	handle_end(m);
}

void module_end(CUmodule m)
{
	GK_ASSERT(gk_lock_held(&module_lock));
	strike_module(m);
	if (m->library)
		forget_in_library(m->library, m);
	end_handles(m);
	m->retired.finish = finish_module;
	code_retire(&m->retired);
}

static unsigned count_kernels(const struct gkf_ptx_module *m)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < m->function_count; i++)
		count += m->functions[i].is_entry && m->functions[i].has_body;
	return count;
}

static bool add_functions(CUmodule m)
{
	const struct gkf_ptx_module *ptx = m->image->source->ptx;

	m->functions = calloc(count_kernels(ptx) + 1, sizeof *m->functions);
	if (!m->functions)
		return false;
	for (uint32_t i = 0; i < ptx->function_count; i++) {
		const struct gkf_ptx_function *p = &ptx->functions[i];
		CUfunction f;

		if (!p->is_entry || !p->has_body)
			continue;
		f = handle_new(HANDLE_FUNCTION, sizeof *f);
		if (!f)
			return false;
		f->module = m;
		f->image = m->image;
		f->ptx = p;
		f->set.carveout = -1;
		f->block[0] = f->block[1] = f->block[2] = 1;
		m->functions[m->function_count++] = f;
	}
	return true;
}

CUresult module_new(CUcontext ctx, struct module_source *source,
		    CUlibrary library, CUmodule *ret_module)
{
	CUmodule m = handle_new(HANDLE_MODULE, sizeof *m);
	CUresult r;

	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	m->ctx = ctx->base;
	m->library = library;
	r = module_image_new(ctx->base, source, &m->image);
	if (!r && !add_functions(m))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	if (r) {
		end_handles(m);
		finish_module(&m->retired);
		return r;
	}
	*ret_module = m;
	return CUDA_SUCCESS;
}

/* Unfinished work holds references to the images it uses. */
static void close_part(CUcontext ctx)
{
	CUmodule m;

	pthread_mutex_lock(&module_lock);
	while ((m = ctx->part[PART_MODULE]))
		module_end(m);
	code_finish_retired();
	pthread_mutex_unlock(&module_lock);
}

const struct cuda_part_row module_part = {NULL, close_part};

static CUresult load_module_image(CUcontext ctx, const void *image, size_t size,
				  unsigned count, CUjit_option *options,
				  void **values, CUmodule *module)
{
	char message[GKF_PTX_MESSAGE_MAX];
	struct module_source *source;
	struct module_log log;
	CUmodule m;
	CUresult r;

	if (!module || !image)
		return CUDA_ERROR_INVALID_VALUE;
	r = module_log_open(count, options, values, &log);
	if (r)
		return r;
	r = module_source_read(ctx->device, image, size, message, &source);
	module_log_close(&log, message);
	if (r)
		return r;
	r = module_new(ctx, source, NULL, &m);
	module_source_drop(source);
	if (r)
		return r;
	pthread_mutex_lock(&module_lock);
	module_enlist(m);
	pthread_mutex_unlock(&module_lock);
	*module = m;
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	ENTER_CONTEXT(cuModuleLoadData, ctx);
	return load_module_image(ctx, image, 0, 0, NULL, NULL, module);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
			    unsigned int numOptions, CUjit_option *options,
			    void **optionValues)
{
	ENTER_CONTEXT(cuModuleLoadDataEx, ctx);
	return load_module_image(ctx, image, 0, numOptions, options,
				 optionValues, module);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
	ENTER_CONTEXT(cuModuleLoadFatBinary, ctx);
	return load_module_image(ctx, fatCubin, 0, 0, NULL, NULL, module);
}

CUresult cuModuleLoad(CUmodule *module, const char *fname)
{
	void *bytes;
	size_t size;
	CUresult r;

	ENTER_CONTEXT(cuModuleLoad, ctx);
	if (!module || !fname)
		return CUDA_ERROR_INVALID_VALUE;
	r = module_file_read(fname, &bytes, &size);
	if (r)
		return r;
	r = load_module_image(ctx, bytes, size, 0, NULL, NULL, module);
	free(bytes);
	return r;
}

static CUresult check_module(CUcontext ctx, CUmodule m)
{
	if (!handle_is(m, HANDLE_MODULE))
		return CUDA_ERROR_INVALID_HANDLE;
	return m->ctx == ctx->base ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* Modules of libraries may not be unloaded. The caller holds module_lock. */
static CUresult check_unload(CUcontext ctx, CUmodule m)
{
	CUresult r = check_module(ctx, m);

	GK_ASSERT(gk_lock_held(&module_lock));
	return !r && m->library ? CUDA_ERROR_NOT_PERMITTED : r;
}

static bool is_any_context(CUcontext ctx, const void *data)
{
	(void)ctx;
	(void)data;
	return true;
}

/*
 * If the module has variables, waits for all work of the context first: copies
 * and memsets of variables hold no reference to the image.
 */
CUresult cuModuleUnload(CUmodule hmod)
{
	bool waits;
	CUresult r;

	ENTER_CONTEXT(cuModuleUnload, ctx);
	pthread_mutex_lock(&module_lock);
	r = check_unload(ctx, hmod);
	waits = !r && module_has_memory(hmod->image);
	pthread_mutex_unlock(&module_lock);
	if (waits)
		stream_drain_all(ctx, is_any_context, NULL);
	pthread_mutex_lock(&module_lock);
	r = check_unload(ctx, hmod);
	if (!r)
		module_end(hmod);
	code_finish_retired();
	pthread_mutex_unlock(&module_lock);
	return r;
}

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
	READS_CODE;
	CUresult r;

	ENTER_CONTEXT(cuModuleGetFunction, ctx);
	if (!hfunc || !name || !*name)
		return CUDA_ERROR_INVALID_VALUE;
	r = check_module(ctx, hmod);
	if (r)
		return r;
	for (unsigned i = 0; i < hmod->function_count; i++)
		if (!strcmp(hmod->functions[i]->ptx->name, name)) {
			*hfunc = hmod->functions[i];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
	READS_CODE;
	CUresult r;

	ENTER_CONTEXT(cuModuleGetFunctionCount, ctx);
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	r = check_module(ctx, mod);
	if (!r)
		*count = mod->function_count;
	return r;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions,
				    unsigned int numFunctions, CUmodule mod)
{
	READS_CODE;
	CUresult r;

	ENTER_CONTEXT(cuModuleEnumerateFunctions, ctx);
	if (!functions || !numFunctions)
		return CUDA_ERROR_INVALID_VALUE;
	r = check_module(ctx, mod);
	for (unsigned i = 0; !r && i < numFunctions && i < mod->function_count;
	     i++)
		functions[i] = mod->functions[i];
	return r;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod,
			      const char *name)
{
	READS_CODE;
	CUresult r;

	ENTER_CONTEXT(cuModuleGetGlobal_v2, ctx);
	if (!name || (!dptr && !bytes))
		return CUDA_ERROR_INVALID_VALUE;
	r = check_module(ctx, hmod);
	return r ? r : module_global(hmod->image, name, dptr, bytes);
}

/* Limits sizes to 32 bits. An address never fits in 32 bits. */
CUresult cuModuleGetGlobal(CUdeviceptr_v1 *dptr, unsigned int *bytes,
			   CUmodule hmod, const char *name)
{
	size_t size;
	CUresult r;

	ENTER_CONTEXT(cuModuleGetGlobal, ctx);
	if (!name || (!dptr && !bytes))
		return CUDA_ERROR_INVALID_VALUE;
	r = check_module(ctx, hmod);
	if (!r)
		r = module_global(hmod->image, name, NULL, &size);
	if (r)
		return r;
	if (dptr) {
		front_count_refusal(ROW_cuModuleGetGlobal);
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	*bytes = size < UINT32_MAX ? (unsigned)size : UINT32_MAX;
	return CUDA_SUCCESS;
}

/* Kernels are always decoded on first use. */
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	const char *asked = getenv("CUDA_MODULE_LOADING");

	ENTER(cuModuleGetLoadingMode);
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = asked && !strcmp(asked, "EAGER") ? CU_MODULE_EAGER_LOADING
						 : CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

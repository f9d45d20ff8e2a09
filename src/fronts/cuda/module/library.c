/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.c - cuLibrary* and cuKernel*: code that belongs to the process. A
 * context gets its own module of the library on first use.
 */
#include "base/assert.h"
#include "fronts/cuda/module/module.h"
#include "fronts/cuda/stream/stream.h"
#include "machine/file/numbers.h"

#include <stdlib.h>
#include <string.h>

static void finish_library(struct retired *retired)
{
	CUlibrary lib = (CUlibrary)retired;

	for (unsigned i = 0; i < lib->kernel_count; i++)
		handle_recycle(lib->kernels[i]);
	free(lib->kernels);
	free(lib->modules);
	module_source_drop(lib->source);
	handle_recycle(lib);
}

static void end_library_handles(CUlibrary lib)
{
	for (unsigned i = 0; i < lib->kernel_count; i++)
		handle_end(lib->kernels[i]);
	handle_end(lib);
}

static bool add_kernel(CUlibrary lib, const struct gkf_ptx_function *f)
{
	CUkernel k = handle_new(HANDLE_KERNEL, sizeof *k);

	if (!k)
		return false;
	k->library = lib;
	k->ptx = f;
	k->index = lib->kernel_count;
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++)
		k->set[i].carveout = -1;
	lib->kernels[lib->kernel_count++] = k;
	return true;
}

static bool add_kernels(CUlibrary lib)
{
	const struct gkf_ptx_module *m = lib->source->ptx;

	lib->kernels = calloc(m->function_count + 1, sizeof *lib->kernels);
	if (!lib->kernels)
		return false;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (m->functions[i].is_entry && m->functions[i].has_body &&
		    !add_kernel(lib, &m->functions[i]))
			return false;
	return true;
}

static CUresult check_options(const CUlibraryOption *options, void **values,
			      unsigned count)
{
	if (count && !options)
		return CUDA_ERROR_INVALID_VALUE;
	(void)values;
	for (unsigned i = 0; i < count; i++)
		if ((unsigned)options[i] >= CU_LIBRARY_NUM_OPTIONS)
			return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

/*
 * Returns the device for which code is chosen: that of the current context, or
 * else the first device.
 */
static const struct cuda_device *library_device(void)
{
	CUcontext ctx = ctx_current();

	return handle_is(ctx, HANDLE_CONTEXT) ? ctx->device : &cuda.device[0];
}

static CUresult load_library(CUlibrary *library, const void *code, size_t size,
			     unsigned jit_count, CUjit_option *jit,
			     void **jit_values, unsigned count,
			     CUlibraryOption *options, void **values)
{
	char message[GKF_PTX_MESSAGE_MAX];
	struct module_log log;
	CUlibrary lib;
	CUresult r;

	if (!library || !code)
		return CUDA_ERROR_INVALID_VALUE;
	r = module_log_open(jit_count, jit, jit_values, &log);
	if (!r)
		r = check_options(options, values, count);
	if (r)
		return r;
	lib = handle_new(HANDLE_LIBRARY, sizeof *lib);
	if (!lib)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!cuda.device_count)
		r = CUDA_ERROR_NO_DEVICE;
	else
		r = module_source_read(library_device(), code, size, message,
				       &lib->source);
	if (cuda.device_count)
		module_log_close(&log, message);
	if (!r && !add_kernels(lib))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	if (r) {
		end_library_handles(lib);
		finish_library(&lib->retired);
		return r;
	}
	*library = lib;
	return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
			   CUjit_option *jitOptions, void **jitOptionsValues,
			   unsigned int numJitOptions,
			   CUlibraryOption *libraryOptions,
			   void **libraryOptionValues,
			   unsigned int numLibraryOptions)
{
	ENTER(cuLibraryLoadData);
	return load_library(library, code, 0, numJitOptions, jitOptions,
			    jitOptionsValues, numLibraryOptions, libraryOptions,
			    libraryOptionValues);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
			       CUjit_option *jitOptions,
			       void **jitOptionsValues,
			       unsigned int numJitOptions,
			       CUlibraryOption *libraryOptions,
			       void **libraryOptionValues,
			       unsigned int numLibraryOptions)
{
	void *bytes;
	size_t size;
	CUresult r;

	ENTER(cuLibraryLoadFromFile);
	if (!library || !fileName)
		return CUDA_ERROR_INVALID_VALUE;
	r = module_file_read(fileName, &bytes, &size);
	if (r)
		return r;
	r = load_library(library, bytes, size, numJitOptions, jitOptions,
			 jitOptionsValues, numLibraryOptions, libraryOptions,
			 libraryOptionValues);
	free(bytes);
	return r;
}

/*
 * Does not wait, because runtimes call this at process exit, when a kernel may
 * run forever. If any work is unfinished, the memory of variables is not freed
 * until their context ends.
 */
CUresult cuLibraryUnload(CUlibrary library)
{
	bool busy;

	ENTER(cuLibraryUnload);
	busy = !stream_all_done();
	pthread_mutex_lock(&module_lock);
	if (!handle_is(library, HANDLE_LIBRARY)) {
		pthread_mutex_unlock(&module_lock);
		return CUDA_ERROR_INVALID_HANDLE;
	}
	while (library->module_count) {
		library->modules[0]->image->leaves_memory = busy;
		module_end(library->modules[0]);
	}
	end_library_handles(library);
	library->retired.finish = finish_library;
	code_retire(&library->retired);
	code_finish_retired();
	pthread_mutex_unlock(&module_lock);
	return CUDA_SUCCESS;
}

static CUmodule find_module(CUlibrary lib, CUcontext ctx)
{
	for (unsigned i = 0; i < lib->module_count; i++)
		if (lib->modules[i]->ctx == ctx->base)
			return lib->modules[i];
	return NULL;
}

static bool library_has_room(CUlibrary lib)
{
	unsigned room = lib->module_room ? lib->module_room * 2 : 4;
	CUmodule *grown;

	if (lib->module_count < lib->module_room)
		return true;
	grown = realloc(lib->modules, room * sizeof *grown);
	if (!grown)
		return false;
	lib->modules = grown;
	lib->module_room = room;
	return true;
}

/*
 * Connects the functions of a module with the kernels of the library. Both are
 * in the order of the PTX.
 */
static void join_module_kernels(CUlibrary lib, CUmodule m)
{
	for (unsigned i = 0; i < lib->kernel_count; i++) {
		CUkernel k = lib->kernels[i];
		const struct function_settings *from =
		    &k->set[front_number(m->ctx->device)];
		CUfunction f = m->functions[i];

		f->kernel = k;
		f->set.dynamic_shared = from->dynamic_shared;
		f->set.carveout = from->carveout;
		f->set.non_portable = from->non_portable;
		f->set.policy = from->policy;
		for (unsigned n = 0; n < 3; n++)
			f->set.cluster[n] = from->cluster[n];
	}
}

/*
 * Finds or makes the module of a library in a context. The caller holds
 * module_lock.
 */
static CUresult instantiate_library(CUlibrary lib, CUcontext ctx,
				    CUmodule *ret_module)
{
	CUmodule m = find_module(lib, ctx);
	CUresult r;

	GK_ASSERT(gk_lock_held(&module_lock));
	if (!m) {
		if (!library_has_room(lib))
			return CUDA_ERROR_OUT_OF_MEMORY;
		r = module_new(ctx, lib->source, lib, &m);
		if (r)
			return r;
		join_module_kernels(lib, m);
		lib->modules[lib->module_count++] = m;
		module_enlist(m);
	}
	*ret_module = m;
	return CUDA_SUCCESS;
}

static CUresult get_module(CUcontext ctx, CUlibrary library,
			   CUmodule *ret_module)
{
	CUresult r = CUDA_ERROR_INVALID_HANDLE;

	pthread_mutex_lock(&module_lock);
	if (handle_is(library, HANDLE_LIBRARY))
		r = instantiate_library(library, ctx, ret_module);
	pthread_mutex_unlock(&module_lock);
	return r;
}

CUresult kernel_function(CUcontext ctx, CUkernel kernel,
			 CUfunction *ret_function)
{
	CUmodule m;
	CUresult r;

	if (atomic_load_explicit(&kernel->last_ctx, memory_order_acquire) ==
	    ctx->base->id) {
		*ret_function = atomic_load(&kernel->last);
		return CUDA_SUCCESS;
	}
	r = get_module(ctx, kernel->library, &m);
	if (r)
		return r;
	*ret_function = m->functions[kernel->index];
	atomic_store(&kernel->last_ctx, 0);
	atomic_store(&kernel->last, *ret_function);
	atomic_store(&kernel->last_ctx, ctx->base->id);
	return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
	ENTER_CONTEXT(cuLibraryGetModule, ctx);
	return pMod ? get_module(ctx, library, pMod) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library,
			    const char *name)
{
	READS_CODE;
	ENTER(cuLibraryGetKernel);
	if (!pKernel || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_is(library, HANDLE_LIBRARY))
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < library->kernel_count; i++)
		if (!strcmp(library->kernels[i]->ptx->name, name)) {
			*pKernel = library->kernels[i];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
	READS_CODE;
	ENTER(cuLibraryGetKernelCount);
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_is(lib, HANDLE_LIBRARY))
		return CUDA_ERROR_INVALID_HANDLE;
	*count = lib->kernel_count;
	return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels,
				   CUlibrary lib)
{
	READS_CODE;
	ENTER(cuLibraryEnumerateKernels);
	if (!kernels || !numKernels)
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_is(lib, HANDLE_LIBRARY))
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < numKernels && i < lib->kernel_count; i++)
		kernels[i] = lib->kernels[i];
	return CUDA_SUCCESS;
}

static bool is_managed(CUlibrary library, const char *name)
{
	const struct gkf_ptx_module *m = library->source->ptx;

	for (uint32_t i = 0; i < m->variable_count; i++)
		if (m->variables[i].managed &&
		    !strcmp(m->variables[i].name, name))
			return true;
	return false;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
			    const char *name)
{
	CUmodule m;
	READS_CODE;
	CUresult r;

	ENTER_CONTEXT(cuLibraryGetGlobal, ctx);
	if (!name || (!dptr && !bytes))
		return CUDA_ERROR_INVALID_VALUE;
	r = get_module(ctx, library, &m);
	return r ? r : module_global(m->image, name, dptr, bytes);
}

CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes,
			     CUlibrary library, const char *name)
{
	CUmodule m;
	READS_CODE;
	CUresult r;

	ENTER_CONTEXT(cuLibraryGetManaged, ctx);
	if (!name || (!dptr && !bytes))
		return CUDA_ERROR_INVALID_VALUE;
	r = get_module(ctx, library, &m);
	if (r)
		return r;
	if (!is_managed(library, name))
		return CUDA_ERROR_NOT_FOUND;
	return module_global(m->image, name, dptr, bytes);
}

/* No device here has functions that both host and device can call. */
CUresult cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library,
				     const char *symbol)
{
	ENTER(cuLibraryGetUnifiedFunction);
	if (!fptr || !symbol)
		return CUDA_ERROR_INVALID_VALUE;
	return handle_is(library, HANDLE_LIBRARY) ? CUDA_ERROR_NOT_FOUND
						  : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
	READS_CODE;
	ENTER_CONTEXT(cuKernelGetFunction, ctx);
	if (!pFunc)
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_is(kernel, HANDLE_KERNEL))
		return CUDA_ERROR_INVALID_HANDLE;
	return kernel_function(ctx, kernel, pFunc);
}

CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
	READS_CODE;
	ENTER(cuKernelGetLibrary);
	if (!pLib)
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_is(kernel, HANDLE_KERNEL))
		return CUDA_ERROR_INVALID_HANDLE;
	*pLib = kernel->library;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel hfunc)
{
	READS_CODE;
	ENTER(cuKernelGetName);
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_is(hfunc, HANDLE_KERNEL))
		return CUDA_ERROR_INVALID_HANDLE;
	*name = hfunc->ptx->name;
	return CUDA_SUCCESS;
}

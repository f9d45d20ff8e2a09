/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native.c - opens the driver for the libraries above it, and loads and
 * launches their kernels. For the driver, a native kernel is PTX with an empty
 * body and one parameter, an array of bytes.
 */
#include "fronts/common/native.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PTX_HEAD ".version 7.0\n.target sm_50\n.address_size 64\n"
#define PTX_ENTRY                                                              \
	".visible .entry %s(.param .align 16 .b8 p[%zu])\n{\nret;\n}\n"
#define ENTRY_SPARE 96 /* enough for PTX_ENTRY without a name */

static const struct {
	const char *symbol;
	size_t offset;
} functions[] = {
#define CUDA(symbol, base, since, twin, limit, capture, callers, ...)          \
	NATIVE_FOR_##callers(                                                  \
	    {#symbol, offsetof(struct native_driver, symbol)}, )
#include "abi/cuda/cuda.def"
#undef CUDA
};

static struct native_driver driver;
static bool works;

static bool find_functions(void *library)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *found = dlsym(library, functions[i].symbol);

		if (!found)
			return false;
		memcpy((char *)&driver + functions[i].offset, &found,
		       sizeof found);
	}
	return true;
}

static const struct gpukit_table *find_table(void)
{
	const struct gpukit_table *table;
	const void *found = NULL;
	CUuuid id;

	memcpy(id.bytes, GPUKIT_TABLE_UUID, sizeof id.bytes);
	if (driver.cuGetExportTable(&found, &id) || !found)
		return NULL;
	table = found;
	/*
	 * Older tables lack capture_watch, the last member that these libraries
	 * use.
	 */
	return GPUKIT_TABLE_HAS(table, capture_watch) ? table : NULL;
}

static void open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library || !find_functions(library) || driver.cuInit(0))
		return;
	driver.table = find_table();
	works = driver.table != NULL;
}

const struct native_driver *native_driver(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_driver);
	return works ? &driver : NULL;
}

CUresult native_context(void)
{
	const struct native_driver *d = native_driver();
	CUcontext ctx;
	CUresult r;

	if (!d)
		return CUDA_ERROR_NOT_INITIALIZED;
	r = d->cuCtxGetCurrent(&ctx);
	if (r || ctx)
		return r;
	r = d->cuDevicePrimaryCtxRetain(&ctx, 0);
	return r ? r : d->cuCtxSetCurrent(ctx);
}

/* Returns the PTX text of a library's kernels, for the caller to free. NULL: no
 * memory. */
static char *write_ptx(const struct native_library *library)
{
	size_t room = sizeof PTX_HEAD, used;
	char *text;

	for (unsigned i = 0; i < library->count; i++)
		room += strlen(library->kernels[i].name) + ENTRY_SPARE;
	text = malloc(room);
	if (!text)
		return NULL;
	used = (size_t)sprintf(text, PTX_HEAD);
	for (unsigned i = 0; i < library->count; i++)
		used += (size_t)snprintf(text + used, room - used, PTX_ENTRY,
					 library->kernels[i].name,
					 library->kernels[i].param_size);
	return text;
}

static CUresult attach_kernels(struct native_library *library, CUlibrary loaded)
{
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; !r && i < library->count; i++) {
		struct native_kernel *k = &library->kernels[i];

		r = driver.cuLibraryGetKernel(&k->handle, loaded, k->name);
		if (!r)
			r = driver.table->attach(k->handle, k->body);
	}
	return r;
}

static CUresult load_kernels(struct native_library *library)
{
	char *text = write_ptx(library);
	CUlibrary loaded;
	CUresult r;

	if (!text)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = driver.cuLibraryLoadData(&loaded, text, NULL, NULL, 0, NULL, NULL,
				     0);
	free(text);
	if (!r)
		r = attach_kernels(library, loaded);
	if (!r)
		__atomic_store_n(&library->loaded, loaded, __ATOMIC_RELEASE);
	return r;
}

static CUresult ensure_loaded(struct native_library *library)
{
	CUresult r = CUDA_SUCCESS;

	if (__atomic_load_n(&library->loaded, __ATOMIC_ACQUIRE))
		return r;
	pthread_mutex_lock(&library->lock);
	if (!library->loaded)
		r = load_kernels(library);
	pthread_mutex_unlock(&library->lock);
	return r;
}

CUresult native_launch(struct native_library *library, unsigned index,
		       CUstream stream, const void *params)
{
	struct native_kernel *k = &library->kernels[index];
	size_t size = k->param_size;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER,
			 (void *)(uintptr_t)params, CU_LAUNCH_PARAM_BUFFER_SIZE,
			 &size, CU_LAUNCH_PARAM_END};
	CUresult r = native_context();

	if (!r)
		r = ensure_loaded(library);
	return r ? r
		 : driver.cuLaunchKernel((CUfunction)k->handle, 1, 1, 1, 1, 1,
					 1, 0, stream, NULL, extra);
}

void native_refuse(enum gpukit_library library, const char *symbol)
{
	const struct native_driver *d = native_driver();

	if (d)
		d->table->refused(library, symbol);
}

void native_missing(enum gpukit_library library, enum needed_id needed)
{
	const struct needed *n = &needed_libraries[needed];
	char text[192];

	snprintf(text, sizeof text,
		 NEEDED_MARK "%s, which is not installed: %s", n->file, n->get);
	native_refuse(library, text);
}

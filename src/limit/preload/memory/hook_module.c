/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_module.c - hooks for loading code and its variables. The memory that
 * they take is known only afterwards; before the load, the code gives an upper
 * bound.
 */
#include "limit/preload/memory/code_size.h"
#include "limit/preload/memory/hook.h"

#include <sys/stat.h>

/*
 * The driver may load code only when it is first used. So this many
 * measurements after a load look for memory that such code takes.
 */
#define LOOKS 4

/* Code known not to fit is not loaded. */
static CUresult begin_load(struct memory_call *call, struct code_size size)
{
	uint64_t least = size.least ? piece_most(size.least) : 0;
	uint64_t most = piece_most(size.most);

	return memory_begin_load(call, limited_current_device(), GKL_MODULE,
				 least, most > least ? most : least);
}

/* False: the code must be unloaded again. */
static bool end_load(struct memory_call *call, CUresult r)
{
	if (call->device < 0)
		return true;
	if (r) {
		memory_end(call, 0);
		return true;
	}
	if (!memory_end_measured(call, 0))
		return false;
	memory_expect(call->device, LOOKS);
	return true;
}

/*
 * Hooks that differ only in name and parameters. size: the bounds of the code's
 * size; done: executed once the code is loaded; undo: executed if loading took
 * the group above its limit.
 */
#define LOAD(symbol, params, values, size, done, undo)                         \
	CUresult symbol params                                                 \
	{                                                                      \
		struct memory_call call;                                       \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		r = begin_load(&call, size);                                   \
		if (r)                                                         \
			return r;                                              \
		r = REAL(symbol) values;                                       \
		if (!r)                                                        \
			done;                                                  \
		if (end_load(&call, r))                                        \
			return r;                                              \
		undo;                                                          \
		return CUDA_ERROR_OUT_OF_MEMORY;                               \
	}

/* Files are not read, since all of them may be compressed. */
static struct code_size size_file(const char *name)
{
	struct stat st;

	return name && !stat(name, &st)
		   ? code_size_of_file((uint64_t)st.st_size)
		   : (struct code_size){0};
}

LOAD(cuModuleLoad, (CUmodule * module, const char *fname), (module, fname),
     size_file(fname), (void)0, cuModuleUnload(*module))
LOAD(cuModuleLoadData, (CUmodule * module, const void *image), (module, image),
     code_size(image), (void)0, cuModuleUnload(*module))
LOAD(cuModuleLoadDataEx,
     (CUmodule * module, const void *image, unsigned int numOptions,
      CUjit_option *options, void **optionValues),
     (module, image, numOptions, options, optionValues), code_size(image),
     (void)0, cuModuleUnload(*module))
LOAD(cuModuleLoadFatBinary, (CUmodule * module, const void *fatCubin),
     (module, fatCubin), code_size(fatCubin), (void)0, cuModuleUnload(*module))

/* ---- libraries, which each context loads at their first use ---- */

/*
 * In a row of `uses` that describes a library, `bytes` is the lower bound and
 * `owner` the upper bound of the library's size.
 */
static void note_library(CUlibrary library, struct code_size size)
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct table_row row = {
	    .key = (uintptr_t)library, .bytes = size.least, .owner = size.most};

	if (s)
		table_put(&s->uses, &row);
}

static struct code_size size_library(CUlibrary library)
{
	struct code_size size = {0};
	struct table_row row;

	if (table_find(&memory_state()->uses, (uintptr_t)library, &row))
		size = (struct code_size){row.bytes, row.owner};
	return size;
}

/* A library takes no device memory before it is used. */
static struct code_size may_be_used(struct code_size size)
{
	return (struct code_size){0, size.most};
}

LOAD(cuLibraryLoadData,
     (CUlibrary * library, const void *code, CUjit_option *jitOptions,
      void **jitOptionsValues, unsigned int numJitOptions,
      CUlibraryOption *libraryOptions, void **libraryOptionValues,
      unsigned int numLibraryOptions),
     (library, code, jitOptions, jitOptionsValues, numJitOptions,
      libraryOptions, libraryOptionValues, numLibraryOptions),
     may_be_used(code_size(code)), note_library(*library, code_size(code)),
     cuLibraryUnload(*library))
LOAD(cuLibraryLoadFromFile,
     (CUlibrary * library, const char *fileName, CUjit_option *jitOptions,
      void **jitOptionsValues, unsigned int numJitOptions,
      CUlibraryOption *libraryOptions, void **libraryOptionValues,
      unsigned int numLibraryOptions),
     (library, fileName, jitOptions, jitOptionsValues, numJitOptions,
      libraryOptions, libraryOptionValues, numLibraryOptions),
     size_file(fileName), note_library(*library, size_file(fileName)),
     cuLibraryUnload(*library))

static bool is_first_use(CUlibrary library)
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct table_row row = {0}, known;
	CUcontext ctx;

	if (!s || REAL(cuCtxGetCurrent)(&ctx))
		return false;
	row.key = (uintptr_t)library * 31 + (uintptr_t)ctx;
	return !table_find(&s->uses, row.key, &known) &&
	       table_put(&s->uses, &row);
}

static CUlibrary library_of(CUkernel kernel)
{
	CUlibrary library = NULL;

	if (REAL(cuKernelGetLibrary))
		REAL(cuKernelGetLibrary)(&library, kernel);
	return library;
}

/*
 * The load cannot be undone: the program gets an error, and what was loaded
 * stays charged.
 */
#define USE(symbol, params, values, library)                                   \
	CUresult symbol params                                                 \
	{                                                                      \
		struct memory_call call;                                       \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		if (!is_first_use(library))                                    \
			return REAL(symbol) values;                            \
		r = begin_load(&call, size_library(library));                  \
		if (r)                                                         \
			return r;                                              \
		r = REAL(symbol) values;                                       \
		return end_load(&call, r) ? r : CUDA_ERROR_OUT_OF_MEMORY;      \
	}

USE(cuKernelGetFunction, (CUfunction * pFunc, CUkernel kernel), (pFunc, kernel),
    library_of(kernel))
USE(cuLibraryGetGlobal,
    (CUdeviceptr * dptr, size_t *bytes, CUlibrary library, const char *name),
    (dptr, bytes, library, name), library)
USE(cuLibraryGetModule, (CUmodule * pMod, CUlibrary library), (pMod, library),
    library)

/* ---- unloading ---- */

static void after_unload(CUresult r, int device)
{
	if (!r && device >= 0 && memory_state())
		memory_measure(device, GKL_MODULE);
}

CUresult cuModuleUnload(CUmodule hmod)
{
	CUresult r;

	if (MISSING(cuModuleUnload))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuModuleUnload)(hmod);
	after_unload(r, limited_current_device());
	return r;
}

/* The library is unloaded from all devices. */
CUresult cuLibraryUnload(CUlibrary library)
{
	CUresult r;

	if (MISSING(cuLibraryUnload))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuLibraryUnload)(library);
	for (int i = 0; !r && limited() && i < GKL_DEVICES; i++)
		if (memory_state() &&
		    atomic_load(&memory_state()->device[i].seen))
			memory_measure(i, GKL_MODULE);
	return r;
}

/* ---- limits ---- */

static uint64_t read_attribute(CUdevice_attribute attribute)
{
	CUdevice device;
	int value = 0;

	if (!REAL(cuCtxGetDevice) || REAL(cuCtxGetDevice)(&device) ||
	    REAL(cuDeviceGetAttribute)(&value, attribute, device) || value < 0)
		return 0;
	return (uint64_t)value;
}

/* Each thread that can run at the same time has a stack. */
static uint64_t count_threads(void)
{
	return read_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *
	       read_attribute(
		   CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
}

static struct code_size size_limit(CUlimit limit, uint64_t value)
{
	uint64_t each = limit == CU_LIMIT_STACK_SIZE ? count_threads() : 1;
	struct code_size size = {0};

	if (__builtin_mul_overflow(value, each, &size.most) ||
	    size.most > CODE_MOST - CODE_SLACK)
		size.most = CODE_MOST - CODE_SLACK;
	size.most += CODE_SLACK;
	return size;
}

/* CUDA's limits set the sizes of kernels' stacks, heaps and buffers. */
LOAD(cuCtxSetLimit, (CUlimit limit, size_t value), (limit, value),
     size_limit(limit, value), (void)0, (void)0)

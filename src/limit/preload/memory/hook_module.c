/*
 * hook_module.c - code and its variables. How much they take is seen afterwards
 * alone, so while they are loaded the process has all that is left.
 */
#include "limit/preload/code_size.h"
#include "limit/preload/hook.h"

/* Code that is loaded when it is first used shows up at one of these looks. */
#define LOOKS 4

/* What is known not to fit is not loaded. */
static CUresult begin_load(struct memory_call *call, uint64_t known)
{
	uint64_t least = known ? piece_most(known) : 0;
	CUresult r = memory_begin(call, limited_current_device(), GKL_MODULE,
				  MEMORY_ALL_LEFT);

	if (r || call->device < 0 || call->pending >= least ||
	    !limited_memory(call->device))
		return r;
	memory_end(call, 0);
	return memory_begin(call, call->device, GKL_MODULE, least);
}

/* False: it is to be unloaded again. */
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
 * Functions that differ in name and parameters alone. known: what the code says
 * of its size; done: after it was loaded; undo: it is too much.
 */
#define LOAD(symbol, params, values, known, done, undo)                        \
	CUresult symbol params                                                 \
	{                                                                      \
		struct memory_call call;                                       \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		r = begin_load(&call, known);                                  \
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

LOAD(cuModuleLoad, (CUmodule * module, const char *fname), (module, fname), 0,
     (void)0, cuModuleUnload(*module))
LOAD(cuModuleLoadData, (CUmodule * module, const void *image), (module, image),
     code_size(image), (void)0, cuModuleUnload(*module))
LOAD(cuModuleLoadDataEx,
     (CUmodule * module, const void *image, unsigned int numOptions,
      CUjit_option *options, void **optionValues),
     (module, image, numOptions, options, optionValues), code_size(image),
     (void)0, cuModuleUnload(*module))
LOAD(cuModuleLoadFatBinary, (CUmodule * module, const void *fatCubin),
     (module, fatCubin), code_size(fatCubin), (void)0, cuModuleUnload(*module))

/* ---- libraries, which are loaded in each context by the first use ---- */

static void note_library(CUlibrary library, const void *code)
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct table_row row = {.key = (uintptr_t)library,
				.bytes = code_size(code)};

	if (s && row.bytes)
		table_put(&s->uses, &row);
}

static uint64_t size_library(CUlibrary library)
{
	struct table_row row;

	return table_find(&memory_state()->uses, (uintptr_t)library, &row)
		   ? row.bytes
		   : 0;
}

LOAD(cuLibraryLoadData,
     (CUlibrary * library, const void *code, CUjit_option *jitOptions,
      void **jitOptionsValues, unsigned int numJitOptions,
      CUlibraryOption *libraryOptions, void **libraryOptionValues,
      unsigned int numLibraryOptions),
     (library, code, jitOptions, jitOptionsValues, numJitOptions,
      libraryOptions, libraryOptionValues, numLibraryOptions),
     0, note_library(*library, code), cuLibraryUnload(*library))
LOAD(cuLibraryLoadFromFile,
     (CUlibrary * library, const char *fileName, CUjit_option *jitOptions,
      void **jitOptionsValues, unsigned int numJitOptions,
      CUlibraryOption *libraryOptions, void **libraryOptionValues,
      unsigned int numLibraryOptions),
     (library, fileName, jitOptions, jitOptionsValues, numJitOptions,
      libraryOptions, libraryOptionValues, numLibraryOptions),
     0, (void)0, cuLibraryUnload(*library))

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
 * It cannot be undone: the program is refused what it asked for, and what is
 * loaded stays charged.
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

/* It goes from all devices. */
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

/* Stacks, heaps and buffers of kernels are as large as limits say. */
LOAD(cuCtxSetLimit, (CUlimit limit, size_t value), (limit, value), 0, (void)0,
     (void)0)

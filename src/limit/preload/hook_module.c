/*
 * hook_module.c - code and its variables. How much they take is seen afterwards
 * alone, so while they are loaded the process has all that is left.
 */
#include "limit/preload/hook.h"

/* Code that is loaded when it is first used shows up at one of these looks. */
#define LOOKS 4

static CUresult begin_load(struct memory_call *call)
{
	return memory_begin(call, limited_current_device(), GKL_MODULE,
			    MEMORY_ALL_LEFT);
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

/* Functions that differ in name and parameters alone. */
#define LOAD(symbol, params, values, unload)                                   \
	CUresult symbol params                                                 \
	{                                                                      \
		struct memory_call call;                                       \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		r = begin_load(&call);                                         \
		if (r)                                                         \
			return r;                                              \
		r = REAL(symbol) values;                                       \
		if (end_load(&call, r))                                        \
			return r;                                              \
		unload;                                                        \
		return CUDA_ERROR_OUT_OF_MEMORY;                               \
	}

LOAD(cuModuleLoad, (CUmodule * module, const char *fname), (module, fname),
     cuModuleUnload(*module))
LOAD(cuModuleLoadData, (CUmodule * module, const void *image), (module, image),
     cuModuleUnload(*module))
LOAD(cuModuleLoadDataEx,
     (CUmodule * module, const void *image, unsigned int numOptions,
      CUjit_option *options, void **optionValues),
     (module, image, numOptions, options, optionValues),
     cuModuleUnload(*module))
LOAD(cuModuleLoadFatBinary, (CUmodule * module, const void *fatCubin),
     (module, fatCubin), cuModuleUnload(*module))
LOAD(cuLibraryLoadData,
     (CUlibrary * library, const void *code, CUjit_option *jitOptions,
      void **jitOptionsValues, unsigned int numJitOptions,
      CUlibraryOption *libraryOptions, void **libraryOptionValues,
      unsigned int numLibraryOptions),
     (library, code, jitOptions, jitOptionsValues, numJitOptions,
      libraryOptions, libraryOptionValues, numLibraryOptions),
     cuLibraryUnload(*library))
LOAD(cuLibraryLoadFromFile,
     (CUlibrary * library, const char *fileName, CUjit_option *jitOptions,
      void **jitOptionsValues, unsigned int numJitOptions,
      CUlibraryOption *libraryOptions, void **libraryOptionValues,
      unsigned int numLibraryOptions),
     (library, fileName, jitOptions, jitOptionsValues, numJitOptions,
      libraryOptions, libraryOptionValues, numLibraryOptions),
     cuLibraryUnload(*library))

/* ---- libraries, which are loaded in each context by the first use ---- */

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
		r = begin_load(&call);                                         \
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
LOAD(cuCtxSetLimit, (CUlimit limit, size_t value), (limit, value), (void)0)

/*
 * registry.c - the calls that nvcc emits for every program: images of code and
 * what is in them. They run before main() and when libraries are loaded, so
 * they take notes and touch no driver.
 */
#include "fronts/cudart/lookup.h"

#include <pthread.h>
#include <stdlib.h>

struct image {
	/* The handle that the program has points here. */
	void *code;
	struct entry *entries;
	bool has_host_variables;
	pthread_mutex_t loading;
	_Atomic(CUlibrary) library; /* NULL: not loaded */
	struct image *next_gone;
};

static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

/* Those that were taken back. */
static struct image *gone;

void registry_hold(void)
{
	pthread_mutex_lock(&writing);
}

void registry_release(void)
{
	pthread_mutex_unlock(&writing);
}

static struct image *image_of(void **handle)
{
	return (struct image *)(void *)handle;
}

void **__cudaRegisterFatBinary(void *fatCubin)
{
	struct image *image = calloc(1, sizeof *image);

	if (!image)
		return NULL;
	image->code = fatCubin;
	pthread_mutex_init(&image->loading, NULL);
	return &image->code;
}

/* All is on demand: there is nothing to do at the end. */
void __cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
	(void)fatCubinHandle;
}

/* An entry for which there is no memory is not found later. */
static void note_entry(void **handle, enum entry_kind kind, const void *host,
		       const char *name, size_t size)
{
	struct image *image = image_of(handle);
	struct entry *e = image && host ? calloc(1, sizeof *e) : NULL;

	if (!e)
		return;
	e->kind = kind;
	e->host = host;
	e->name = name;
	e->size = size;
	e->image = image;
	pthread_mutex_lock(&writing);
	e->next = image->entries;
	image->entries = e;
	lookup_put(e);
	pthread_mutex_unlock(&writing);
}

void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun,
			    char *deviceFun, const char *deviceName,
			    int thread_limit, uint3 *tid, uint3 *bid,
			    dim3 *bDim, dim3 *gDim, int *wSize)
{
	(void)deviceFun, (void)thread_limit, (void)tid, (void)bid;
	(void)bDim, (void)gDim, (void)wSize;
	note_entry(fatCubinHandle, ENTRY_KERNEL, hostFun, deviceName, 0);
}

void __cudaRegisterVar(void **fatCubinHandle, char *hostVar,
		       char *deviceAddress, const char *deviceName, int ext,
		       size_t size, int constant, int global)
{
	(void)deviceAddress, (void)ext, (void)constant, (void)global;
	note_entry(fatCubinHandle, ENTRY_VARIABLE, hostVar, deviceName, size);
}

void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress,
			      char *deviceAddress, const char *deviceName,
			      int ext, size_t size, int constant, int global)
{
	(void)deviceAddress, (void)ext, (void)constant, (void)global;
	note_entry(fatCubinHandle, ENTRY_MANAGED, hostVarPtrAddress, deviceName,
		   size);
}

/* Device code that reads variables of the host: registry_library() refuses. */
void __cudaRegisterHostVar(void **fatCubinHandle, const char *deviceName,
			   char *hostVar, size_t size)
{
	(void)deviceName, (void)hostVar, (void)size;
	if (fatCubinHandle)
		image_of(fatCubinHandle)->has_host_variables = true;
}

/*
 * Functions and data of the host, for device code on machines where both share
 * one address space. There are none such here.
 */
void __cudaRegisterUnifiedTable(void *table)
{
	(void)table;
}

/*
 * Called when the process exits, while other threads may be in a launch: what
 * they may be reading is small, and stays.
 */
void __cudaUnregisterFatBinary(void **fatCubinHandle)
{
	struct image *image = image_of(fatCubinHandle);
	CUlibrary library;

	if (!image)
		return;
	library = atomic_load(&image->library);
	if (library && atomic_load(&cudart_state) == 1)
		legacy->cuLibraryUnload(library);
	pthread_mutex_lock(&writing);
	for (struct entry *e = image->entries; e; e = e->next)
		lookup_remove(e);
	image->next_gone = gone;
	gone = image;
	pthread_mutex_unlock(&writing);
}

/* Managed variables are pointers on the host, to be set when they exist. */
static CUresult set_managed(struct image *image, CUlibrary library)
{
	for (struct entry *e = image->entries; e; e = e->next) {
		CUdeviceptr at = 0;
		size_t size;
		CUresult r;

		if (e->kind != ENTRY_MANAGED)
			continue;
		r = legacy->cuLibraryGetManaged(&at, &size, library, e->name);
		if (r)
			return r;
		*(void **)(uintptr_t)e->host = (void *)at;
	}
	return CUDA_SUCCESS;
}

static CUresult load_image(struct image *image, CUlibrary *ret_library)
{
	CUlibrary library;
	CUresult r;

	if (image->has_host_variables)
		return CUDA_ERROR_NOT_SUPPORTED;
	r = legacy->cuLibraryLoadData(&library, image->code, NULL, NULL, 0,
				      NULL, NULL, 0);
	if (r)
		return r;
	r = set_managed(image, library);
	if (r) {
		legacy->cuLibraryUnload(library);
		return r;
	}
	atomic_store(&image->library, library);
	*ret_library = library;
	return CUDA_SUCCESS;
}

static cudaError_t image_library(struct image *image, CUlibrary *ret_library)
{
	CUlibrary library = atomic_load(&image->library);
	CUresult r = CUDA_SUCCESS;

	if (!library) {
		pthread_mutex_lock(&image->loading);
		library = atomic_load(&image->library);
		if (!library)
			r = load_image(image, &library);
		pthread_mutex_unlock(&image->loading);
	}
	TRY(runtime_result(r));
	*ret_library = library;
	return cudaSuccess;
}

cudaError_t registry_library(struct entry *entry, CUlibrary *ret_library)
{
	return image_library(entry->image, ret_library);
}

cudaError_t registry_kernel(struct entry *entry, CUkernel *ret_kernel)
{
	CUkernel kernel =
	    atomic_load_explicit(&entry->kernel, memory_order_acquire);
	CUlibrary library;
	CUresult r;

	if (!kernel) {
		TRY(image_library(entry->image, &library));
		r = legacy->cuLibraryGetKernel(&kernel, library, entry->name);
		REQUIRE(r != CUDA_ERROR_NOT_FOUND,
			cudaErrorInvalidDeviceFunction);
		TRY(runtime_result(r));
		atomic_store(&entry->kernel, kernel);
	}
	*ret_kernel = kernel;
	return cudaSuccess;
}

static cudaError_t begin_image(struct image *image)
{
	CUlibrary library;

	ENTER_CONTEXT();
	return image_library(image, &library);
}

/* Emitted before the first use of a managed variable: 1 when all are there. */
char __cudaInitModule(void **fatCubinHandle)
{
	return fatCubinHandle && !begin_image(image_of(fatCubinHandle));
}

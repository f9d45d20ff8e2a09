/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted_work.c - implements the functions of the scripted driver that have
 * results.
 */
#include "fronts/common/export_table.h"
#include "fronts/cudart/scripted_own.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct CUctx_st {
	int device;
	bool active;
};

/* A kernel is its name in the image, and so is its function. */
struct scripted_image scripted_images[4];
_Thread_local struct scripted_launch scripted_launch;
CUDA_MEMCPY3D scripted_boxes[8];
unsigned scripted_box_count;
size_t scripted_table_size = sizeof(struct gpukit_table);

static struct CUctx_st primary[SCRIPTED_DEVICES] = {{0, 0}, {1, 0}, {2, 0}};
static struct CUctx_st made[SCRIPTED_DEVICES] = {{0, 1}, {1, 1}, {2, 1}};
static _Thread_local CUcontext current;
static char refused_name[64];
static const char *refused_reason;

/* Its calls do not count as the driver's work. */
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
			     cuuint64_t flags,
			     CUdriverProcAddressQueryResult *symbolStatus)
{
	bool own = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;

	*pfn = (void *)scripted_find(symbol, cudaVersion, own);
	if (!*pfn)
		status = scripted_find(symbol, 1 << 20, true)
			     ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
			     : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	if (symbolStatus)
		*symbolStatus = status;
	return *pfn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuDriverGetVersion(int *driverVersion)
{
	ENTER(cuDriverGetVersion);
	*driverVersion = scripted_version;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	ENTER(cuDeviceGetCount);
	*count = SCRIPTED_DEVICES;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
	ENTER(cuDeviceGetAttribute);
	*pi = 1000 + (int)attrib + dev;
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	ENTER(cuDeviceTotalMem_v2);
	*bytes = (size_t)(dev + 1) << 30;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	ENTER(cuDeviceGetName);
	strncpy(name, "scripted", (size_t)len);
	name[8] = (char)('0' + dev);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
	ENTER(cuCtxGetCurrent);
	*pctx = current;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	ENTER(cuCtxSetCurrent);
	current = ctx;
	return CUDA_SUCCESS;
}

/* Checks that the current context is alive. */
static CUresult alive(void)
{
	if (!current)
		return CUDA_ERROR_INVALID_CONTEXT;
	return current->active ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	ENTER(cuCtxGetDevice);
	if (alive())
		return alive();
	*device = current->device;
	return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	ENTER(cuCtxCreate_v2);
	*pctx = &made[dev];
	if (flags == SCRIPTED_SAME_HANDLE) {
		*pctx = current;
		current->active = true;
		current->device = dev;
	}
	current = *pctx;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	ENTER(cuDevicePrimaryCtxRetain);
	primary[dev].active = true;
	*pctx = &primary[dev];
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags,
				    int *active)
{
	ENTER(cuDevicePrimaryCtxGetState);
	*flags = 0;
	*active = primary[dev].active;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	ENTER(cuDevicePrimaryCtxReset_v2);
	primary[dev].active = false;
	return CUDA_SUCCESS;
}

/* The address contains the device. */
CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	ENTER(cuMemAlloc_v2);
	if (alive())
		return alive();
	*dptr = 0x100000 + (CUdeviceptr)current->device * 0x1000000 + bytesize;
	return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch,
			    size_t WidthInBytes, size_t Height,
			    unsigned int ElementSizeBytes)
{
	(void)ElementSizeBytes;
	ENTER(cuMemAllocPitch_v2);
	*pPitch = (WidthInBytes + 511) / 512 * 512;
	*dptr = 0x100000 + *pPitch * Height;
	return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
			   CUjit_option *jitOptions, void **jitOptionsValues,
			   unsigned int numJitOptions,
			   CUlibraryOption *libraryOptions,
			   void **libraryOptionValues,
			   unsigned int numLibraryOptions)
{
	(void)jitOptions, (void)jitOptionsValues, (void)numJitOptions;
	(void)libraryOptions, (void)libraryOptionValues;
	(void)numLibraryOptions;
	ENTER(cuLibraryLoadData);
	for (int i = 0; i < 4; i++) {
		struct scripted_image *image = &scripted_images[i];

		if (image->code != code)
			continue;
		image->loads++;
		if (image->result)
			return image->result;
		image->loaded = 1;
		*library = (CUlibrary)(void *)image;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_IMAGE;
}

CUresult cuLibraryUnload(CUlibrary library)
{
	ENTER(cuLibraryUnload);
	((struct scripted_image *)(void *)library)->loaded = 0;
	return CUDA_SUCCESS;
}

static const char *const *find(CUlibrary library, const char *name)
{
	struct scripted_image *image = (struct scripted_image *)(void *)library;
	const char *const *n = image->names;

	while (*n && strcmp(*n, name) != 0)
		n++;
	return *n ? n : NULL;
}

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library,
			    const char *name)
{
	const char *const *n;

	ENTER(cuLibraryGetKernel);
	n = find(library, name);
	*pKernel = (CUkernel)(uintptr_t)n;
	return n ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static CUresult variable(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
			 const char *name)
{
	struct scripted_image *image = (struct scripted_image *)(void *)library;

	if (!find(library, name))
		return CUDA_ERROR_NOT_FOUND;
	*dptr = (CUdeviceptr)image->memory;
	*bytes = sizeof image->memory;
	return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
			    const char *name)
{
	ENTER(cuLibraryGetGlobal);
	return variable(dptr, bytes, library, name);
}

CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes,
			     CUlibrary library, const char *name)
{
	ENTER(cuLibraryGetManaged);
	return variable(dptr, bytes, library, name);
}

static bool is_kernel(const void *value)
{
	for (int i = 0; i < 4; i++)
		for (const char *const *n = scripted_images[i].names; n && *n;
		     n++)
			if ((const void *)n == value)
				return true;
	return false;
}

CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
	ENTER(cuKernelGetFunction);
	if (!is_kernel(kernel))
		return CUDA_ERROR_INVALID_HANDLE;
	*pFunc = (CUfunction)(void *)kernel;
	return CUDA_SUCCESS;
}

static CUresult launch(const struct scripted_launch *l, CUfunction f)
{
	if (alive())
		return alive();
	if (!is_kernel(f))
		return CUDA_ERROR_INVALID_HANDLE;
	scripted_launch = *l;
	scripted_launch.kernel = *(const char *const *)(void *)f;
	for (int i = 0; i < 3; i++)
		if (!l->grid[i] || !l->block[i])
			return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

#define LAUNCH(symbol, own)                                                    \
	CUresult symbol(CUfunction f, unsigned int gx, unsigned int gy,        \
			unsigned int gz, unsigned int bx, unsigned int by,     \
			unsigned int bz, unsigned int shared, CUstream stream, \
			void **args, void **extra)                             \
	{                                                                      \
		struct scripted_launch l = {                                   \
		    .grid = {gx, gy, gz},                                      \
		    .block = {bx, by, bz},                                     \
		    .shared = shared,                                          \
		    .stream = stream,                                          \
		    .args = args,                                              \
		    .per_thread = (own),                                       \
		};                                                             \
		(void)extra;                                                   \
		ENTER(symbol);                                                 \
		return launch(&l, f);                                          \
	}
LAUNCH(cuLaunchKernel, false)
LAUNCH(cuLaunchKernel_ptsz, true)

#define LAUNCH_EX(symbol, own)                                                 \
	CUresult symbol(const CUlaunchConfig *c, CUfunction f, void **args,    \
			void **extra)                                          \
	{                                                                      \
		struct scripted_launch l = {                                   \
		    .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},           \
		    .block = {c->blockDimX, c->blockDimY, c->blockDimZ},       \
		    .shared = c->sharedMemBytes,                               \
		    .stream = c->hStream,                                      \
		    .args = args,                                              \
		    .per_thread = (own),                                       \
		    .attributes = c->numAttrs,                                 \
		};                                                             \
		(void)extra;                                                   \
		ENTER(symbol);                                                 \
		if (c->numAttrs)                                               \
			l.first = c->attrs[0];                                 \
		return launch(&l, f);                                          \
	}
LAUNCH_EX(cuLaunchKernelEx, false)
LAUNCH_EX(cuLaunchKernelEx_ptsz, true)

#define LAUNCH_COOPERATIVE(symbol, own)                                        \
	CUresult symbol(CUfunction f, unsigned int gx, unsigned int gy,        \
			unsigned int gz, unsigned int bx, unsigned int by,     \
			unsigned int bz, unsigned int shared, CUstream stream, \
			void **args)                                           \
	{                                                                      \
		struct scripted_launch l = {                                   \
		    .grid = {gx, gy, gz},                                      \
		    .block = {bx, by, bz},                                     \
		    .shared = shared,                                          \
		    .stream = stream,                                          \
		    .args = args,                                              \
		    .per_thread = (own),                                       \
		    .cooperative = true,                                       \
		};                                                             \
		ENTER(symbol);                                                 \
		return launch(&l, f);                                          \
	}
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, false)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

/* Each attribute is 100 times its number. */
CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib,
			    CUfunction hfunc)
{
	(void)hfunc;
	ENTER(cuFuncGetAttribute);
	*pi = 100 * (int)attrib;
	return CUDA_SUCCESS;
}

static void note_box(const CUDA_MEMCPY3D *box)
{
	scripted_boxes[scripted_box_count++ % 8] = *box;
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
	ENTER(cuMemcpy3D_v2);
	note_box(pCopy);
	return CUDA_SUCCESS;
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
	(void)hStream;
	ENTER(cuMemcpy3DAsync_v2);
	note_box(pCopy);
	return CUDA_SUCCESS;
}

/* Arrays are 10 x 7 pairs of 16 bits. */
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor,
				   CUarray hArray)
{
	(void)hArray;
	ENTER(cuArray3DGetDescriptor_v2);
	*pArrayDescriptor = (CUDA_ARRAY3D_DESCRIPTOR){
	    .Width = 10,
	    .Height = 7,
	    .Format = CU_AD_FORMAT_SIGNED_INT16,
	    .NumChannels = 2,
	    .Flags = CUDA_ARRAY3D_SURFACE_LDST,
	};
	return CUDA_SUCCESS;
}

static void refused_for(enum gpukit_library library, const char *symbol,
			const char *why)
{
	if (library == GPUKIT_CUDART)
		strncpy(refused_name, symbol, sizeof refused_name - 1);
	refused_reason = why;
}

static void refused(enum gpukit_library library, const char *symbol)
{
	refused_for(library, symbol, NULL);
}

const char *scripted_refused(void)
{
	return refused_name;
}

const char *scripted_reason(void)
{
	return refused_reason;
}

CUresult cuGetExportTable(const void **ppExportTable,
			  const CUuuid *pExportTableId)
{
	static struct gpukit_table table = {.refused = refused,
					    .refused_for = refused_for};

	ENTER(cuGetExportTable);
	table.size = scripted_table_size;
	if (!table.size ||
	    memcmp(pExportTableId->bytes, GPUKIT_TABLE_UUID, 16) != 0)
		return CUDA_ERROR_INVALID_VALUE;
	*ppExportTable = &table;
	return CUDA_SUCCESS;
}

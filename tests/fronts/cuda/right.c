/* SPDX-License-Identifier: Apache-2.0 */
/* right.c - makes correct arguments for CUDA; see right.h. */
#include "fronts/cuda/right_things.h"
#include "fronts/cuda/right_graph.h"

#include <sys/mman.h>

static const char ptx[] = RIGHT_PTX;

struct right_things things;

static const struct {
	const char *type;
	const void *thing;
} handles[] = {
    {"CUcontext", &things.ctx},
    {"CUstream", &things.stream},
    {"CUevent", &things.event},
    {"CUmodule", &things.module},
    {"CUfunction", &things.function},
    {"CUlibrary", &things.library},
    {"CUkernel", &things.kernel},
    {"CUarray", &things.array},
    {"CUmipmappedArray", &things.mipmap},
    {"CUmemoryPool", &things.pool},
    {"CUlinkState", &things.link},
    {"CUmemGenericAllocationHandle", &things.physical},
    {"CUgreenCtx", &things.green},
    {"CUlogsCallbackHandle", &things.logs},
    {"CUdevResourceDesc", &things.desc},
    {"CUasyncCallbackHandle", &things.notice},
};

/* Texts by the name of the parameter. */
static const struct {
	const char *name, *text;
} texts[] = {
    {"pciBusId", things.bus},  {"fname", things.path},
    {"fileName", things.path}, {"name", "every"},
    {"symbol", "cuInit"},      {"pathToFile", "/dev/null"},
};

/* The value of a parameter by name, in functions that begin with `symbol`. */
static const struct {
	const char *symbol, *name;
	const void *value;
	size_t size;
} specials[] = {
#define SPECIAL(symbol, name, thing)                                           \
	{                                                                      \
		symbol, name, &things.thing, sizeof things.thing               \
	}
    SPECIAL("", "peerContext", peer),
    SPECIAL("", "peerDevice", second),
    SPECIAL("cuDeviceGetP2P", "dstDevice", second),
    SPECIAL("cuCtxCreate_v3", "paramsArray", nothing),
    SPECIAL("cuCtxCreate_v3", "numParams", nothing),
    SPECIAL("cuMemFreeHost", "p", host),
    SPECIAL("cuMemHostGet", "p", host),
    SPECIAL("cuMemHostUnregister", "p", registered),
    SPECIAL("cuMemPoolDestroy", "pool", made_pool),
    SPECIAL("cuMemAdvise", "devPtr", managed),
    SPECIAL("cuMemPrefetch", "devPtr", managed),
    SPECIAL("cuMemRangeGet", "devPtr", managed),
    SPECIAL("cuMemRangeGetAttribute", "dataSize", four),
    SPECIAL("cuStreamAttach", "dptr", managed),
    SPECIAL("cuStreamAttach", "length", nothing),
    SPECIAL("cuStreamAttach", "flags", global),
    SPECIAL("cuPointerSetAttribute", "attribute", sync),
    SPECIAL("cuMipmappedArrayGetLevel", "level", nothing),
    SPECIAL("cuFuncGetParamInfo", "paramIndex", nothing),
    SPECIAL("cuKernelGetParamInfo", "paramIndex", nothing),
    SPECIAL("cuFuncSetAttribute", "attrib", shared_bytes),
    SPECIAL("cuKernelSetAttribute", "attrib", shared_bytes),
    SPECIAL("cuLaunch", "extra", nothing),
    SPECIAL("cuLinkAdd", "size", code_size),
    SPECIAL("cuLinkAdd", "numOptions", nothing),
    SPECIAL("cuLinkAddFile", "path", file),
    SPECIAL("cuGreenCtxStreamCreate", "flags", alone),
    SPECIAL("cuGreenCtxRecordEvent", "hEvent", primary_event),
    SPECIAL("cuLaunchHostFunc_v2", "syncMode", nothing),
    SPECIAL("cuModuleGetGlobal", "name", thing),
    SPECIAL("cuLibraryGetGlobal", "name", thing),
    SPECIAL("cuLibraryGetManaged", "name", shared),
    SPECIAL("cuMemAddressReserve", "size", step),
    SPECIAL("cuMemAddressFree", "ptr", reserved),
    SPECIAL("cuMemAddressFree", "size", step),
    SPECIAL("cuMemCreate", "size", step),
    SPECIAL("cuMemMap", "ptr", reserved),
    SPECIAL("cuMemMap", "size", step),
    SPECIAL("cuMemMap", "offset", nothing),
    SPECIAL("cuMemUnmap", "ptr", mapped),
    SPECIAL("cuMemUnmap", "size", step),
    SPECIAL("cuMemSetAccess", "ptr", mapped),
    SPECIAL("cuMemSetAccess", "size", step),
    SPECIAL("cuMemGetAccess", "ptr", mapped),
    SPECIAL("cuMemRetain", "addr", mapped),
    SPECIAL("cuIpcGetEventHandle", "event", shared_event),
    SPECIAL("cuMemImport", "osHandle", descriptor),
    SPECIAL("cuMemPoolExport", "pool", shared_pool),
    SPECIAL("cuMemPoolExport", "ptr", pooled),
    SPECIAL("cuMemPoolImport", "handle", pool_descriptor),
#undef SPECIAL
};

static void enable_peer(void)
{
	CU(cuCtxEnablePeerAccess)(things.peer, 0);
}

static void add_code(void)
{
	CU(cuLinkAddData_v2)
	(things.link, CU_JIT_INPUT_PTX, things.code, sizeof ptx, "every", 0,
	 NULL, NULL);
}

/* As functions were launched before CUDA 4.0. */
static void shape_blocks(void)
{
	CU(cuFuncSetBlockShape)(things.function, 1, 1, 1);
	CU(cuParamSetSize)(things.function, sizeof(uint64_t));
}

static void retain_primary(void)
{
	CUcontext ctx;

	CU(cuDevicePrimaryCtxRetain)(&ctx, 0);
}

/* Calls that must be made first. */
static const struct {
	const char *symbol;
	void (*prepare)(void);
} preparations[] = {
    {"cuCtxDisablePeerAccess", enable_peer},
    {"cuLinkComplete", add_code},
    {"cuLaunch", shape_blocks},
    {"cuLaunchGrid", shape_blocks},
    {"cuLaunchGridAsync", shape_blocks},
    {"cuDevicePrimaryCtxRelease", retain_primary},
    {"cuDevicePrimaryCtxRelease_v2", retain_primary},
};

unsigned char *right_buffer(void)
{
	static unsigned char *buffers;
	static unsigned used;

	if (!buffers)
		buffers =
		    mmap(NULL, ARGS_MAX * RIGHT_BUFFER, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memset(buffers + used++ % ARGS_MAX * RIGHT_BUFFER, 0,
		      RIGHT_BUFFER);
}

const CUmemAllocationProp right_on_device = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static void make_mapped(void)
{
	things.step = 2 << 20;
	CU(cuMemCreate)(&things.physical, things.step, &right_on_device, 0);
	CU(cuMemAddressReserve)(&things.reserved, things.step, 0, 0, 0);
	CU(cuMemAddressReserve)(&things.mapped, things.step, 0, 0, 0);
	CU(cuMemMap)(things.mapped, things.step, 0, things.physical, 0);
	CU(cuMemExportToShareableHandle)
	(&things.descriptor, things.physical,
	 right_on_device.requestedHandleTypes, 0);
}

/* A green context with eight SMs of the first device. */
static void make_green(void)
{
	CUdevResource all;
	CUcontext primary;
	unsigned one = 1;

	CU(cuDevicePrimaryCtxRetain)(&primary, 0);
	CU(cuCtxPushCurrent_v2)(primary);
	CU(cuEventCreate)(&things.primary_event, CU_EVENT_DEFAULT);
	CU(cuCtxPopCurrent_v2)(NULL);
	CU(cuDeviceGetDevResource)(0, &all, CU_DEV_RESOURCE_TYPE_SM);
	CU(cuDevSmResourceSplitByCount)(&things.sms, &one, &all, NULL, 0, 8);
	CU(cuDevResourceGenerateDesc)(&things.desc, &things.sms, 1);
	CU(cuGreenCtxCreate)(&things.green, things.desc, 0, 0);
	things.sms = all;
}

static void make_shared_pool(void)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				.handleTypes =
				    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
				.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

	CU(cuMemPoolCreate)(&things.shared_pool, &props);
	CU(cuMemPoolExportToShareableHandle)
	(&things.pool_descriptor, things.shared_pool, props.handleTypes, 0);
	CU(cuMemAllocFromPoolAsync)
	(&things.pooled, 4096, things.shared_pool, NULL);
}

void right_make(void)
{
	CUDA_ARRAY_DESCRIPTOR plane = {64, 64, CU_AD_FORMAT_FLOAT, 1};
	CUDA_ARRAY3D_DESCRIPTOR levels = {.Width = 64,
					  .Height = 64,
					  .Format = CU_AD_FORMAT_FLOAT,
					  .NumChannels = 1};

	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

	things.second = 1;
	things.alone = CU_STREAM_NON_BLOCKING;
	things.four = 4;
	things.global = CU_MEM_ATTACH_GLOBAL;
	things.shared_bytes = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
	memcpy(things.code, ptx, sizeof ptx);
	things.thing = "thing";
	things.file = things.path;
	things.code_size = sizeof ptx;
	things.shared = "shared";
	things.sync = CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
	CU(cuCtxCreate_v2)(&things.peer, 0, things.second);
	CU(cuCtxCreate_v2)(&things.ctx, 0, 0);
	CU(cuStreamCreate)(&things.stream, CU_STREAM_NON_BLOCKING);
	CU(cuEventCreate)(&things.event, CU_EVENT_DEFAULT);
	CU(cuEventRecord)(things.event, things.stream);
	CU(cuEventCreate)
	(&things.shared_event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
	CU(cuMemAlloc_v2)(&things.memory, 1 << 20);
	CU(cuModuleLoadData)(&things.module, ptx);
	CU(cuModuleGetFunction)(&things.function, things.module, "every");
	CU(cuLibraryLoadData)
	(&things.library, ptx, NULL, NULL, 0, NULL, NULL, 0);
	CU(cuLibraryGetKernel)(&things.kernel, things.library, "every");
	CU(cuLinkCreate_v2)(0, NULL, NULL, &things.link);
	CU(cuArrayCreate_v2)(&things.array, &plane);
	CU(cuMipmappedArrayCreate)(&things.mipmap, &levels, 2);
	CU(cuDeviceGetDefaultMemPool)(&things.pool, 0);
	CU(cuMemPoolCreate)(&things.made_pool, &props);
	CU(cuMemAllocManaged)(&things.managed, 1 << 16, CU_MEM_ATTACH_GLOBAL);
	make_mapped();
	make_shared_pool();
	things.registered = right_buffer();
	CU(cuMemHostRegister_v2)(things.registered, 4096, 0);
	CU(cuMemHostAlloc)(&things.host, 4096, 0);
	CU(cuDeviceGetPCIBusId)(things.bus, sizeof things.bus, 0);
	make_green();
	CU(cuDeviceRegisterAsyncNotification)
	(0, (CUasyncCallback)(void *)right_callback, NULL, &things.notice);
	CU(cuLogsRegisterCallback)
	((CUlogsCallback)(void *)right_callback, NULL, &things.logs);
	right_graph_make(cuda_library, things.ctx, things.stream, things.event,
			 things.function, things.memory);
}

void right_callback(void)
{
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static uint64_t right_number(const struct arg *a)
{
	if (strstr(a->name, "lags") || !strcmp(a->name, "ordinal") ||
	    starts(a->name, "sharedMem") || strstr(a->name, "Offset"))
		return 0;
	if (!strcmp(a->name, "cudaVersion"))
		return CUDA_VERSION;
	if (starts(a->type, "CU") || strstr(a->name, "ount") ||
	    starts(a->name, "num") || starts(a->name, "nb") ||
	    starts(a->name, "gridDim") || starts(a->name, "blockDim"))
		return 1;
	return 16;
}

static uint64_t right_handle(const struct arg *a)
{
	for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
		if (!strcmp(handles[i].type, a->type))
			return *(const uint64_t *)handles[i].thing;
	return 0;
}

static const char *right_text(const struct arg *a)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (!strcmp(texts[i].name, a->name))
			return texts[i].text;
	return "every";
}

static bool is_special(const char *symbol, const struct arg *a,
		       uint64_t *ret_value)
{
	for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
		if (strcmp(specials[i].name, a->name) ||
		    !starts(symbol, specials[i].symbol))
			continue;
		*ret_value = 0;
		memcpy(ret_value, specials[i].value, specials[i].size);
		return true;
	}
	return false;
}

uint64_t right_value(const char *symbol, const struct arg *a)
{
	uint64_t value;

	if (right_graph_value(symbol, a, &value))
		return value;
	if (is_special(symbol, a, &value))
		return value;
	switch (a->kind) {
	case ARG_NUMBER:
		return right_number(a);
	case ARG_HANDLE:
		return right_handle(a);
	case ARG_ADDRESS:
		return things.memory + (starts(a->name, "src") ? 4096 : 0);
	case ARG_TEXT:
		return (uintptr_t)right_text(a);
	case ARG_POINTER:
		return right_pointer(a);
	case ARG_CALLBACK:
		return (uintptr_t)right_callback;
	case ARG_DEVICE:
	default:
		return 0;
	}
}

void right_before(const char *symbol)
{
	for (size_t i = 0; i < sizeof preparations / sizeof *preparations; i++)
		if (!strcmp(preparations[i].symbol, symbol))
			preparations[i].prepare();
	right_graph_before(symbol);
}

void right_prepare(void *library, const char *directory)
{
	FILE *file;

	cuda_library = library;
	snprintf(things.path, sizeof things.path, "%s/every.ptx", directory);
	file = fopen(things.path, "w");
	assert_non_null(file);
	fputs(ptx, file);
	fclose(file);
}

void right_end(void)
{
	unlink(things.path);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_test.c - checks which driver function each runtime function ends in, and
 * that its results come back: one row each. Of twins, the one for per-thread
 * default streams ends in the driver's twin.
 */
#include "fronts/cudart/cudart_test.h"

#define PTR    ((void *)(uintptr_t)0x1000)
#define OUT    ((void **)&out)
#define NUMBER (&number)
#define SIZE   (&size)
#define STREAM ((cudaStream_t)(uintptr_t)0x5000)
#define EVENT  ((cudaEvent_t)(uintptr_t)0x6000)
#define ARRAY  ((cudaArray_t)(uintptr_t)0x7000)
#define POOL   ((cudaMemPool_t)(uintptr_t)0x8000)
#define HOST   ((void *)buffer)

static char buffer[256];
static void *out;
static int number;
static unsigned word;
static size_t size;
static float ms;
static struct cudaPointerAttributes attributes;
static struct cudaMemPoolProps props;
static struct cudaMemPoolPtrExportData pointer;
static cudaIpcMemHandle_t memory;
static cudaIpcEventHandle_t moment;
static struct cudaMemLocation where = {.type = cudaMemLocationTypeDevice};
static struct cudaMemAccessDesc grant;
static cudaLaunchAttributeValue value;
static enum cudaStreamCaptureStatus capture;
static enum cudaStreamCaptureMode mode;
static struct cudaChannelFormatDesc format = {32, 0, 0, 0,
					      cudaChannelFormatKindFloat};
static struct cudaExtent extent = {4, 4, 4};
static struct cudaPitchedPtr pitched = {(void *)(uintptr_t)0x1000, 64, 4, 9};

static cudaError_t last_call;

/* Each row becomes a function, so that it can be called twice. */
#define ROWS                                                                   \
	ROW(cudaMalloc(OUT, 8), cuMemAlloc_v2)                                 \
	ROW(cudaFree(PTR), cuMemFree_v2)                                       \
	ROW(cudaMallocHost(OUT, 8), cuMemHostAlloc)                            \
	ROW(cudaHostAlloc(OUT, 8, cudaHostAllocMapped), cuMemHostAlloc)        \
	ROW(cudaFreeHost(PTR), cuMemFreeHost)                                  \
	ROW(cudaHostRegister(HOST, 8, 0), cuMemHostRegister_v2)                \
	ROW(cudaHostUnregister(HOST), cuMemHostUnregister)                     \
	ROW(cudaHostGetDevicePointer(OUT, HOST, 0),                            \
	    cuMemHostGetDevicePointer_v2)                                      \
	ROW(cudaHostGetFlags(&word, HOST), cuMemHostGetFlags)                  \
	ROW(cudaMallocManaged(OUT, 8, cudaMemAttachGlobal), cuMemAllocManaged) \
	ROW(cudaMallocPitch(OUT, SIZE, 9, 9), cuMemAllocPitch_v2)              \
	ROW(cudaMallocArray((cudaArray_t *)OUT, &format, 4, 4, 0),             \
	    cuArray3DCreate_v2)                                                \
	ROW(cudaMalloc3DArray((cudaArray_t *)OUT, &format, extent, 0),         \
	    cuArray3DCreate_v2)                                                \
	ROW(cudaMallocMipmappedArray((cudaMipmappedArray_t *)OUT, &format,     \
				     extent, 1, 0),                            \
	    cuMipmappedArrayCreate)                                            \
	ROW(cudaFreeArray(ARRAY), cuArrayDestroy)                              \
	ROW(cudaFreeMipmappedArray((cudaMipmappedArray_t)PTR),                 \
	    cuMipmappedArrayDestroy)                                           \
	ROW(cudaGetMipmappedArrayLevel((cudaArray_t *)OUT,                     \
				       (cudaMipmappedArray_t)PTR, 0),          \
	    cuMipmappedArrayGetLevel)                                          \
	ROW(cudaMemGetInfo(SIZE, SIZE), cuMemGetInfo_v2)                       \
	ROW(cudaPointerGetAttributes(&attributes, PTR),                        \
	    cuPointerGetAttributes)                                            \
	ROW(cudaMemcpy(PTR, HOST, 1, cudaMemcpyHostToDevice), cuMemcpyHtoD_v2) \
	ROW(cudaMemcpy(HOST, PTR, 1, cudaMemcpyDeviceToHost), cuMemcpyDtoH_v2) \
	ROW(cudaMemcpy(PTR, PTR, 1, cudaMemcpyDeviceToDevice),                 \
	    cuMemcpyDtoD_v2)                                                   \
	ROW(cudaMemcpy(HOST, HOST, 1, cudaMemcpyHostToHost), cuMemcpy)         \
	ROW(cudaMemcpy(PTR, HOST, 1, cudaMemcpyDefault), cuMemcpy)             \
	ROW(cudaMemcpy_ptds(PTR, HOST, 1, cudaMemcpyHostToDevice),             \
	    cuMemcpyHtoD_v2_ptds)                                              \
	ROW(cudaMemcpyAsync(PTR, HOST, 1, cudaMemcpyHostToDevice, STREAM),     \
	    cuMemcpyHtoDAsync_v2)                                              \
	ROW(cudaMemcpyAsync(HOST, PTR, 1, cudaMemcpyDeviceToHost, STREAM),     \
	    cuMemcpyDtoHAsync_v2)                                              \
	ROW(cudaMemcpyAsync(PTR, PTR, 1, cudaMemcpyDeviceToDevice, STREAM),    \
	    cuMemcpyDtoDAsync_v2)                                              \
	ROW(cudaMemcpyAsync(PTR, PTR, 1, cudaMemcpyDefault, STREAM),           \
	    cuMemcpyAsync)                                                     \
	ROW(cudaMemcpyAsync_ptsz(PTR, PTR, 1, cudaMemcpyDefault, NULL),        \
	    cuMemcpyAsync_ptsz)                                                \
	ROW(cudaMemcpyPeer(PTR, 0, PTR, 1, 1), cuMemcpyPeer)                   \
	ROW(cudaMemcpyPeerAsync(PTR, 0, PTR, 1, 1, STREAM), cuMemcpyPeerAsync) \
	ROW(cudaMemset(PTR, 1, 1), cuMemsetD8_v2)                              \
	ROW(cudaMemset_ptds(PTR, 1, 1), cuMemsetD8_v2_ptds)                    \
	ROW(cudaMemsetAsync(PTR, 1, 1, STREAM), cuMemsetD8Async)               \
	ROW(cudaMemset2D(PTR, 8, 1, 8, 2), cuMemsetD2D8_v2)                    \
	ROW(cudaMemset2DAsync(PTR, 8, 1, 8, 2, STREAM), cuMemsetD2D8Async)     \
	ROW(cudaMemset3D(pitched, 1, extent), cuMemsetD2D8_v2)                 \
	ROW(cudaMemset3DAsync_ptsz(pitched, 1, extent, NULL),                  \
	    cuMemsetD2D8Async_ptsz)                                            \
	ROW(cudaMallocAsync(OUT, 8, STREAM), cuMemAllocAsync)                  \
	ROW(cudaMallocAsync_ptsz(OUT, 8, NULL), cuMemAllocAsync_ptsz)          \
	ROW(cudaFreeAsync(PTR, STREAM), cuMemFreeAsync)                        \
	ROW(cudaMallocFromPoolAsync(OUT, 8, POOL, STREAM),                     \
	    cuMemAllocFromPoolAsync)                                           \
	ROW(cudaMemPoolCreate((cudaMemPool_t *)OUT, &props), cuMemPoolCreate)  \
	ROW(cudaMemPoolDestroy(POOL), cuMemPoolDestroy)                        \
	ROW(cudaMemPoolTrimTo(POOL, 0), cuMemPoolTrimTo)                       \
	ROW(cudaMemPoolExportToShareableHandle(OUT, POOL, 1, 0),               \
	    cuMemPoolExportToShareableHandle)                                  \
	ROW(cudaMemPoolImportFromShareableHandle((cudaMemPool_t *)OUT, OUT, 1, \
						 0),                           \
	    cuMemPoolImportFromShareableHandle)                                \
	ROW(cudaMemPoolExportPointer(&pointer, PTR), cuMemPoolExportPointer)   \
	ROW(cudaMemPoolImportPointer(OUT, POOL, &pointer),                     \
	    cuMemPoolImportPointer)                                            \
	ROW(cudaIpcGetMemHandle(&memory, PTR), cuIpcGetMemHandle)              \
	ROW(cudaIpcOpenMemHandle(OUT, memory, 1), cuIpcOpenMemHandle_v2)       \
	ROW(cudaIpcCloseMemHandle(PTR), cuIpcCloseMemHandle)                   \
	ROW(cudaIpcGetEventHandle(&moment, EVENT), cuIpcGetEventHandle)        \
	ROW(cudaIpcOpenEventHandle((cudaEvent_t *)OUT, moment),                \
	    cuIpcOpenEventHandle)                                              \
	ROW(cudaMemPoolSetAccess(POOL, &grant, 1), cuMemPoolSetAccess)         \
	ROW(cudaMemPoolGetAttribute(POOL, cudaMemPoolAttrReleaseThreshold,     \
				    &size),                                    \
	    cuMemPoolGetAttribute)                                             \
	ROW(cudaDeviceGetDefaultMemPool((cudaMemPool_t *)OUT, 0),              \
	    cuDeviceGetDefaultMemPool)                                         \
	ROW(cudaDeviceSetMemPool(0, POOL), cuDeviceSetMemPool)                 \
	ROW(cudaStreamCreate((cudaStream_t *)OUT), cuStreamCreate)             \
	ROW(cudaStreamCreateWithPriority((cudaStream_t *)OUT, 1, -1),          \
	    cuStreamCreateWithPriority)                                        \
	ROW(cudaStreamDestroy(STREAM), cuStreamDestroy_v2)                     \
	ROW(cudaStreamQuery(STREAM), cuStreamQuery)                            \
	ROW(cudaStreamQuery_ptsz(NULL), cuStreamQuery_ptsz)                    \
	ROW(cudaStreamSynchronize(STREAM), cuStreamSynchronize)                \
	ROW(cudaStreamSynchronize_ptsz(NULL), cuStreamSynchronize_ptsz)        \
	ROW(cudaStreamWaitEvent(STREAM, EVENT, 0), cuStreamWaitEvent)          \
	ROW(cudaStreamGetPriority(STREAM, NUMBER), cuStreamGetPriority)        \
	ROW(cudaStreamGetFlags(STREAM, &word), cuStreamGetFlags)               \
	ROW(cudaStreamAddCallback(STREAM, NULL, NULL, 0), cuStreamAddCallback) \
	ROW(cudaStreamAttachMemAsync(STREAM, PTR, 0, 4),                       \
	    cuStreamAttachMemAsync)                                            \
	ROW(cudaStreamGetAttribute(                                            \
		STREAM, cudaLaunchAttributeSynchronizationPolicy, &value),     \
	    cuStreamGetAttribute)                                              \
	ROW(cudaLaunchHostFunc(STREAM, NULL, NULL), cuLaunchHostFunc)          \
	ROW(cudaLaunchHostFunc_ptsz(NULL, NULL, NULL), cuLaunchHostFunc_ptsz)  \
	ROW(cudaDeviceGetStreamPriorityRange(NUMBER, NUMBER),                  \
	    cuCtxGetStreamPriorityRange)                                       \
	ROW(cudaEventCreate((cudaEvent_t *)OUT), cuEventCreate)                \
	ROW(cudaEventCreateWithFlags((cudaEvent_t *)OUT, 2), cuEventCreate)    \
	ROW(cudaEventDestroy(EVENT), cuEventDestroy_v2)                        \
	ROW(cudaEventRecord(EVENT, STREAM), cuEventRecord)                     \
	ROW(cudaEventRecord_ptsz(EVENT, NULL), cuEventRecord_ptsz)             \
	ROW(cudaEventQuery(EVENT), cuEventQuery)                               \
	ROW(cudaEventSynchronize(EVENT), cuEventSynchronize)                   \
	ROW(cudaEventElapsedTime(&ms, EVENT, EVENT), cuEventElapsedTime)       \
	ROW(cudaDeviceSynchronize(), cuCtxSynchronize)                         \
	ROW(cudaDeviceGetLimit(SIZE, cudaLimitStackSize), cuCtxGetLimit)       \
	ROW(cudaDeviceSetLimit(cudaLimitStackSize, 1), cuCtxSetLimit)          \
	ROW(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1),                   \
	    cuCtxSetCacheConfig)                                               \
	ROW(cudaDeviceCanAccessPeer(NUMBER, 0, 1), cuDeviceCanAccessPeer)      \
	ROW(cudaDeviceEnablePeerAccess(1, 0), cuCtxEnablePeerAccess)           \
	ROW(cudaDeviceDisablePeerAccess(1), cuCtxDisablePeerAccess)            \
	ROW(cudaDeviceGetPCIBusId(buffer, 20, 0), cuDeviceGetPCIBusId)         \
	ROW(cudaDeviceGetByPCIBusId(NUMBER, "0000:01:00.0"),                   \
	    cuDeviceGetByPCIBusId)                                             \
	ROW(cudaDeviceGetP2PAttribute(NUMBER, cudaDevP2PAttrAccessSupported,   \
				      0, 1),                                   \
	    cuDeviceGetP2PAttribute)                                           \
	ROW(cudaMemRangeGetAttribute(NUMBER, 4,                                \
				     cudaMemRangeAttributeReadMostly, PTR, 8), \
	    cuMemRangeGetAttribute)                                            \
	ROW(cudaProfilerStart(), cuProfilerStart)                              \
	ROW(cudaLibraryLoadData((cudaLibrary_t *)OUT, PTR, NULL, NULL, 0,      \
				NULL, NULL, 0),                                \
	    cuLibraryLoadData)                                                 \
	ROW(cudaLibraryUnload((cudaLibrary_t)&scripted_images[0]),             \
	    cuLibraryUnload)                                                   \
	ROW(cudaStreamIsCapturing(STREAM, &capture), cuStreamIsCapturing)      \
	ROW(cudaThreadExchangeStreamCaptureMode(&mode),                        \
	    cuThreadExchangeStreamCaptureMode)                                 \
	ROWS_OF_MAJOR

#define RESOURCE  ((cudaDevResource *)PTR)
#define EXECUTION ((cudaExecutionContext_t)PTR)

#if CUDART_MAJOR == 12
#define ROWS_OF_MAJOR                                                          \
	ROW(cudaEventElapsedTime_v2(&ms, EVENT, EVENT), cuEventElapsedTime_v2) \
	ROW(cudaMemAdvise(PTR, 8, cudaMemAdviseSetReadMostly, 0), cuMemAdvise) \
	ROW(cudaMemAdvise_v2(PTR, 8, cudaMemAdviseSetReadMostly, where),       \
	    cuMemAdvise_v2)                                                    \
	ROW(cudaMemPrefetchAsync(PTR, 8, 0, STREAM), cuMemPrefetchAsync)       \
	ROW(cudaMemPrefetchAsync_v2_ptsz(PTR, 8, where, 0, NULL),              \
	    cuMemPrefetchAsync_v2_ptsz)                                        \
	ROW(cudaStreamGetCaptureInfo(STREAM, &capture, NULL),                  \
	    cuStreamGetCaptureInfo)                                            \
	ROW(cudaStreamGetCaptureInfo_v3_ptsz(STREAM, &capture, NULL, NULL,     \
					     NULL, NULL, NULL),                \
	    cuStreamGetCaptureInfo_v3_ptsz)                                    \
	ROW(cudaMemcpyBatchAsync(OUT, OUT, SIZE, 1, NULL, NULL, 0, NULL,       \
				 STREAM),                                      \
	    cuMemcpyBatchAsync)                                                \
	ROW(cudaMemcpy3DBatchAsync(1, (struct cudaMemcpy3DBatchOp *)OUT, NULL, \
				   0, STREAM),                                 \
	    cuMemcpy3DBatchAsync)                                              \
	ROW(cudaThreadSynchronize(), cuCtxSynchronize)
#else
#define ROWS_OF_MAJOR                                                          \
	ROW(cudaMemAdvise(PTR, 8, cudaMemAdviseSetReadMostly, where),          \
	    cuMemAdvise_v2)                                                    \
	ROW(cudaMemPrefetchAsync(PTR, 8, where, 0, STREAM),                    \
	    cuMemPrefetchAsync_v2)                                             \
	ROW(cudaMemPrefetchAsync_ptsz(PTR, 8, where, 0, NULL),                 \
	    cuMemPrefetchAsync_v2_ptsz)                                        \
	ROW(cudaStreamGetCaptureInfo(STREAM, &capture, NULL, NULL, NULL, NULL, \
				     NULL),                                    \
	    cuStreamGetCaptureInfo_v3)                                         \
	ROW(cudaMemPrefetchBatchAsync(OUT, SIZE, 1, &where, SIZE, 1, 0,        \
				      STREAM),                                 \
	    cuMemPrefetchBatchAsync)                                           \
	ROW(cudaMemcpy3DBatchAsync_ptsz(1, (struct cudaMemcpy3DBatchOp *)OUT,  \
					0, STREAM),                            \
	    cuMemcpy3DBatchAsync_v2_ptsz)                                      \
	ROW(cudaMemDiscardBatchAsync_ptsz(OUT, SIZE, 1, 0, NULL),              \
	    cuMemDiscardBatchAsync_ptsz)                                       \
	ROW(cudaMemGetDefaultMemPool((cudaMemPool_t *)OUT, &where,             \
				     cudaMemAllocationTypePinned),             \
	    cuMemGetDefaultMemPool)                                            \
	ROW(cudaDeviceGetDevResource(0, RESOURCE, cudaDevResourceTypeSm),      \
	    cuDeviceGetDevResource)                                            \
	ROW(cudaDevSmResourceSplitByCount(RESOURCE, &word, RESOURCE, NULL, 0,  \
					  8),                                  \
	    cuDevSmResourceSplitByCount)                                       \
	ROW(cudaDevSmResourceSplit(RESOURCE, 1, RESOURCE, NULL, 0,             \
				   (cudaDevSmResourceGroupParams *)PTR),       \
	    cuDevSmResourceSplit)                                              \
	ROW(cudaDevResourceGenerateDesc((cudaDevResourceDesc_t *)OUT,          \
					RESOURCE, 1),                          \
	    cuDevResourceGenerateDesc)                                         \
	ROW(cudaGreenCtxCreate((cudaExecutionContext_t *)OUT,                  \
			       (cudaDevResourceDesc_t)PTR, 0, 0),              \
	    cuGreenCtxCreate)                                                  \
	ROW(cudaExecutionCtxDestroy(EXECUTION), cuGreenCtxDestroy)             \
	ROW(cudaExecutionCtxGetDevice(NUMBER, EXECUTION), cuCtxGetDevice_v2)   \
	ROW(cudaExecutionCtxGetId(EXECUTION, (unsigned long long *)OUT),       \
	    cuCtxGetId)                                                        \
	ROW(cudaExecutionCtxGetDevResource(EXECUTION, RESOURCE,                \
					   cudaDevResourceTypeSm),             \
	    cuCtxGetDevResource)                                               \
	ROW(cudaExecutionCtxRecordEvent(EXECUTION, EVENT), cuCtxRecordEvent)   \
	ROW(cudaExecutionCtxWaitEvent(EXECUTION, EVENT), cuCtxWaitEvent)       \
	ROW(cudaExecutionCtxSynchronize(EXECUTION), cuCtxSynchronize_v2)       \
	ROW(cudaExecutionCtxStreamCreate((cudaStream_t *)OUT, EXECUTION, 1,    \
					 0),                                   \
	    cuGreenCtxStreamCreate)                                            \
	ROW(cudaStreamGetDevResource_ptsz(NULL, RESOURCE,                      \
					  cudaDevResourceTypeSm),              \
	    cuStreamGetDevResource_ptsz)                                       \
	ROW(cudaLaunchHostFunc_v2(STREAM, NULL, NULL, 0), cuLaunchHostFunc_v2) \
	ROW(cudaMemcpyWithAttributesAsync(                                     \
		PTR, PTR, 8, (struct cudaMemcpyAttributes *)OUT, STREAM),      \
	    cuMemcpyWithAttributesAsync)                                       \
	ROW(cudaMemcpy3DWithAttributesAsync_ptsz(                              \
		(struct cudaMemcpy3DBatchOp *)OUT, 0, NULL),                   \
	    cuMemcpy3DWithAttributesAsync_ptsz)                                \
	ROW(cudaLogsCurrent(&word, 0), cuLogsCurrent)                          \
	ROW(cudaLogsDumpToFile(NULL, buffer, 0), cuLogsDumpToFile)             \
	ROW(cudaLogsDumpToMemory(NULL, buffer, SIZE, 0), cuLogsDumpToMemory)   \
	ROW(cudaLogsRegisterCallback(NULL, NULL, NULL),                        \
	    cuLogsRegisterCallback)                                            \
	ROW(cudaLogsUnregisterCallback(NULL), cuLogsUnregisterCallback)
#endif

/* Once as it is, and once with the driver refusing it. */
#define ROW(call, symbol)                                                      \
	do {                                                                   \
		scripted_forget();                                             \
		last_call = call;                                              \
		if (strcmp(scripted_last(), #symbol) != 0)                     \
			fail_msg("%s ends in %s", #call, scripted_last());     \
		scripted_answer(#symbol, CUDA_ERROR_OPERATING_SYSTEM);         \
		last_call = call;                                              \
		scripted_answer(#symbol, CUDA_SUCCESS);                        \
		if (last_call != cudaErrorOperatingSystem)                     \
			fail_msg("%s answers %d", #call, (int)last_call);      \
		assert_cuda(cudaGetLastError(), ErrorOperatingSystem);         \
	} while (0);

static void each_ends_in_its_function(void **state)
{
	(void)state;
	scripted_version = 13030; /* the newest driver */
	assert_cuda(cudaFree(NULL), Success);
	ROWS
}

/* Nothing to do is done without the driver. */
static void nothing_is_nothing(void **state)
{
	void *p = PTR;

	(void)state;
	assert_cuda(cudaMalloc(&p, 0), Success);
	assert_null(p);
	assert_cuda(cudaFree(NULL), Success);
	assert_cuda(cudaFreeHost(NULL), Success);
	assert_cuda(cudaFreeArray(NULL), Success);
	scripted_forget();
	assert_cuda(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice), Success);
	assert_string_equal(scripted_last(), "cuCtxGetDevice");
	assert_cuda(cudaMemset(NULL, 0, 0), Success);
	assert_cuda(cudaMemset2D(PTR, 8, 0, 8, 0), Success);
	assert_string_equal(scripted_last(), "cuCtxGetDevice");
}

static void wrong_arguments(void **state)
{
	struct cudaChannelFormatDesc odd = {8, 8, 8, 0,
					    cudaChannelFormatKindUnsigned};
	struct cudaChannelFormatDesc mixed = {8, 16, 0, 0,
					      cudaChannelFormatKindUnsigned};

	(void)state;
	assert_cuda(cudaMalloc(NULL, 1), ErrorInvalidValue);
	assert_cuda(cudaMemcpy(PTR, PTR, 1, (enum cudaMemcpyKind)5),
		    ErrorInvalidMemcpyDirection);
	assert_cuda(
	    cudaMemcpy2D(PTR, 7, PTR, 8, 8, 2, cudaMemcpyDeviceToDevice),
	    ErrorInvalidPitchValue);
	assert_cuda(cudaMemset2D(PTR, 7, 0, 8, 2), ErrorInvalidPitchValue);
	assert_cuda(cudaMallocArray((cudaArray_t *)OUT, &odd, 4, 4, 0),
		    ErrorInvalidChannelDescriptor);
	assert_cuda(cudaMallocArray((cudaArray_t *)OUT, &mixed, 4, 4, 0),
		    ErrorInvalidChannelDescriptor);
	assert_cuda(cudaStreamDestroy(NULL), ErrorInvalidResourceHandle);
	assert_cuda(cudaStreamDestroy(cudaStreamPerThread),
		    ErrorInvalidResourceHandle);
	assert_cuda(cudaDeviceEnablePeerAccess(0, 0), ErrorInvalidDevice);
	assert_cuda(cudaDeviceEnablePeerAccess(9, 0), ErrorInvalidDevice);
	assert_cuda(cudaGetDevice(NULL), ErrorInvalidValue);
	assert_cuda(cudaGetDeviceCount(NULL), ErrorInvalidValue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_ends_in_its_function),
	    cmocka_unit_test(nothing_is_nothing),
	    cmocka_unit_test(wrong_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

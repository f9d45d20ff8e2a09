/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front.c - a libcupti without data: it refuses all subscriptions and
 * activities and never has a record. Profilers then run without GPU events, as
 * they do when they lack the permission for them.
 */
#include "base/log.h"
#include "fronts/common/native.h"

#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define WEAK   __attribute__((weak))

enum result {
#define CUPTI_RESULT(name, value) CUPTI_##name = (value),
#include "abi/libraries/cupti_result.def"
#undef CUPTI_RESULT
};

static const struct {
	int value;
	const char *name;
} results[] = {
#define CUPTI_RESULT(name, value) {value, "CUPTI_" #name},
#include "abi/libraries/cupti_result.def"
#undef CUPTI_RESULT
};

#define RESULTS (sizeof results / sizeof *results)

/*
 * Whether CUDA is initialised. A profiler may call this library before its
 * program uses CUDA, and the program may still fork; so a refusal must not
 * initialise the driver.
 */
static bool is_initialised(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	CUresult (*current)(CUcontext * ctx) = NULL;
	CUcontext ctx;
	bool yes;

	if (!library)
		return false;
	*(void **)&current = dlsym(library, "cuCtxGetCurrent");
	yes = current && !current(&ctx);
	dlclose(library);
	return yes;
}

static enum result refuse_cupti(const char *symbol)
{
	if (is_initialised())
		native_refuse(GPUKIT_CUPTI, symbol);
	else
		gk_log(GK_LOG_WARN, "%s: refused", symbol);
	return CUPTI_ERROR_NOT_SUPPORTED;
}

/*
 * Defines a function without its real parameters: the caller passes arguments
 * in registers and on its own stack, where they are ignored. Functions that
 * refuse are weak symbols.
 */
#define ANSWER(symbol, linkage, answer)                                        \
	EXPORT linkage enum result symbol(void);                               \
	enum result symbol(void)                                               \
	{                                                                      \
		return answer;                                                 \
	}
#define IN_12_13(...) ANSWER(__VA_ARGS__)
#if FRONT_MAJOR >= 13
#define IN_12_12(...)
#define IN_13_13(...) ANSWER(__VA_ARGS__)
#else
#define IN_12_12(...) ANSWER(__VA_ARGS__)
#define IN_13_13(...)
#endif

#define CUPTI(symbol, first, last)                                             \
	IN_##first##_##last(symbol, WEAK, refuse_cupti(#symbol))
#define CUPTI_NO_TOOL(symbol, first, last) IN_##first##_##last(symbol, , 0)
#define CUPTI_TRUE(symbol)
#include "abi/libraries/cupti.def"
#undef CUPTI
#undef CUPTI_NO_TOOL
#undef CUPTI_TRUE

/* Stores a value through a pointer. False if the pointer is NULL. */
static bool store_result(int *to, int value)
{
	if (to)
		*to = value;
	return to != NULL;
}

#define RESULT_OF(stored)                                                      \
	((stored) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER)

EXPORT int InitializeInjectionNvtx(const void *get_export_table);
EXPORT int InitializeInjectionNvtx2(const void *get_export_table);
EXPORT enum result cuptiGetVersion(uint32_t *version);
EXPORT enum result cuptiGetResultString(int result, const char **str);
EXPORT enum result cuptiGetErrorMessage(int result, const char **str);
EXPORT enum result cuptiGetTimestamp(uint64_t *timestamp);
EXPORT enum result cuptiSupportedDomains(size_t *domainCount,
					 const void **domainTable);
EXPORT enum result cuptiActivityFlush(CUcontext context, uint32_t streamId,
				      uint32_t flag);
EXPORT enum result cuptiActivityFlushAll(uint32_t flag);
EXPORT enum result cuptiActivityGetNextRecord(uint8_t *buffer, size_t size,
					      void **record);
EXPORT enum result cuptiActivityGetNumDroppedRecords(CUcontext context,
						     uint32_t streamId,
						     size_t *dropped);
EXPORT enum result cuptiComputeCapabilitySupported(int major, int minor,
						   int *support);
EXPORT enum result cuptiDeviceSupported(CUdevice dev, int *support);
EXPORT enum result cuptiGetLastError(void);
EXPORT enum result cuptiFinalize(void);

/* By NVTX's contract, 0 means that there is no tool. */
int InitializeInjectionNvtx(const void *get_export_table)
{
	(void)get_export_table;
	return 0;
}

int InitializeInjectionNvtx2(const void *get_export_table)
{
	(void)get_export_table;
	return 0;
}

/* The versions that CUDA 12.8 and 13.0 contain. */
enum result cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = FRONT_MAJOR >= 13 ? 130001 : 26;
	return CUPTI_SUCCESS;
}

enum result cuptiGetResultString(int result, const char **str)
{
	for (size_t i = 0; str && i < RESULTS; i++)
		if (results[i].value == result) {
			*str = results[i].name;
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

enum result cuptiGetErrorMessage(int result, const char **str)
{
	enum result r = cuptiGetResultString(result, str);

	if (!r && result == CUPTI_ERROR_NOT_SUPPORTED)
		*str = "the made-up machine has no profiling data";
	return r;
}

enum result cuptiGetTimestamp(uint64_t *timestamp)
{
	struct timespec now;

	if (!timestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	clock_gettime(CLOCK_REALTIME, &now);
	*timestamp = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return CUPTI_SUCCESS;
}

enum result cuptiSupportedDomains(size_t *domainCount, const void **domainTable)
{
	if (!domainCount || !domainTable)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*domainCount = 0;
	*domainTable = NULL;
	return CUPTI_SUCCESS;
}

/* There are never any records to deliver. */
enum result cuptiActivityFlush(CUcontext context, uint32_t streamId,
			       uint32_t flag)
{
	(void)context, (void)streamId, (void)flag;
	return CUPTI_SUCCESS;
}

enum result cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	return CUPTI_SUCCESS;
}

enum result cuptiActivityGetNextRecord(uint8_t *buffer, size_t size,
				       void **record)
{
	(void)size;
	return buffer && record ? CUPTI_ERROR_MAX_LIMIT_REACHED
				: CUPTI_ERROR_INVALID_PARAMETER;
}

enum result cuptiActivityGetNumDroppedRecords(CUcontext context,
					      uint32_t streamId,
					      size_t *dropped)
{
	(void)context, (void)streamId;
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = 0;
	return CUPTI_SUCCESS;
}

enum result cuptiComputeCapabilitySupported(int major, int minor, int *support)
{
	(void)major, (void)minor;
	return RESULT_OF(store_result(support, 0));
}

enum result cuptiDeviceSupported(CUdevice dev, int *support)
{
	(void)dev;
	return RESULT_OF(store_result(support, 0));
}

/* There is never an error: no activity runs in the background. */
enum result cuptiGetLastError(void)
{
	return CUPTI_SUCCESS;
}

enum result cuptiFinalize(void)
{
	return CUPTI_SUCCESS;
}

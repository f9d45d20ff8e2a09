/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - the driver API for the programs of known.h. */
#ifndef LIMIT_KNOWN_DRIVER_H
#define LIMIT_KNOWN_DRIVER_H

#include "abi/cuda/cuda_abi.h"
#include "limit/known/known.h"

static inline const char *name_of(CUresult result)
{
	const char *name = NULL;

	return cuGetErrorName(result, &name) || !name ? "?" : name;
}

#define EXPECT(call, expected)                                                 \
	do {                                                                   \
		CUresult found_ = (call);                                      \
                                                                               \
		if (found_ != (expected))                                      \
			WRONG("%s: %s, not %s", #call, name_of(found_),        \
			      name_of(expected));                              \
	} while (0)

#define OK(call) EXPECT(call, CUDA_SUCCESS)

/* 1: it succeeded, 0: out of memory; any other answer is wrong. */
#define FITS(call) fits(call, #call, __FILE__, __LINE__)

static inline int fits(CUresult result, const char *call, const char *file,
		       int line)
{
	if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY)
		wrong(file, line, "%s: %s", call, name_of(result));
	return result == CUDA_SUCCESS;
}

/* Makes the primary context of the first GPU current. */
static inline void start(void)
{
	CUdevice device;
	CUcontext context;
	CUresult result = cuInit(0);

	if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_ERROR_STUB_LIBRARY)
		skip("no GPU here");
	OK(result);
	OK(cuDeviceGet(&device, 0));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
}

static inline void driver_room(size_t *ret_free, size_t *ret_total)
{
	OK(cuMemGetInfo_v2(ret_free, ret_total));
}

/* Writes its first and last words and checks that they are read back. */
static inline void check_ends(CUdeviceptr at, size_t bytes)
{
	const unsigned wrote[2] = {0x600dbeef, 0x0ddba11u};
	unsigned first = 0, last = 0;

	OK(cuMemcpyHtoD_v2(at, &wrote[0], 4));
	OK(cuMemcpyHtoD_v2(at + bytes - 4, &wrote[1], 4));
	OK(cuMemcpyDtoH_v2(&first, at, 4));
	OK(cuMemcpyDtoH_v2(&last, at + bytes - 4, 4));
	EQUAL(first, wrote[0]);
	EQUAL(last, wrote[1]);
}

static inline void check_device_memory(CUdeviceptr at, size_t bytes)
{
	unsigned last = 0;

	OK(cuMemsetD32_v2(at, 0x5eed, bytes / 4));
	OK(cuMemcpyDtoH_v2(&last, at + bytes - 4, 4));
	EQUAL(last, 0x5eed);
	check_ends(at, bytes);
}

/* Converts a number of the driver's to a pointer. */
static inline void *thing_of(CUdeviceptr at)
{
	return (void *)(uintptr_t)at;
}

static inline CUdeviceptr address_of(void *thing)
{
	return (CUdeviceptr)(uintptr_t)thing;
}

static inline void check_linear(void *thing, size_t bytes)
{
	check_device_memory(address_of(thing), bytes);
}

static inline void free_linear(void *thing)
{
	OK(cuMemFree_v2(address_of(thing)));
}

/* Page-locked memory is the host's: the GPU has as much free as before. */
static inline void check_host_memory(unsigned char *at, size_t bytes)
{
	CUdeviceptr device;

	OK(cuMemAlloc_v2(&device, bytes));
	memset(at, 0xa5, bytes);
	at[bytes - 1] = 7;
	OK(cuMemcpyHtoD_v2(device, at, bytes));
	memset(at, 0, bytes);
	OK(cuMemcpyDtoH_v2(at, device, bytes));
	EQUAL(at[0], 0xa5);
	EQUAL(at[bytes - 1], 7);
	OK(cuMemFree_v2(device));
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - counts devices, selects a thread's device, reads and sets device
 * flags, and resets devices.
 */
#include "fronts/cudart/context.h"

#include <stddef.h>

/* A flag of cudaSetDeviceFlags that is always set; the driver does not know it.
 */
#define IMPLIED cudaDeviceMapHost
#define KNOWN   (cudaDeviceMask | cudaDeviceSyncMemops)

static cudaError_t check_ordinal(int device)
{
	REQUIRE(device >= 0 && device < cudart_device_count,
		cudaErrorInvalidDevice);
	return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
	ENTER();
	REQUIRE(count, cudaErrorInvalidValue);
	*count = cudart_device_count;
	return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
	int now = 0;

	ENTER();
	REQUIRE(device, cudaErrorInvalidValue);
	TRY(cudart_current_device(&now));
	*device = now;
	return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
	CUcontext context = NULL;

	ENTER();
	TRY(cudart_primary(device, &context));
	TRY(runtime_result(legacy->cuCtxSetCurrent(context)));
	cudart_thread.chosen = true;
	cudart_thread.device = device;
	return cudaSuccess;
}

cudaError_t cudaSetValidDevices(int *device_arr, int len)
{
	ENTER();
	REQUIRE(len >= 0 && len <= cudart_device_count && (!len || device_arr),
		cudaErrorInvalidValue);
	for (int i = 0; i < len; i++)
		TRY(check_ordinal(device_arr[i]));
	return context_order(device_arr, len);
}

static cudaError_t set_device_flags(int device, unsigned int flags)
{
	unsigned int schedule = flags & cudaDeviceScheduleMask;

	REQUIRE(!(flags & ~(unsigned)KNOWN) && !(schedule & (schedule - 1)),
		cudaErrorInvalidValue);
	return runtime_result(legacy->cuDevicePrimaryCtxSetFlags_v2(
	    device, flags & ~(unsigned)IMPLIED));
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
	int device = 0;

	ENTER();
	TRY(cudart_current_device(&device));
	TRY(set_device_flags(device, flags));
	return cudart_enter_context();
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
	CUcontext now = NULL;
	unsigned int found = 0;
	int device = 0, active;

	ENTER();
	REQUIRE(flags, cudaErrorInvalidValue);
	TRY(runtime_result(legacy->cuCtxGetCurrent(&now)));
	if (now && !context_is_primary(now)) {
		TRY(runtime_result(legacy->cuCtxGetFlags(&found)));
	} else {
		TRY(cudart_current_device(&device));
		TRY(runtime_result(legacy->cuDevicePrimaryCtxGetState(
		    device, &found, &active)));
	}
	*flags = found | IMPLIED;
	return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags,
			   unsigned int flags)
{
	CUcontext context;

	ENTER();
	TRY(check_ordinal(device));
	REQUIRE(!(flags & ~(unsigned)cudaInitDeviceFlagsAreValid),
		cudaErrorInvalidValue);
	if (flags)
		TRY(set_device_flags(device, deviceFlags));
	return cudart_primary(device, &context);
}

/* Does nothing if the program created the context: then the program must
 * destroy it. */
static cudaError_t reset_current(void)
{
	CUcontext now = NULL;
	int device = 0;

	ENTER();
	TRY(runtime_result(legacy->cuCtxGetCurrent(&now)));
	if (now && !context_is_primary(now))
		return cudaSuccess;
	TRY(cudart_current_device(&device));
	TRY(runtime_result(legacy->cuDevicePrimaryCtxReset_v2(device)));
	context_forget(device);
	cudart_thread.last = cudaSuccess;
	return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
	return reset_current();
}

#if CUDART_MAJOR == 12
cudaError_t cudaThreadExit(void)
{
	return reset_current();
}

/* Nothing to convert: every device since compute capability 1.3 has doubles. */
cudaError_t cudaSetDoubleForDevice(double *d)
{
	ENTER();
	REQUIRE(d, cudaErrorInvalidValue);
	return cudaSuccess;
}

cudaError_t cudaSetDoubleForHost(double *d)
{
	ENTER();
	REQUIRE(d, cudaErrorInvalidValue);
	return cudaSuccess;
}
#endif

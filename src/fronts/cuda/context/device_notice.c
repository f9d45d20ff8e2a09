/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_notice.c - registers callbacks for device events. They are never
 * called: the only event is a process that exceeds its memory budget, and no
 * process on Linux has a budget.
 */
#include "fronts/cuda/context/front.h"

struct CUasyncCallbackEntry_st {
	CUdevice device;
};

CUresult cuDeviceRegisterAsyncNotification(CUdevice device,
					   CUasyncCallback callbackFunc,
					   void *userData,
					   CUasyncCallbackHandle *callback)
{
	CUasyncCallbackHandle entry;

	ENTER(cuDeviceRegisterAsyncNotification);
	(void)userData;
	if (!callbackFunc || !callback)
		return CUDA_ERROR_INVALID_VALUE;
	if (!front_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	entry = handle_new(HANDLE_NOTICE, sizeof *entry);
	if (!entry)
		return CUDA_ERROR_OUT_OF_MEMORY;
	entry->device = device;
	*callback = entry;
	return CUDA_SUCCESS;
}

CUresult cuDeviceUnregisterAsyncNotification(CUdevice device,
					     CUasyncCallbackHandle callback)
{
	ENTER(cuDeviceUnregisterAsyncNotification);
	if (!front_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!handle_is(callback, HANDLE_NOTICE) || callback->device != device)
		return CUDA_ERROR_INVALID_VALUE;
	handle_free(callback);
	return CUDA_SUCCESS;
}

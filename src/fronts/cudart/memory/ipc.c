/* SPDX-License-Identifier: Apache-2.0 */
/* ipc.c - shares memory and events with other processes. */
#include "fronts/cudart/runtime.h"

#include <string.h>

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle) &&
		   sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle),
	       "the driver's handles");

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)
{
	ENTER_CONTEXT();
	return runtime_result(legacy->cuIpcGetMemHandle(
	    (CUipcMemHandle *)handle, (CUdeviceptr)devPtr));
}

cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle,
				 unsigned int flags)
{
	CUipcMemHandle given;

	ENTER_CONTEXT();
	memcpy(&given, &handle, sizeof(given));
	return runtime_result(
	    legacy->cuIpcOpenMemHandle_v2((CUdeviceptr *)devPtr, given, flags));
}

cudaError_t cudaIpcCloseMemHandle(void *devPtr)
{
	ENTER_CONTEXT();
	return runtime_result(legacy->cuIpcCloseMemHandle((CUdeviceptr)devPtr));
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle,
				  cudaEvent_t event)
{
	ENTER_CONTEXT();
	return runtime_result(
	    legacy->cuIpcGetEventHandle((CUipcEventHandle *)handle, event));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event,
				   cudaIpcEventHandle_t handle)
{
	CUipcEventHandle given;

	ENTER_CONTEXT();
	memcpy(&given, &handle, sizeof(given));
	return runtime_result(legacy->cuIpcOpenEventHandle(event, given));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - defines the stream functions that need more than one driver call.
 */
#include "fronts/cudart/runtime.h"

/* The default streams cannot be destroyed. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	ENTER_CONTEXT();
	REQUIRE(stream && stream != cudaStreamLegacy &&
		    stream != cudaStreamPerThread,
		cudaErrorInvalidResourceHandle);
	return runtime_result(legacy->cuStreamDestroy_v2(stream));
}

/* Does without cuStreamGetDevice, which is newer than the oldest driver
 * supported. */
static CUresult device_by_context(const struct driver *d, cudaStream_t stream,
				  CUdevice *ret_device)
{
	CUcontext context = NULL, popped;
	CUresult r = d->cuStreamGetCtx(stream, &context);

	if (!r)
		r = legacy->cuCtxPushCurrent_v2(context);
	if (r)
		return r;
	r = legacy->cuCtxGetDevice(ret_device);
	legacy->cuCtxPopCurrent_v2(&popped);
	return r;
}

BOTH_STREAMS(cudaStreamGetDevice, _ptsz, (cudaStream_t stream, int *device),
	     (stream, device))
{
	ENTER_CONTEXT();
	REQUIRE(device, cudaErrorInvalidValue);
	return runtime_result(device_by_context(d, stream, device));
}

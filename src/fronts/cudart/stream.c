/*
 * stream.c - defines the functions of streams that take more than one call of
 * the driver.
 */
#include "fronts/cudart/runtime.h"

/* The default streams are nobody's to destroy. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	ENTER_CONTEXT();
	REQUIRE(stream && stream != cudaStreamLegacy &&
		    stream != cudaStreamPerThread,
		cudaErrorInvalidResourceHandle);
	return runtime_result(legacy->cuStreamDestroy_v2(stream));
}

/* By its context: cuStreamGetDevice is younger than this runtime may assume. */
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

static cudaError_t cudaStreamGetDevice_by(const struct driver *d,
					  cudaStream_t stream, int *device)
{
	ENTER_CONTEXT();
	REQUIRE(device, cudaErrorInvalidValue);
	return runtime_result(device_by_context(d, stream, device));
}
BOTH(cudaStreamGetDevice, _ptsz, (cudaStream_t hStream, int *device),
     (hStream, device))

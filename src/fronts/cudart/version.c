/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.c - returns the versions of the driver and the runtime, and driver
 * functions for programs that call both APIs.
 */
#include "fronts/cudart/runtime.h"

/* Works even if the driver is too old or fails to start; 0: no driver. */
cudaError_t cudaDriverGetVersion(int *driverVersion)
{
	REQUIRE(driverVersion, cudaErrorInvalidValue);
	*driverVersion = driver_version();
	return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
	REQUIRE(runtimeVersion, cudaErrorInvalidValue);
	*runtimeVersion = CUDART_VERSION;
	return cudaSuccess;
}

/* The default depends on which variant was called, with _ptsz or without. */
static unsigned long long choose_default_flags(const struct driver *d,
					       unsigned long long flags)
{
	if (flags != cudaEnableDefault)
		return flags;
	return d == legacy ? CU_GET_PROC_ADDRESS_LEGACY_STREAM
			   : CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
}

/* An unknown symbol is no error: the pointer is NULL. */
BOTH_STREAMS(cudaGetDriverEntryPointByVersion, _ptsz,
	     (const char *symbol, void **funcPtr, unsigned int version,
	      unsigned long long flags,
	      enum cudaDriverEntryPointQueryResult *driverStatus),
	     (symbol, funcPtr, version, flags, driverStatus))
{
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
	void *found = NULL;
	CUresult r;

	ENTER();
	REQUIRE(symbol && funcPtr && flags <= cudaEnablePerThreadDefaultStream,
		cudaErrorInvalidValue);
	REQUIRE(version <= (unsigned)driver_version(), cudaErrorInvalidValue);
	r = d->cuGetProcAddress_v2(symbol, &found, (int)version,
				   choose_default_flags(d, flags), &status);
	if (r && r != CUDA_ERROR_NOT_FOUND)
		return runtime_result(r);
	*funcPtr = found;
	if (driverStatus)
		*driverStatus = (enum cudaDriverEntryPointQueryResult)status;
	return cudaSuccess;
}

/* If the driver is older than the runtime, requests functions of the driver's
 * version. */
BOTH_STREAMS(cudaGetDriverEntryPoint, _ptsz,
	     (const char *symbol, void **funcPtr, unsigned long long flags,
	      enum cudaDriverEntryPointQueryResult *driverStatus),
	     (symbol, funcPtr, flags, driverStatus))
{
	int newest;

	ENTER();
	newest = driver_version();
	return cudaGetDriverEntryPointByVersion_by(
	    d, symbol, funcPtr,
	    (unsigned)(newest < CUDART_VERSION ? newest : CUDART_VERSION),
	    flags, driverStatus);
}

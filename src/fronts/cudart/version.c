/*
 * version.c - versions of driver and runtime, and the driver's functions for
 * those who call both.
 */
#include "fronts/cudart/runtime.h"

/* Needs no driver that is new enough, nor one that works: 0 is none at all. */
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

/* The default depends on who asks: the _ptsz twin or the other. */
static unsigned long long choose_default_flags(const struct driver *d,
					       unsigned long long flags)
{
	if (flags != cudaEnableDefault)
		return flags;
	return d == legacy ? CU_GET_PROC_ADDRESS_LEGACY_STREAM
			   : CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
}

/* A name that is not there is no error: the pointer is NULL. */
static cudaError_t cudaGetDriverEntryPointByVersion_by(
    const struct driver *d, const char *symbol, void **funcPtr,
    unsigned int version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *driverStatus)
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
BOTH(cudaGetDriverEntryPointByVersion, _ptsz,
     (const char *symbol, void **funcPtr, unsigned int cudaVersion,
      unsigned long long flags,
      enum cudaDriverEntryPointQueryResult *driverStatus),
     (symbol, funcPtr, cudaVersion, flags, driverStatus))

/* A driver of an older minor is asked for what it can have. */
static cudaError_t
cudaGetDriverEntryPoint_by(const struct driver *d, const char *symbol,
			   void **funcPtr, unsigned long long flags,
			   enum cudaDriverEntryPointQueryResult *driverStatus)
{
	int newest;

	ENTER();
	newest = driver_version();
	return cudaGetDriverEntryPointByVersion_by(
	    d, symbol, funcPtr,
	    (unsigned)(newest < CUDART_VERSION ? newest : CUDART_VERSION),
	    flags, driverStatus);
}
BOTH(cudaGetDriverEntryPoint, _ptsz,
     (const char *symbol, void **funcPtr, unsigned long long flags,
      enum cudaDriverEntryPointQueryResult *driverStatus),
     (symbol, funcPtr, flags, driverStatus))

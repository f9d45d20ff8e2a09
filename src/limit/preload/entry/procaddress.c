/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procaddress.c - hooks of cuGetProcAddress: the driver answers, and if the
 * address is that of a hooked function, the hook replaces it. Result and status
 * are the driver's, also for wrong arguments.
 */
#include "limit/preload/entry/driver.h"

#include <stddef.h>

static void swap_found(CUresult result, const char *symbol, void **pfn)
{
	if (result == CUDA_SUCCESS && *pfn)
		*pfn = driver_swap(*pfn, symbol);
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
			  cuuint64_t flags)
{
	CUresult result =
	    REAL(cuGetProcAddress)(symbol, pfn, cudaVersion, flags);

	swap_found(result, symbol, pfn);
	return result;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
			     cuuint64_t flags,
			     CUdriverProcAddressQueryResult *symbolStatus)
{
	CUresult result = REAL(cuGetProcAddress_v2)(symbol, pfn, cudaVersion,
						    flags, symbolStatus);

	swap_found(result, symbol, pfn);
	return result;
}

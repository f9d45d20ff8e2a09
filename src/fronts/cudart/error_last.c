/* SPDX-License-Identifier: Apache-2.0 */
/* error_last.c - returns the last error of a thread. */
#include "fronts/cudart/runtime.h"

#include <stddef.h>

/* Errors that end a context: each remains the last error until the context is
 * reset. */
static bool is_sticky(cudaError_t error)
{
	static const cudaError_t sticky[] = {
	    cudaErrorECCUncorrectable,   cudaErrorNvlinkUncorrectable,
	    cudaErrorContained,          cudaErrorIllegalAddress,
	    cudaErrorLaunchTimeout,      cudaErrorAssert,
	    cudaErrorHardwareStackError, cudaErrorIllegalInstruction,
	    cudaErrorMisalignedAddress,  cudaErrorInvalidAddressSpace,
	    cudaErrorInvalidPc,          cudaErrorLaunchFailure,
	    cudaErrorTensorMemoryLeak,
	};

	for (size_t i = 0; i < sizeof sticky / sizeof *sticky; i++)
		if (sticky[i] == error)
			return true;
	return false;
}

/* Both functions start the runtime. If it cannot start, they return the reason
 * each time. */
cudaError_t cudaGetLastError(void)
{
	cudaError_t last = cudart_thread.last;

	TRY(cudart_unstarted());
	if (!is_sticky(last))
		cudart_thread.last = cudaSuccess;
	return last;
}

cudaError_t cudaPeekAtLastError(void)
{
	TRY(cudart_unstarted());
	return cudart_thread.last;
}

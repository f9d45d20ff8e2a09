/*
 * error.c - results: their names and words, what the driver's are called here,
 * and the last one of each thread.
 */
#include "fronts/cudart/runtime.h"

#include <stddef.h>

#define UNRECOGNIZED "unrecognized error code"

cudaError_t cudart_error(CUresult result)
{
	switch ((int)result) {
#define CUDART_ERROR(name, value, text) case value:
#include "abi/cudart_error.def"
#undef CUDART_ERROR
		return (cudaError_t)result;
	default:
		return cudaErrorUnknown;
	}
}

cudaError_t cudart_fail(cudaError_t error)
{
	cudart_thread.last = error;
	return error;
}

/* Errors that a context does not survive: they stay until it is reset. */
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

/* Both begin the runtime, and where it cannot begin say so for ever. */
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

const char *cudaGetErrorName(cudaError_t error)
{
	switch ((int)error) {
#define CUDART_ERROR(name, value, text)                                        \
	case value:                                                            \
		return #name;
#include "abi/cudart_error.def"
#undef CUDART_ERROR
	default:
		return UNRECOGNIZED;
	}
}

const char *cudaGetErrorString(cudaError_t error)
{
	switch ((int)error) {
#define CUDART_ERROR(name, value, text)                                        \
	case value:                                                            \
		return text;
#include "abi/cudart_error.def"
#undef CUDART_ERROR
	default:
		return UNRECOGNIZED;
	}
}

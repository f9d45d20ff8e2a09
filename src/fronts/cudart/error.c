/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - names and texts of errors; converts the driver's errors; owns the
 * state of each thread, such as its last error.
 */
#include "fronts/cudart/runtime.h"

#define UNRECOGNIZED "unrecognized error code"

_Thread_local struct thread cudart_thread;

cudaError_t cudart_error(CUresult result)
{
	switch ((int)result) {
#define CUDART_ERROR(name, value, text) case value:
#include "abi/cudart/cudart_error.def"
#undef CUDART_ERROR
		return (cudaError_t)result;
	default:
		return cudaErrorUnknown;
	}
}

void cudart_set_last(cudaError_t error)
{
	cudart_thread.last = error;
}

const char *cudaGetErrorName(cudaError_t error)
{
	switch ((int)error) {
#define CUDART_ERROR(name, value, text)                                        \
	case value:                                                            \
		return #name;
#include "abi/cudart/cudart_error.def"
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
#include "abi/cudart/cudart_error.def"
#undef CUDART_ERROR
	default:
		return UNRECOGNIZED;
	}
}

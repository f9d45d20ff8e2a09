/*
 * null_rest.c - every function of the driver API (or of NVML, with NULL_NVML)
 * that is not defined elsewhere: it succeeds, and does nothing.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"

#ifdef NULL_NVML

#include "abi/nvml_abi.h"

#define NVML(symbol, params)                                                   \
	__attribute__((weak)) nvmlReturn_t symbol params                       \
	{                                                                      \
		return NVML_SUCCESS;                                           \
	}
#include "abi/nvml.def"
#undef NVML

#else

#include "abi/cuda_abi.h"

#define CUDA(symbol, base, since, stream, params)                              \
	__attribute__((weak)) CUresult symbol params                           \
	{                                                                      \
		return CUDA_SUCCESS;                                           \
	}
#include "abi/cuda.def"
#undef CUDA

#endif

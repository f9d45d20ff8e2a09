/* SPDX-License-Identifier: Apache-2.0 */
/*
 * null_rest.c - every function of the driver API (or of NVML, with NULL_NVML)
 * that is not defined elsewhere: it succeeds, and does nothing.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"

#ifdef NULL_NVML

#include "abi/nvml/nvml_abi.h"

#define NVML(symbol, major, minor, core, mig, limit, refused, params)          \
	__attribute__((weak)) nvmlReturn_t symbol params                       \
	{                                                                      \
		return NVML_SUCCESS;                                           \
	}
#include "abi/nvml/nvml.def"
#undef NVML

#else

#include "abi/cuda/cuda_abi.h"

#define CUDA_SYMBOL(symbol, base, since, stream, limit, capture, refused,      \
		    params)                                                    \
	__attribute__((weak)) CUresult symbol params                           \
	{                                                                      \
		return CUDA_SUCCESS;                                           \
	}
#include "abi/cuda/cuda_symbols.def"

#endif

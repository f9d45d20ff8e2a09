/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h - checks for programs of the CUDA runtime; see check.h. */
#ifndef CUDA_RUNTIME_CHECK_H
#define CUDA_RUNTIME_CHECK_H

#include "check.h"

#include <cuda_runtime.h>

#define EXPECT(call, expected)                                                 \
	do {                                                                   \
		cudaError_t found_ = (call);                                   \
                                                                               \
		if (found_ != (expected))                                      \
			WRONG("%s: %s, not %s", #call,                         \
			      cudaGetErrorName(found_),                        \
			      cudaGetErrorName(expected));                     \
	} while (0)

#define OK(call) EXPECT(call, cudaSuccess)

/* Checks the result of the last launch. */
#define LAUNCHED() OK(cudaGetLastError())

static inline int devices(void)
{
	int count = 0;

	OK(cudaGetDeviceCount(&count));
	return count;
}

#endif

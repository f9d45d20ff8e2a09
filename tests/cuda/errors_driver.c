/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors_driver.c - checks names and texts of results, and a kernel's sticky
 * error.
 */
#include "driver.h"

static void names(void)
{
	const char *text = "";

	OK(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
	REQUIRE(!strcmp(text, "CUDA_ERROR_OUT_OF_MEMORY"));
	OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
	REQUIRE(!strcmp(text, "out of memory"));
	EXPECT(cuGetErrorName((CUresult)123456, &text),
	       CUDA_ERROR_INVALID_VALUE);
	EQUAL(text, 0);
}

int main(void)
{
	CUdeviceptr nowhere = 64, at;
	CUfunction fill;
	int value = 1, n = 1;
	void *params[] = {&nowhere, &value, &n};

	names();
	start();
	fill = kernel(kernels(), "fill");
	OK(cuMemAlloc(&at, 4));
	OK(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(cuMemAlloc(&at, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(cuMemcpyDtoH(&value, at, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(cuStreamQuery(NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
	/* Names are still available. */
	names();
	return 0;
}

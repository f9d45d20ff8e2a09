/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_driver.c - checks launches: a box of threads, parameters in a buffer,
 * what is refused.
 */
#include "driver.h"

#define W 12
#define H 10
#define D 6

static int host[D][H][W];

static void box(CUfunction place)
{
	CUdeviceptr at;
	void *params[] = {&at};

	OK(cuMemAlloc(&at, sizeof host));
	OK(cuLaunchKernel(place, 3, 5, 2, 4, 2, 3, 0, NULL, params, NULL));
	OK(cuMemcpyDtoH(host, at, sizeof host));
	for (int z = 0; z < D; z++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++)
				EQUAL(host[z][y][x],
				      x + 1000 * y + 1000000 * z);
	OK(cuMemFree(at));
}

/* fill(int *to, int value, int n), packed in the kernel's layout. */
static void packed(CUfunction fill)
{
	struct {
		CUdeviceptr to;
		int value, n;
	} all = {0, 77, 10};
	size_t size = sizeof all;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all,
			 CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
			 CU_LAUNCH_PARAM_END};
	int seen[11];

	OK(cuMemAlloc(&all.to, sizeof seen));
	OK(cuMemsetD32(all.to, 1, 11));
	OK(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
	OK(cuMemcpyDtoH(seen, all.to, sizeof seen));
	EQUAL(seen[0], 77);
	EQUAL(seen[9], 77);
	EQUAL(seen[10], 1);
	OK(cuMemFree(all.to));
}

static void refused(CUfunction fill)
{
	CUdeviceptr to = 0;
	int value = 0, n = 0;
	void *params[] = {&to, &value, &n};

	EXPECT(cuLaunchKernel(fill, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchKernel(fill, 1, 1, 1, 1025, 1, 1, 0, NULL, params, NULL),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(
	    cuLaunchKernel(fill, 1, 65536, 1, 1, 1, 1, 0, NULL, params, NULL),
	    CUDA_ERROR_INVALID_VALUE);
	/* With n = 0 nothing is written. */
	OK(cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
	OK(cuCtxSynchronize());
}

int main(void)
{
	CUmodule module;

	start();
	module = kernels();
	box(kernel(module, "place"));
	packed(kernel(module, "fill"));
	refused(kernel(module, "fill"));
	OK(cuModuleUnload(module));
	return 0;
}

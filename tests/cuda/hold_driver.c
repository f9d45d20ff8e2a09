/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold_driver.c - holds memory of a GPU and keeps it busy for a time:
 * hold_driver [GPU [MIB [SECONDS]]]. Prints "ready" when it has the memory.
 */
#include "driver.h"

int main(int argc, char **argv)
{
	int gpu = argc > 1 ? atoi(argv[1]) : 0;
	size_t mib = argc > 2 ? strtoul(argv[2], NULL, 10) : 64;
	double seconds = argc > 3 ? strtod(argv[3], NULL) : 0;
	double began = now();
	unsigned rounds = 20000, result = 0;
	CUdevice device;
	CUcontext context;
	CUdeviceptr at;
	CUfunction spin;
	void *params[] = {&at, &rounds};

	OK(cuInit(0));
	OK(cuDeviceGet(&device, gpu));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	OK(cuMemAlloc(&at, mib << 20));
	spin = kernel(kernels(), "spin");
	puts("ready");
	fflush(stdout);
	do {
		OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, params,
				  NULL));
		OK(cuCtxSynchronize());
		rest(seconds > 0 ? 0.01 : 0);
	} while (now() - began < seconds);
	OK(cuMemcpyDtoH(&result, at, sizeof result));
	REQUIRE(result);
	OK(cuMemFree(at));
	OK(cuDevicePrimaryCtxRelease(device));
	return 0;
}

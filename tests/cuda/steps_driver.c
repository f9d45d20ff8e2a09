/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps_driver.c - holds memory of a GPU and keeps it busy, step by step:
 * steps_driver [GPU]. Each line of its input is a step: a number allocates that
 * many bytes, "free" frees the last allocation, "spin" keeps the GPU busy until
 * "rest". After each it prints the result of cuMemGetInfo: bytes left, bytes in
 * all. Without an argument it takes a few steps of its own.
 */
#include "driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define MOST 64

static const char own_steps[] =
    "1000000\nspin\n123456789\nfree\nrest\nspin\nrest\nfree\n";

static CUcontext context;
static CUdeviceptr at[MOST], result;
static CUfunction spin;
static int taken;
static pthread_t spinner;
static atomic_bool spins;

static void *keep_busy(void *unused)
{
	unsigned rounds = 100000;
	void *params[] = {&result, &rounds};

	OK(cuCtxSetCurrent(context));
	while (spins) {
		for (int i = 0; i < 8; i++)
			OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL,
					  params, NULL));
		OK(cuCtxSynchronize());
	}
	return unused;
}

static void step(const char *what)
{
	if (!strcmp(what, "spin\n")) {
		spins = true;
		REQUIRE(!pthread_create(&spinner, NULL, keep_busy, NULL));
	} else if (!strcmp(what, "rest\n")) {
		spins = false;
		pthread_join(spinner, NULL);
	} else if (!strcmp(what, "free\n")) {
		REQUIRE(taken);
		OK(cuMemFree(at[--taken]));
	} else {
		REQUIRE(taken < MOST);
		OK(cuMemAlloc(&at[taken++], strtoul(what, NULL, 10)));
	}
}

static void tell(void)
{
	size_t left, total;

	OK(cuMemGetInfo(&left, &total));
	printf("%zu %zu\n", left, total);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	FILE *in = argc > 1
		       ? stdin
		       : fmemopen((void *)own_steps, strlen(own_steps), "r");
	CUdevice device;
	char line[64];

	OK(cuInit(0));
	OK(cuDeviceGet(&device, argc > 1 ? atoi(argv[1]) : 0));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	spin = kernel(kernels(), "spin");
	OK(cuMemAlloc(&result, sizeof(unsigned)));
	tell();
	while (fgets(line, sizeof line, in)) {
		step(line);
		tell();
	}
	OK(cuMemFree(result));
	OK(cuDevicePrimaryCtxRelease(device));
	return 0;
}

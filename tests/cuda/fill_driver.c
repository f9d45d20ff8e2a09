/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill_driver.c - takes all memory of a GPU, to the last block: fill_driver
 * [GPU [wait]]. Writes to both ends, prints how many bytes are left, waits for
 * the end of its input if told to, and frees everything.
 */
#include "driver.h"

#define MOST  8192
#define BLOCK ((size_t)2 << 20)

static CUdeviceptr at[MOST];
static int taken;

static size_t unused(void)
{
	size_t left, total;

	OK(cuMemGetInfo(&left, &total));
	return left;
}

/* Until not even one block can be allocated. */
static void take_all(void)
{
	for (size_t size = (size_t)1 << 36; size >= BLOCK; size /= 2)
		while (taken < MOST && !cuMemAlloc(&at[taken], size)) {
			OK(cuMemsetD8(at[taken], 1, 1));
			OK(cuMemsetD8(at[taken] + size - 1, 1, 1));
			taken++;
		}
	EXPECT(cuMemAlloc(&at[taken], BLOCK), CUDA_ERROR_OUT_OF_MEMORY);
}

int main(int argc, char **argv)
{
	CUdevice device;
	CUcontext context;
	size_t before;

	OK(cuInit(0));
	OK(cuDeviceGet(&device, argc > 1 ? atoi(argv[1]) : 0));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	before = unused();
	take_all();
	/* A driver may keep some for itself, but little. */
	REQUIRE(unused() < 32 * BLOCK);
	printf("%zu\n", unused());
	fflush(stdout);
	if (argc > 2)
		while (getchar() != EOF)
			;
	while (taken)
		OK(cuMemFree(at[--taken]));
	EQUAL(unused(), before);
	OK(cuDevicePrimaryCtxRelease(device));
	return 0;
}

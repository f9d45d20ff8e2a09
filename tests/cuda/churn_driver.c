/* SPDX-License-Identifier: Apache-2.0 */
/*
 * churn_driver.c - does a bit of everything in an order given by a seed:
 * churn_driver [GPU [SEED [ROUNDS]]]. Rounds 0: until it is killed. Prints
 * "ready" before the first. The content of a block is checked when it is freed.
 */
#include "driver.h"

#define BLOCKS 24
#define WORDS  1000

static struct block {
	CUdeviceptr at;
	unsigned value;
} blocks[BLOCKS];

static unsigned seed;
static CUstream stream;
static CUevent event;
static CUmodule module;
static unsigned *pinned;

static unsigned below(unsigned n)
{
	return (unsigned)rand_r(&seed) % n;
}

static void check_and_free(struct block *b)
{
	OK(cuMemcpyDtoHAsync(pinned, b->at, WORDS * sizeof *pinned, stream));
	OK(cuStreamSynchronize(stream));
	for (int i = 0; i < WORDS; i++)
		EQUAL(pinned[i], b->value);
	OK(cuMemFree(b->at));
	b->at = 0;
}

/* Allocates and fills a block; or frees one and returns NULL. */
static struct block *some_block(void)
{
	struct block *b = &blocks[below(BLOCKS)];

	if (b->at && !below(3)) {
		check_and_free(b);
		return NULL;
	}
	if (!b->at) {
		size_t size = WORDS * sizeof *pinned + below(16 << 20);
		CUresult result = cuMemAlloc(&b->at, size);

		b->value = below(1000);
		if (result == CUDA_ERROR_OUT_OF_MEMORY)
			return NULL;
		OK(result);
		OK(cuMemsetD32Async(b->at, b->value, WORDS, stream));
	}
	return b;
}

static void copy_in(void)
{
	struct block *b = some_block();

	if (!b)
		return;
	OK(cuStreamSynchronize(stream));
	b->value = below(1000);
	for (int i = 0; i < WORDS; i++)
		pinned[i] = b->value;
	OK(cuMemcpyHtoDAsync(b->at, pinned, WORDS * sizeof *pinned, stream));
}

static void copy_across(void)
{
	struct block *a = some_block(), *b = some_block();

	if (!a || !b || !a->at)
		return;
	b->value = a->value;
	OK(cuMemcpyDtoDAsync(b->at, a->at, WORDS * sizeof *pinned, stream));
}

static void launch(void)
{
	struct block *b = some_block();
	int n = WORDS;
	void *params[] = {b ? &b->at : NULL, &n};

	if (!b)
		return;
	b->value++;
	OK(cuLaunchKernel(kernel(module, "increment"), (WORDS + 127) / 128, 1,
			  1, 128, 1, 1, 0, stream, params, NULL));
}

static void spin(void)
{
	static CUdeviceptr result;
	unsigned rounds = 1000 + below(50000);
	void *params[] = {&result, &rounds};

	if (!result && cuMemAlloc(&result, 4))
		return;
	OK(cuLaunchKernel(kernel(module, "spin"), 1, 1, 1, 1, 1, 1, 0, stream,
			  params, NULL));
}

static void synchronize(void)
{
	OK(cuEventRecord(event, stream));
	OK(below(2) ? cuEventSynchronize(event) : cuCtxSynchronize());
}

static void other_stream(void)
{
	OK(cuStreamDestroy(stream));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuCtxSynchronize());
}

static void pool(void)
{
	CUdeviceptr at;
	CUresult result = cuMemAllocAsync(&at, 1 + below(8 << 20), stream);

	if (result == CUDA_ERROR_OUT_OF_MEMORY)
		return;
	OK(result);
	OK(cuMemsetD8Async(at, 1, 1, stream));
	OK(cuMemFreeAsync(at, stream));
}

static void host_memory(void)
{
	void *at;

	OK(cuMemHostAlloc(&at, 1 + below(1 << 20), 0));
	memset(at, 1, 1);
	OK(cuMemFreeHost(at));
}

static void other_module(void)
{
	OK(cuCtxSynchronize());
	OK(cuModuleUnload(module));
	module = kernels();
}

static void context_again(void)
{
	CUcontext context;
	CUdevice device;
	CUdeviceptr at;

	OK(cuCtxGetDevice(&device));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxPushCurrent(context));
	if (!cuMemAlloc(&at, 1 + below(1 << 20)))
		OK(cuMemFree(at));
	OK(cuCtxPopCurrent(NULL));
	OK(cuDevicePrimaryCtxRelease(device));
}

static void (*const work[])(void) = {
    copy_in, copy_in,     copy_across,  copy_across,   launch,
    launch,  launch,      spin,         synchronize,   other_stream,
    pool,    host_memory, other_module, context_again,
};

static void begin(int gpu)
{
	CUdevice device;
	CUcontext context;

	OK(cuInit(0));
	OK(cuDeviceGet(&device, gpu));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&event, 0));
	OK(cuMemHostAlloc((void **)&pinned, WORDS * sizeof *pinned, 0));
	module = kernels();
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 500;

	seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	begin(argc > 1 ? atoi(argv[1]) : 0);
	puts("ready");
	fflush(stdout);
	for (unsigned n = 0; !rounds || n < rounds; n++)
		work[below(sizeof work / sizeof *work)]();
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].at)
			check_and_free(&blocks[i]);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit_cost.c - what calls cost a program that may be limited, on the driver
 * that it finds: run without and with libvgpu.so. Prints a line for each, "NAME
 * NANOSECONDS", the least of ROUNDS. With the argument `start` it only starts:
 * a context and one allocation.
 */
#include "abi/cuda/cuda_abi.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 200, CALLS = 2000, LIVE = 100000 };

#define SMALL ((size_t)1000)

static void need(CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "limit_cost: %s: error %d\n", what, (int)result);
	exit(1);
}

static void launch(void)
{
	need(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
	     "cuLaunchKernel");
}

static void alloc_free(void)
{
	CUdeviceptr at;

	need(cuMemAlloc_v2(&at, SMALL), "cuMemAlloc");
	need(cuMemFree_v2(at), "cuMemFree");
}

static void get_info(void)
{
	size_t room, total;

	need(cuMemGetInfo_v2(&room, &total), "cuMemGetInfo");
}

static uint64_t time_round(void (*call)(void))
{
	uint64_t began = gk_mono_ns();

	for (int i = 0; i < CALLS; i++)
		call();
	return gk_mono_ns() - began;
}

static void measure(const char *name, void (*call)(void))
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t took = time_round(call);

		least = took < least ? took : least;
	}
	printf("%s %.2f\n", name, (double)least / CALLS);
}

static void fill(void)
{
	CUdeviceptr at;

	for (int i = 0; i < LIVE; i++)
		need(cuMemAlloc_v2(&at, SMALL), "cuMemAlloc");
}

int main(int argc, char **argv)
{
	CUcontext context;

	(void)argv;
	need(cuInit(0), "cuInit");
	need(cuDevicePrimaryCtxRetain(&context, 0), "a context");
	need(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	alloc_free();
	if (argc > 1)
		return 0;
	measure("launch_ns", launch);
	measure("alloc_free_alone_ns", alloc_free);
	measure("get_info_ns", get_info);
	fill();
	measure("alloc_free_among_ns", alloc_free);
	return 0;
}

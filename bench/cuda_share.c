/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_share.c - what it costs to open memory of another process and to map
 * memory. On the machine of its environment. One line a thing.
 */
#include "abi/cuda/cuda_abi.h"
#include "base/clock.h"
#include "base/units.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS      1000
#define STEP       (2 * MIB)
#define CU(symbol) ((__typeof__(&symbol))dlsym(library, #symbol))

static void *library;

static void must(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "cuda_share: %s: %d\n", what, result);
	exit(1);
}

static int by_size(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static double since_us(uint64_t began)
{
	return (double)(gk_mono_ns() - began) / 1e3;
}

static void tell(const char *name, double *of)
{
	qsort(of, CALLS, sizeof *of, by_size);
	printf("%s %.2f\n", name, of[CALLS / 2]);
}

static void begin(void)
{
	CUcontext ctx;

	must(CU(cuInit)(0), "cuInit");
	must(CU(cuDevicePrimaryCtxRetain)(&ctx, 0), "context");
	must(CU(cuCtxSetCurrent)(ctx), "context");
}

/* Shares memory until its input ends. */
static void share(int to, int until)
{
	CUipcMemHandle handle;
	CUdeviceptr at;
	char byte;

	begin();
	must(CU(cuMemAlloc_v2)(&at, 64 * MIB), "cuMemAlloc");
	must(CU(cuIpcGetMemHandle)(&handle, at), "cuIpcGetMemHandle");
	must(write(to, &handle, sizeof handle) != sizeof handle, "pipe");
	_exit(read(until, &byte, 1) != 0);
}

static void opens(const CUipcMemHandle *handle)
{
	static double open[CALLS], close[CALLS];
	__typeof__(&cuIpcOpenMemHandle_v2) do_open = CU(cuIpcOpenMemHandle_v2);
	__typeof__(&cuIpcCloseMemHandle) do_close = CU(cuIpcCloseMemHandle);

	for (int i = 0; i < CALLS; i++) {
		uint64_t began = gk_mono_ns();
		CUdeviceptr at;

		must(do_open(&at, *handle, 1), "cuIpcOpenMemHandle");
		open[i] = since_us(began);
		began = gk_mono_ns();
		must(do_close(at), "cuIpcCloseMemHandle");
		close[i] = since_us(began);
	}
	tell("ipc_open_us", open);
	tell("ipc_close_us", close);
}

static void maps(void)
{
	static double map[CALLS], unmap[CALLS];
	const CUmemAllocationProp prop = {
	    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
	const CUmemAccessDesc desc = {prop.location,
				      CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	__typeof__(&cuMemMap) do_map = CU(cuMemMap);
	__typeof__(&cuMemSetAccess) allow = CU(cuMemSetAccess);
	__typeof__(&cuMemUnmap) do_unmap = CU(cuMemUnmap);
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at;

	must(CU(cuMemCreate)(&handle, STEP, &prop, 0), "cuMemCreate");
	must(CU(cuMemAddressReserve)(&at, STEP, 0, 0, 0), "reserve");
	for (int i = 0; i < CALLS; i++) {
		uint64_t began = gk_mono_ns();

		must(do_map(at, STEP, 0, handle, 0), "cuMemMap");
		map[i] = since_us(began);
		must(allow(at, STEP, &desc, 1), "cuMemSetAccess");
		began = gk_mono_ns();
		must(do_unmap(at, STEP), "cuMemUnmap");
		unmap[i] = since_us(began);
	}
	tell("map_us", map);
	tell("unmap_us", unmap);
}

int main(void)
{
	CUipcMemHandle handle;
	int from[2], until[2];

	library = dlopen("libcuda.so.1", RTLD_NOW);
	must(!library, "libcuda.so.1");
	must(pipe(from) || pipe(until), "pipe");
	if (!fork()) {
		close(until[1]);
		share(from[1], until[0]);
	}
	must(read(from[0], &handle, sizeof handle) != sizeof handle, "pipe");
	begin();
	opens(&handle);
	maps();
	close(until[1]);
	wait(NULL);
	return 0;
}

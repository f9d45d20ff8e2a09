/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_client.c - calls many functions of the fake driver and believes
 * nothing: on a machine file with changed bytes it may be refused everything,
 * but must not crash. Prints on how many GPUs it got memory.
 */
#include "abi/cuda/cuda_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS       16
#define ATTRIBUTES 150
#define BYTES      (1 << 20)

/* The functions of libcuda that are called; NULL if one is missing. */
static CUresult (*init)(unsigned), (*count)(int *), (*get)(CUdevice *, int);
static CUresult (*name)(char *, int, CUdevice), (*total)(size_t *, CUdevice);
static CUresult (*attribute)(int *, int, CUdevice);
static CUresult (*create)(CUcontext *, unsigned, CUdevice);
static CUresult (*destroy)(CUcontext), (*synchronize)(void);
static CUresult (*info)(size_t *, size_t *), (*allocate)(CUdeviceptr *, size_t);
static CUresult (*release)(CUdeviceptr);
static CUresult (*memset32)(CUdeviceptr, unsigned, size_t);
static CUresult (*fetch)(void *, CUdeviceptr, size_t);

static const struct {
	const char *symbol;
	void *at;
} functions[] = {
    {"cuInit", &init},
    {"cuDeviceGetCount", &count},
    {"cuDeviceGet", &get},
    {"cuDeviceGetName", &name},
    {"cuDeviceTotalMem_v2", &total},
    {"cuDeviceGetAttribute", &attribute},
    {"cuCtxCreate_v2", &create},
    {"cuCtxDestroy_v2", &destroy},
    {"cuCtxSynchronize", &synchronize},
    {"cuMemGetInfo_v2", &info},
    {"cuMemAlloc_v2", &allocate},
    {"cuMemFree_v2", &release},
    {"cuMemsetD32_v2", &memset32},
    {"cuMemcpyDtoH_v2", &fetch},
};

static int find_functions(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	for (size_t i = 0; library && i < sizeof functions / sizeof *functions;
	     i++) {
		void *symbol = dlsym(library, functions[i].symbol);

		if (!symbol)
			return -1;
		memcpy(functions[i].at, &symbol, sizeof symbol);
	}
	return library ? 0 : -1;
}

static int worked; /* successful allocations */

static void use_memory(void)
{
	static unsigned back[BYTES / sizeof(unsigned)];
	size_t left = 0, all = 0;
	CUdeviceptr memory = 0;

	info(&left, &all);
	if (!allocate(&memory, BYTES)) {
		worked++;
		memset32(memory, 7, BYTES / sizeof(unsigned));
		fetch(back, memory, BYTES);
		release(memory);
	}
	if (!allocate(&memory, left / 2))
		release(memory);
	synchronize();
}

static void use_device(int number)
{
	CUcontext context = NULL;
	CUdevice device = 0;
	char text[256] = "";
	size_t bytes = 0;
	int value = 0;

	if (get(&device, number))
		return;
	name(text, sizeof text, device);
	total(&bytes, device);
	for (int i = 1; i < ATTRIBUTES; i++)
		attribute(&value, i, device);
	if (create(&context, 0, device))
		return;
	use_memory();
	destroy(context);
}

int main(void)
{
	int devices = 0;

	if (find_functions()) {
		fprintf(stderr, "hostile_client: %s\n", dlerror());
		return 2;
	}
	if (init(0) || count(&devices))
		return 0;
	for (int i = 0; i < devices && i < GPUS; i++)
		use_device(i);
	printf("%d\n", worked);
	return 0;
}

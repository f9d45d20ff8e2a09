/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmm_driver.c - maps memory piece by piece: two handles side by side are one
 * buffer for copies, sets and kernels; a handle mapped twice is one memory.
 * With an argument it does what a GPU forbids: none (without access), read (a
 * write where only reading is allowed), gone (after unmapping), host (from the
 * host).
 */
#include "driver.h"

#include <string.h>

static CUdevice device;
static CUmodule module;
static CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
static size_t step;

static CUmemGenericAllocationHandle create(size_t size)
{
	CUmemGenericAllocationHandle handle;

	OK(cuMemCreate(&handle, size, &prop, 0));
	return handle;
}

static void allow(CUdeviceptr at, size_t size, CUmemAccess_flags flags)
{
	CUmemAccessDesc desc = {.location = prop.location, .flags = flags};

	OK(cuMemSetAccess(at, size, &desc, 1));
}

static void unmap(CUdeviceptr at, size_t size)
{
	OK(cuMemUnmap(at, size));
	OK(cuMemAddressFree(at, size));
}

/* z = x + y, with x in memory of two handles. */
static void use_as_one(void)
{
	size_t n = 2 * step / sizeof(float);
	CUmemGenericAllocationHandle first = create(step), second;
	CUfunction add = kernel(module, "add");
	float *host = (float *)malloc(2 * step);
	CUdeviceptr x, y;
	unsigned count = (unsigned)n;
	void *params[] = {&x, &y, &y, &count};

	OK(cuMemAddressReserve(&x, 4 * step, 0, 0, 0));
	OK(cuMemMap(x, step, 0, first, 0));
	allow(x, step, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	second = create(step);
	OK(cuMemMap(x + step, step, 0, second, 0));
	allow(x + step, step, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	OK(cuMemRelease(first));
	OK(cuMemRelease(second));
	OK(cuMemAlloc(&y, 2 * step));
	OK(cuMemsetD32(y, 0x3f800000, n)); /* 1.0 */
	for (size_t i = 0; i < n; i++)
		host[i] = (float)(i % 1000);
	OK(cuMemcpyHtoD(x, host, 2 * step));
	OK(cuLaunchKernel(add, (unsigned)(n + 255) / 256, 1, 1, 256, 1, 1, 0,
			  NULL, params, NULL));
	OK(cuMemcpyDtoH(host, y, 2 * step));
	for (size_t i = 0; i < n; i++)
		if (host[i] != (float)(i % 1000) + 1)
			WRONG("%zu: %f", i, (double)host[i]);
	OK(cuMemcpyDtoD(x + step / 2, y, step));
	OK(cuMemcpyDtoH(host, x + step - 4, 8));
	EQUAL(host[0], (float)((step / 2 / 4 - 1) % 1000) + 1);
	EQUAL(host[1], (float)(step / 2 / 4 % 1000) + 1);
	/* There is nothing after the two. */
	EXPECT(cuMemcpyDtoH(host, x + step, 2 * step),
	       CUDA_ERROR_INVALID_VALUE);
	OK(cuMemUnmap(x, step));
	OK(cuMemUnmap(x + step, step));
	OK(cuMemAddressFree(x, 4 * step));
	OK(cuMemFree(y));
	free(host);
}

/* One memory at two addresses; it lives as long as one of them does. */
static void show_twice(void)
{
	CUmemGenericAllocationHandle handle = create(2 * step), same;
	CUmemAllocationProp told;
	unsigned long long flags;
	CUdeviceptr a, b;
	int value = 0;

	OK(cuMemAddressReserve(&a, 2 * step, 0, 0, 0));
	OK(cuMemAddressReserve(&b, 2 * step, 0, 0, 0));
	OK(cuMemMap(a, 2 * step, 0, handle, 0));
	OK(cuMemMap(b, 2 * step, 0, handle, 0));
	OK(cuMemGetAccess(&flags, &prop.location, a));
	EQUAL(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
	allow(a, 2 * step, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	allow(b, 2 * step, CU_MEM_ACCESS_FLAGS_PROT_READ);
	OK(cuMemGetAccess(&flags, &prop.location, a + step));
	EQUAL(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	OK(cuMemGetAccess(&flags, &prop.location, b));
	EQUAL(flags, CU_MEM_ACCESS_FLAGS_PROT_READ);
	OK(cuMemRetainAllocationHandle(&same, (void *)(b + 5)));
	EQUAL(same, handle);
	OK(cuMemGetAllocationPropertiesFromHandle(&told, same));
	EQUAL(told.type, prop.type);
	EQUAL(told.location.type, prop.location.type);
	EQUAL(told.location.id, prop.location.id);
	OK(cuMemRelease(same));
	OK(cuMemRelease(handle));
	OK(cuMemsetD32(a + step, 77, 1));
	OK(cuMemcpyDtoH(&value, b + step, 4));
	EQUAL(value, 77);
	unmap(a, 2 * step);
	value = 0;
	OK(cuMemcpyDtoH(&value, b + step, 4));
	EQUAL(value, 77);
	unmap(b, 2 * step);
}

static void refuse(void)
{
	CUmemGenericAllocationHandle handle = create(step);
	CUmemAccessDesc desc = {.location = prop.location,
				.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUdeviceptr at;

	OK(cuMemAddressReserve(&at, 2 * step, 0, 0, 0));
	EXPECT(cuMemCreate(&handle, step - 1, &prop, 0),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemCreate(&handle, step, &prop, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at, 2 * step, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at + 1, step, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemSetAccess(at, step, &desc, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemMap(at, step, 0, handle, 0));
	EXPECT(cuMemMap(at, step, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemSetAccess(at, 2 * step, &desc, 1),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemUnmap(at + step, step), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAddressFree(at, 2 * step), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemUnmap(at, step));
	OK(cuMemAddressFree(at, 2 * step));
	OK(cuMemRelease(handle));
	EXPECT(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
}

/* Uses it from a kernel in a forbidden way. */
static void offend(const char *how)
{
	CUfunction fill = kernel(module, "fill");
	CUmemGenericAllocationHandle handle = create(step);
	CUdeviceptr x, y;
	unsigned value = 1, n = 32;
	void *params[] = {&y, &value, &n};

	OK(cuMemAddressReserve(&y, step, 0, 0, 0));
	OK(cuMemMap(y, step, 0, handle, 0));
	if (!strcmp(how, "read"))
		allow(y, step, CU_MEM_ACCESS_FLAGS_PROT_READ);
	else if (strcmp(how, "none"))
		allow(y, step, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	if (!strcmp(how, "gone"))
		OK(cuMemUnmap(y, step));
	if (!strcmp(how, "host"))
		*(volatile int *)y = 1;
	OK(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(cuMemAlloc(&x, 4096), CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main(int argc, char **argv)
{
	size_t before, after, total;
	int supported;

	device = start();
	prop.location =
	    (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
	OK(cuDeviceGetAttribute(
	    &supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
	    device));
	if (!supported)
		skip("no virtual memory management");
	module = kernels();
	OK(cuMemGetAllocationGranularity(&step, &prop,
					 CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	if (argc > 1) {
		offend(argv[1]);
		return 0;
	}
	OK(cuMemGetInfo(&before, &total));
	use_as_one();
	show_twice();
	refuse();
	OK(cuMemGetInfo(&after, &total));
	EQUAL(after, before);
	return 0;
}

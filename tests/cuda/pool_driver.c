/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_driver.c - checks stream-ordered memory: pools, their attributes,
 * access.
 */
#include "driver.h"

#define MIB ((size_t)1 << 20)

int main(void)
{
	CUdevice device = start();
	CUmemPoolProps props = {
	    .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemoryPool pool, now, by_default;
	cuuint64_t threshold = 7, used;
	CUstream stream;
	CUdeviceptr at;
	int supported, value = 0;

	OK(cuDeviceGetAttribute(
	    &supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device));
	if (!supported)
		skip("no memory pools");
	OK(cuDeviceGetDefaultMemPool(&by_default, device));
	OK(cuDeviceGetMemPool(&now, device));
	EQUAL(now, by_default);
	OK(cuStreamCreate(&stream, 0));
	OK(cuMemPoolCreate(&pool, &props));
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
				 &threshold));
	EQUAL(threshold, 0);
	OK(cuDeviceSetMemPool(device, pool));
	OK(cuMemAllocAsync(&at, MIB, stream));
	OK(cuMemsetD32Async(at, 5, MIB / 4, stream));
	OK(cuMemcpyDtoHAsync(&value, at + MIB - 4, 4, stream));
	OK(cuStreamSynchronize(stream));
	EQUAL(value, 5);
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
				 &used));
	EQUAL(used, MIB);
	OK(cuMemFreeAsync(at, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
				 &used));
	EQUAL(used, 0);
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
	EQUAL(used, MIB);
	OK(cuDeviceSetMemPool(device, by_default));
	OK(cuMemPoolDestroy(pool));
	OK(cuStreamDestroy(stream));
	return 0;
}

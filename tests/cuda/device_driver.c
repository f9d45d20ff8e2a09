/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_driver.c - checks that the properties of devices agree with each
 * other.
 */
#include "driver.h"

int main(void)
{
	int count, version, major, minor, value;
	char name[256], bus[32], bus_again[32];
	CUuuid uuid, other;
	CUdevice device, again;
	CUcontext context;
	size_t total, unused, all;

	OK(cuDriverGetVersion(&version));
	REQUIRE(version >= 11000);
	OK(cuInit(0));
	OK(cuDeviceGetCount(&count));
	REQUIRE(count > 0);
	EXPECT(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
	for (int i = 0; i < count; i++) {
		OK(cuDeviceGet(&device, i));
		OK(cuDeviceGetName(name, sizeof name, device));
		REQUIRE(*name);
		OK(cuDeviceGetUuid(&uuid, device));
		OK(cuDeviceTotalMem(&total, device));
		REQUIRE(total >> 20 > 0);
		OK(cuDeviceGetAttribute(
		    &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
		    device));
		OK(cuDeviceGetAttribute(
		    &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
		    device));
		REQUIRE(major >= 3 && minor >= 0);
		OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE,
					device));
		EQUAL(value, 32);
		OK(cuDeviceGetPCIBusId(bus, sizeof bus, device));
		OK(cuDeviceGetByPCIBusId(&again, bus));
		EQUAL(again, device);
		if (!i)
			continue;
		OK(cuDeviceGetUuid(&other, 0));
		REQUIRE(memcmp(&uuid, &other, sizeof uuid));
		OK(cuDeviceGetPCIBusId(bus_again, sizeof bus_again, 0));
		REQUIRE(strcmp(bus, bus_again));
	}
	EXPECT(cuDeviceGetAttribute(&value, (CUdevice_attribute)9999, 0),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDeviceTotalMem(&total, 1000), CUDA_ERROR_INVALID_DEVICE);
	OK(cuDeviceGet(&device, 0));
	OK(cuDeviceTotalMem(&total, device));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	OK(cuMemGetInfo(&unused, &all));
	EQUAL(all, total);
	REQUIRE(unused < all);
	return 0;
}

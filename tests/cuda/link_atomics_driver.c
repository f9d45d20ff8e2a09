/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_atomics_driver.c - checks which atomic operations a link supports, and
 * what the attributes say.
 */
#include "driver.h"

static CUatomicOperation operations[CU_ATOMIC_OPERATION_MAX];
static unsigned found[CU_ATOMIC_OPERATION_MAX];

static int is_any(void)
{
	for (unsigned i = 0; i < CU_ATOMIC_OPERATION_MAX; i++)
		if (found[i])
			return 1;
	return 0;
}

int main(void)
{
	CUatomicOperation none = (CUatomicOperation)1000;
	CUdevice device = start();
	int count, native, partial, version;

	OK(cuDriverGetVersion(&version));
	if (version < 13000)
		skip("the driver does not tell");
	for (unsigned i = 0; i < CU_ATOMIC_OPERATION_MAX; i++)
		operations[i] = (CUatomicOperation)i;
	OK(cuDeviceGetHostAtomicCapabilities(found, operations,
					     CU_ATOMIC_OPERATION_MAX, device));
	OK(cuDeviceGetAttribute(
	    &native, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, device));
	OK(cuDeviceGetAttribute(
	    &partial,
	    CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED,
	    device));
	EQUAL(is_any(), native || partial);
	EXPECT(cuDeviceGetHostAtomicCapabilities(found, operations, 0, device),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDeviceGetHostAtomicCapabilities(found, &none, 1, device),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDeviceGetHostAtomicCapabilities(found, operations, 1, -5),
	       CUDA_ERROR_INVALID_DEVICE);

	OK(cuDeviceGetCount(&count));
	EXPECT(cuDeviceGetP2PAtomicCapabilities(found, operations, 1, device,
						device),
	       CUDA_ERROR_INVALID_DEVICE);
	for (int other = 1; other < count; other++) {
		OK(cuDeviceGetP2PAtomicCapabilities(
		    found, operations, CU_ATOMIC_OPERATION_MAX, device, other));
		OK(cuDeviceGetP2PAttribute(
		    &native, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
		    device, other));
		OK(cuDeviceGetP2PAttribute(
		    &partial,
		    CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED,
		    device, other));
		EQUAL(is_any(), native || partial);
		if (native && !(found[CU_ATOMIC_OPERATION_INTEGER_ADD] &
				CU_ATOMIC_CAPABILITY_SCALAR_32))
			WRONG("no 32-bit addition: %#x", found[0]);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_atomic.c - reports which atomic operations a link between devices, or
 * between a device and the host, supports natively. PCIe supports none of them.
 * NVLink supports all that kernels can use (PTX ISA, "atom").
 */
#include "fronts/cuda/context/front.h"

/*
 * The variants of an operation. 128-bit variants need compute capability 9.0.
 */
#define INTEGER                                                                \
	(CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED |         \
	 CU_ATOMIC_CAPABILITY_REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32 |     \
	 CU_ATOMIC_CAPABILITY_SCALAR_64)
#define COUNTING                                                               \
	(CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_REDUCTION |      \
	 CU_ATOMIC_CAPABILITY_SCALAR_32)
#define BITS                                                                   \
	(CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_REDUCTION |      \
	 CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64)
#define WHOLE                                                                  \
	(CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_SCALAR_32 |      \
	 CU_ATOMIC_CAPABILITY_SCALAR_64 | CU_ATOMIC_CAPABILITY_SCALAR_128)
#define FLOATING                                                               \
	(CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_REDUCTION |        \
	 CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64 |     \
	 CU_ATOMIC_CAPABILITY_VECTOR_32x4)

static const unsigned on_nvlink[CU_ATOMIC_OPERATION_MAX] = {
    [CU_ATOMIC_OPERATION_INTEGER_ADD] = INTEGER,
    [CU_ATOMIC_OPERATION_INTEGER_MIN] = INTEGER,
    [CU_ATOMIC_OPERATION_INTEGER_MAX] = INTEGER,
    [CU_ATOMIC_OPERATION_INTEGER_INCREMENT] = COUNTING,
    [CU_ATOMIC_OPERATION_INTEGER_DECREMENT] = COUNTING,
    [CU_ATOMIC_OPERATION_AND] = BITS,
    [CU_ATOMIC_OPERATION_OR] = BITS,
    [CU_ATOMIC_OPERATION_XOR] = BITS,
    [CU_ATOMIC_OPERATION_EXCHANGE] = WHOLE,
    [CU_ATOMIC_OPERATION_CAS] = WHOLE,
    [CU_ATOMIC_OPERATION_FLOAT_ADD] = FLOATING,
};

#define SINCE_HOPPER                                                           \
	(CU_ATOMIC_CAPABILITY_SCALAR_128 | CU_ATOMIC_CAPABILITY_VECTOR_32x4)

static bool is_hopper(const struct cuda_device *d)
{
	int major = 0;

	device_attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
			 &major);
	return major >= 9;
}

static CUresult tell_capabilities(unsigned *capabilities,
				  const CUatomicOperation *operations,
				  unsigned count, unsigned mask)
{
	if (!capabilities || !operations || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count; i++)
		if ((unsigned)operations[i] >= CU_ATOMIC_OPERATION_MAX)
			return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count; i++)
		capabilities[i] = on_nvlink[operations[i]] & mask;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned int *capabilities,
					   const CUatomicOperation *operations,
					   unsigned int count, CUdevice dev)
{
	const struct cuda_device *d;
	int native = 0;

	ENTER(cuDeviceGetHostAtomicCapabilities);
	d = front_device(dev);
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	device_attribute(d, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED,
			 &native);
	return tell_capabilities(capabilities, operations, count,
				 native ? ~0u : 0);
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int *capabilities,
					  const CUatomicOperation *operations,
					  unsigned int count,
					  CUdevice srcDevice,
					  CUdevice dstDevice)
{
	const struct cuda_device *d, *other;
	unsigned mask;

	ENTER(cuDeviceGetP2PAtomicCapabilities);
	d = front_device(srcDevice);
	other = front_device(dstDevice);
	if (!d || !other || d == other)
		return CUDA_ERROR_INVALID_DEVICE;
	mask = device_is_linked(d, other) ? ~0u : 0;
	if (!is_hopper(d) || !is_hopper(other))
		mask &= ~(unsigned)SINCE_HOPPER;
	return tell_capabilities(capabilities, operations, count, mask);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * properties.c - defines cudaGetDeviceProperties, which returns the attributes
 * of a device as a struct, and cudaChooseDevice, which finds the device that
 * matches such a struct best.
 */
#include "fronts/cudart/runtime.h"

#include <string.h>

/* Returns 0 for an attribute that the driver does not know. */
static int attribute_or_zero(int device, CUdevice_attribute which)
{
	int value = 0;

	return legacy->cuDeviceGetAttribute(&value, which, device) ? 0 : value;
}

static CUresult describe_device(struct cudaDeviceProp *p, int device)
{
	CUresult r;

	memset(p, 0, sizeof *p);
	r = legacy->cuDeviceGetName(p->name, sizeof p->name, device);
	if (!r)
		r = legacy->cuDeviceTotalMem_v2(&p->totalGlobalMem, device);
	if (!r)
		r = legacy->cuDeviceGetUuid_v2(&p->uuid, device);
#define PROPERTY(field, which)                                                 \
	p->field = (__typeof__(p->field))attribute_or_zero(                    \
	    device, CU_DEVICE_ATTRIBUTE_##which);
#include "fronts/cudart/properties.def"
#undef PROPERTY
	return r;
}

/* Writes the first `size` bytes: the caller's struct may be an older one. */
static cudaError_t read_properties(void *prop, size_t size, int device)
{
	struct cudaDeviceProp p;

	ENTER();
	REQUIRE(prop, cudaErrorInvalidValue);
	REQUIRE(device >= 0 && device < cudart_device_count,
		cudaErrorInvalidDevice);
	TRY(runtime_result(describe_device(&p, device)));
	memcpy(prop, &p, size);
	return cudaSuccess;
}

#if CUDART_MAJOR == 12
/* The struct of CUDA 11 ends here. */
#define OLD_SIZE offsetof(struct cudaDeviceProp, hostRegisterSupported)
_Static_assert(OLD_SIZE == 728, "cudaDeviceProp of CUDA 11");

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	return read_properties(prop, OLD_SIZE, device);
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device)
{
	return read_properties(prop, sizeof *prop, device);
}
#else
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	return read_properties(prop, sizeof *prop, device);
}
#endif

/* Counts the requested properties that a device has; 0 means "not requested".
 */
static int count_matches(const struct cudaDeviceProp *want,
			 const struct cudaDeviceProp *have)
{
	int points = 0;

	points += want->name[0] && !strcmp(want->name, have->name);
	points += want->major &&
		  (have->major > want->major ||
		   (have->major == want->major && have->minor >= want->minor));
#define AT_LEAST(field) points += want->field && have->field >= want->field
	AT_LEAST(totalGlobalMem);
	AT_LEAST(sharedMemPerBlock);
	AT_LEAST(regsPerBlock);
	AT_LEAST(maxThreadsPerBlock);
	AT_LEAST(totalConstMem);
	AT_LEAST(multiProcessorCount);
	AT_LEAST(managedMemory);
	AT_LEAST(concurrentKernels);
#undef AT_LEAST
	return points;
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
	int best = 0, most = -1;

	ENTER();
	REQUIRE(device && prop, cudaErrorInvalidValue);
	for (int i = 0; i < cudart_device_count; i++) {
		struct cudaDeviceProp p;
		int points;

		TRY(runtime_result(describe_device(&p, i)));
		points = count_matches(prop, &p);
		if (points > most) {
			most = points;
			best = i;
		}
	}
	*device = best;
	return cudaSuccess;
}

/*
 * properties.c - cudaGetDeviceProperties: the attributes of a device in one
 * struct, and the device that fits such a struct best.
 */
#include "fronts/cudart/runtime.h"

#include <string.h>

/* 0 for an attribute that the driver is too old for. */
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

/* `size` is that of the caller's struct, of which a prefix is ours. */
static cudaError_t properties(void *prop, size_t size, int device)
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
	return properties(prop, OLD_SIZE, device);
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device)
{
	return properties(prop, sizeof *prop, device);
}
#else
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	return properties(prop, sizeof *prop, device);
}
#endif

/* How much of what is asked for a device has; what is 0 is not asked for. */
static int fit(const struct cudaDeviceProp *want,
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
		points = fit(prop, &p);
		if (points > most) {
			most = points;
			best = i;
		}
	}
	*device = best;
	return cudaSuccess;
}

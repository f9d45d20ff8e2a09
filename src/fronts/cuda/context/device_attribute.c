/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_attribute.c - the attributes of devices, one row each in
 * attribute.def; architecture.def has the values that depend only on the
 * compute capability.
 */
#include "fronts/cuda/context/front.h"
#include "fronts/cuda/generation.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/topology.h"
#include "machine/file/value.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/store/board.h"

#include <limits.h>

/*
 * The maximum number of elements of a one-dimensional texture in linear memory.
 */
#define TEXTURE1D_LINEAR (1 << 28)

int64_t device_clock_mhz(const struct gkf_profile *p)
{
	return p->cuda_clock_mhz ? p->cuda_clock_mhz : p->sm_clock_max_mhz;
}

struct architecture {
	int capability;
	int threads, blocks, shared, shared_block, reserved, fp64;
	int persisting, window, domains;
};

static const struct architecture architectures[] = {
#define ARCHITECTURE(...) {__VA_ARGS__},
#include "fronts/cuda/context/architecture.def"
#undef ARCHITECTURE
};

#define ARCHITECTURES (sizeof(architectures) / sizeof(*architectures))

/*
 * Returns the newest row that is not newer than the device; if there is none,
 * the oldest row.
 */
static const struct architecture *arch(const struct gkf_profile *p)
{
	int64_t capability = p->compute_major * 10 + p->compute_minor;
	size_t i = ARCHITECTURES - 1;

	while (i && architectures[i].capability > capability)
		i--;
	return &architectures[i];
}

static bool find_mig_instance(const struct cuda_device *d,
			      struct gkf_mig_gi *gi, struct gkf_mig_ci *ci)
{
	return d->instance != GKF_NO_INSTANCE &&
	       !gkf_mig_gi_read(cuda.machine, d->index,
				GKF_INSTANCE_GI(d->instance), gi) &&
	       !gkf_mig_ci_read(cuda.machine, d->index,
				GKF_INSTANCE_GI(d->instance),
				GKF_INSTANCE_CI(d->instance), ci);
}

/*
 * Returns a MIG instance's part of `whole`, which is divided by memory slices.
 */
static int64_t part_by_memory(const struct cuda_device *d, int64_t whole)
{
	struct gkf_mig_gi gi;
	struct gkf_mig_ci ci;

	return find_mig_instance(d, &gi, &ci)
		   ? whole / GKF_MIG_SLICES * gi.profile->memory_slices
		   : whole;
}

static int64_t l2_bytes(const struct cuda_device *d)
{
	return part_by_memory(d, d->board->profile.l2_kib * 1024);
}

static int64_t count_sms(const struct cuda_device *d)
{
	struct gkf_mig_gi gi;
	struct gkf_mig_ci ci;

	return find_mig_instance(d, &gi, &ci) ? (int64_t)ci.profile.sms
					      : d->board->profile.sm_count;
}

static int64_t copy_engines(const struct cuda_device *d)
{
	struct gkf_mig_gi gi;
	struct gkf_mig_ci ci;

	return find_mig_instance(d, &gi, &ci) ? (int64_t)gi.profile->copy
					      : d->board->profile.copy_engines;
}

/* Returns the machine's present value of a setting; 0 if it has none. */
static int64_t read_setting(const struct cuda_device *d, enum gkf_value id)
{
	int64_t value;

	return gkf_value_get(cuda.machine, d->index, id, &value) ? value : 0;
}

/* Attributes that came after CUDA 13.0; older drivers do not have them. */
static const struct later {
	int id;
	unsigned since;
	int value;
} later[] = {
    {CU_DEVICE_ATTRIBUTE_ATOMIC_REDUCTION_SUPPORTED, 13010, 1},
    {CU_DEVICE_ATTRIBUTE_D3D12_CIG_STREAMS_SUPPORTED, 13030, 0},
    {CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED, 13030, 0},
    {CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_SUPPORTED, 13030, 0},
    {CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_MULTICAST_SUPPORTED, 13030, 0},
    {CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED, 13030, 0},
    {CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED,
     13030, 0},
};

static bool later_attribute(int id, int *ret_value)
{
	for (size_t i = 0; i < sizeof later / sizeof *later; i++)
		if (later[i].id == id &&
		    later[i].since <= front_generation->cuda) {
			*ret_value = later[i].value;
			return true;
		}
	return false;
}

bool device_attribute(const struct cuda_device *d, CUdevice_attribute id,
		      int *ret_value)
{
	const struct gkf_board *b = d->board;
	const struct gkf_profile *p = &b->profile;
	int64_t value;

	switch (id) {
#define ATTRIBUTE(attribute, is)                                               \
	case CU_DEVICE_ATTRIBUTE_##attribute:                                  \
		value = (is);                                                  \
		break;
#include "fronts/cuda/context/attribute.def"
#undef ATTRIBUTE
	case CU_DEVICE_ATTRIBUTE_MAX:
	default:
		return later_attribute((int)id, ret_value);
	}
	*ret_value = (int)value;
	return true;
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
	const struct cuda_device *d;

	ENTER(cuDeviceGetAttribute);
	d = front_device(dev);
	if (!pi)
		return CUDA_ERROR_INVALID_VALUE;
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	return device_attribute(d, attrib, pi) ? CUDA_SUCCESS
					       : CUDA_ERROR_INVALID_VALUE;
}

static int get_device_attribute(const struct cuda_device *d,
				CUdevice_attribute id)
{
	int value = 0;

	device_attribute(d, id, &value);
	return value;
}

#define GET(id) get_device_attribute(d, CU_DEVICE_ATTRIBUTE_##id)

CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev)
{
	const struct cuda_device *d;

	ENTER(cuDeviceGetProperties);
	d = front_device(dev);
	if (!prop)
		return CUDA_ERROR_INVALID_VALUE;
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	*prop = (CUdevprop){
	    .maxThreadsPerBlock = GET(MAX_THREADS_PER_BLOCK),
	    .maxThreadsDim = {GET(MAX_BLOCK_DIM_X), GET(MAX_BLOCK_DIM_Y),
			      GET(MAX_BLOCK_DIM_Z)},
	    .maxGridSize = {GET(MAX_GRID_DIM_X), GET(MAX_GRID_DIM_Y),
			    GET(MAX_GRID_DIM_Z)},
	    .sharedMemPerBlock = GET(MAX_SHARED_MEMORY_PER_BLOCK),
	    .totalConstantMemory = GET(TOTAL_CONSTANT_MEMORY),
	    .SIMDWidth = GET(WARP_SIZE),
	    .memPitch = GET(MAX_PITCH),
	    .regsPerBlock = GET(MAX_REGISTERS_PER_BLOCK),
	    .clockRate = GET(CLOCK_RATE),
	    .textureAlign = GET(TEXTURE_ALIGNMENT),
	};
	return CUDA_SUCCESS;
}

/*
 * Returns the bytes of one channel; 0: textures in linear memory cannot use the
 * format.
 */
static unsigned format_size(CUarray_format format)
{
	switch ((int)format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
					    CUarray_format format,
					    unsigned numChannels, CUdevice dev)
{
	ENTER(cuDeviceGetTexture1DLinearMaxWidth);
	if (!maxWidthInElements || !format_size(format) ||
	    (numChannels != 1 && numChannels != 2 && numChannels != 4))
		return CUDA_ERROR_INVALID_VALUE;
	if (!front_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*maxWidthInElements = TEXTURE1D_LINEAR;
	return CUDA_SUCCESS;
}

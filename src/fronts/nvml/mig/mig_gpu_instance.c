/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_gpu_instance.c - reports the profiles and placements of GPU instances;
 * creates, finds and destroys them.
 */
#include "fronts/nvml/mig/mig_handle.h"
#include "fronts/nvml/permission.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/model/mig/mig.h"
#include "machine/model/mig/mig_rules.h"

#include <stdio.h>

/* How the GPU can be divided; NULL if it does not support MIG. */
static const struct gkf_mig_board *board_to_split(const struct call *c)
{
	return gkf_mig_board(&c->board->profile);
}

/* Finds the profile whose number (NVML_GPU_INSTANCE_PROFILE_...) is given. */
static nvmlReturn_t
profile_by_number(const struct call *c, unsigned number,
		  const struct gkf_mig_profile **ret_profile)
{
	const struct gkf_mig_board *board = board_to_split(c);

	if (number >= NVML_GPU_INSTANCE_PROFILE_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	*ret_profile = board ? gkf_mig_profile_by_number(board, number) : NULL;
	return *ret_profile ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

static nvmlReturn_t by_id(const struct call *c, unsigned id,
			  const struct gkf_mig_profile **ret_profile)
{
	const struct gkf_mig_board *board = board_to_split(c);

	*ret_profile = board ? gkf_mig_profile_by_id(board, id) : NULL;
	return *ret_profile ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

/* No profile supports P2P or graphics. */
#define COUNTS(p)                                                              \
	.id = (p)->id, .sliceCount = (p)->slices,                              \
	.instanceCount = (p)->instances, .multiprocessorCount = (p)->sms,      \
	.copyEngineCount = (p)->copy, .decoderCount = (p)->decoders,           \
	.encoderCount = (p)->encoders, .jpegCount = (p)->jpegs,                \
	.ofaCount = (p)->ofas, .memorySizeMB = (p)->memory_mib

nvmlReturn_t
nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned int profile,
				    nvmlGpuInstanceProfileInfo_t *info)
{
	const struct gkf_mig_profile *p;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetGpuInstanceProfileInfo, device, info != NULL);
	r = profile_by_number(&c, profile, &p);
	if (!r)
		*info = (nvmlGpuInstanceProfileInfo_t){COUNTS(p)};
	return r;
}

/* The version in the first word selects one of two layouts. */
static nvmlReturn_t give_profile_info(const struct gkf_mig_profile *p,
				      void *info)
{
	nvmlGpuInstanceProfileInfo_v2_t *v2 = info;
	nvmlGpuInstanceProfileInfo_v3_t *v3 = info;
	unsigned version = *(const unsigned *)info;

	if (TAKES(version, nvmlGpuInstanceProfileInfo_v2)) {
		*v2 = (nvmlGpuInstanceProfileInfo_v2_t){.version = version,
							COUNTS(p)};
		snprintf(v2->name, sizeof v2->name, "MIG %s", p->name);
		return NVML_SUCCESS;
	}
	if (!TAKES(version, nvmlGpuInstanceProfileInfo_v3))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	*v3 = (nvmlGpuInstanceProfileInfo_v3_t){.version = version, COUNTS(p)};
	snprintf(v3->name, sizeof v3->name, "MIG %s", p->name);
	return NVML_SUCCESS;
}

nvmlReturn_t
nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, unsigned int profile,
				     nvmlGpuInstanceProfileInfo_v2_t *info)
{
	const struct gkf_mig_profile *p;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetGpuInstanceProfileInfoV, device,
		     info != NULL);
	r = profile_by_number(&c, profile, &p);
	return r ? r : give_profile_info(p, info);
}

nvmlReturn_t
nvmlDeviceGetGpuInstanceProfileInfoByIdV(nvmlDevice_t device,
					 unsigned int profileId,
					 nvmlGpuInstanceProfileInfo_v2_t *info)
{
	const struct gkf_mig_profile *p;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetGpuInstanceProfileInfoByIdV, device,
		     info != NULL);
	r = by_id(&c, profileId, &p);
	return r ? r : give_profile_info(p, info);
}

/* Finds a profile by id. NO_PERMISSION if the caller may not change the
 * machine. */
static nvmlReturn_t
find_gi_profile_privileged(const struct call *c, unsigned id,
			   const struct gkf_mig_profile **ret_profile)
{
	nvmlReturn_t r = by_id(c, id, ret_profile);

	return r ? r : front_permit(c);
}

/* All possible placements, used or free. */
static void give_places(const struct gkf_mig_profile *p,
			nvmlGpuInstancePlacement_t *places, unsigned *count)
{
	unsigned n = 0;

	for (unsigned s = 0; s < GKF_MIG_SLICES; s++) {
		if (!(p->placements >> s & 1))
			continue;
		if (places)
			places[n] = (nvmlGpuInstancePlacement_t){
			    .start = s, .size = p->memory_slices};
		n++;
	}
	*count = n;
}

nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements(
    nvmlDevice_t device, unsigned int profileId,
    nvmlGpuInstancePlacement_t *placements, unsigned int *count)
{
	const struct gkf_mig_profile *p;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetGpuInstancePossiblePlacements, device,
		     placements && count);
	r = find_gi_profile_privileged(&c, profileId, &p);
	if (!r)
		give_places(p, placements, count);
	return r;
}

nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(
    nvmlDevice_t device, unsigned int profileId,
    nvmlGpuInstancePlacement_t *placements, unsigned int *count)
{
	const struct gkf_mig_profile *p;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetGpuInstancePossiblePlacements_v2, device,
		     count != NULL);
	r = find_gi_profile_privileged(&c, profileId, &p);
	if (!r)
		give_places(p, placements, count);
	return r;
}

/* Like find_gi_profile_privileged(), but returns NOT_SUPPORTED unless the GPU
 * is in MIG mode. */
static nvmlReturn_t privileged_split(const struct call *c, unsigned id,
				     const struct gkf_mig_profile **ret_profile)
{
	return is_split(c) ? find_gi_profile_privileged(c, id, ret_profile)
			   : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceRemainingCapacity(nvmlDevice_t device,
						       unsigned int profileId,
						       unsigned int *count)
{
	const struct gkf_mig_profile *p;
	struct gkf_mig_use use;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetGpuInstanceRemainingCapacity, device,
		     count != NULL);
	r = privileged_split(&c, profileId, &p);
	if (r)
		return r;
	gkf_mig_use(c.machine, c.index, &use);
	*count = gkf_mig_capacity(p, &use);
	return NVML_SUCCESS;
}

/* INSUFFICIENT_RESOURCES if the instance does not fit. */
static nvmlReturn_t create_gpu_instance(const struct call *c, unsigned id,
					int start,
					nvmlGpuInstance_t *ret_handle)
{
	struct gkf_mig_gi gi;
	nvmlReturn_t r;
	unsigned made;

	if (!board_to_split(c) || !is_split(c))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!front_may_change(c))
		return NVML_ERROR_NO_PERMISSION;
	r = mig_error(
	    gkf_mig_gi_create(c->machine, c->index, id, start, &made));
	if (!r)
		r = mig_error(gkf_mig_gi_read(c->machine, c->index, made, &gi));
	return r ? r : mig_give_gi(c, &gi, ret_handle);
}

nvmlReturn_t nvmlDeviceCreateGpuInstance(nvmlDevice_t device,
					 unsigned int profileId,
					 nvmlGpuInstance_t *gpuInstance)
{
	ENTER_DEVICE(nvmlDeviceCreateGpuInstance, device, gpuInstance != NULL);
	return create_gpu_instance(&c, profileId, GKF_MIG_ANYWHERE,
				   gpuInstance);
}

nvmlReturn_t nvmlDeviceCreateGpuInstanceWithPlacement(
    nvmlDevice_t device, unsigned int profileId,
    const nvmlGpuInstancePlacement_t *placement, nvmlGpuInstance_t *gpuInstance)
{
	const struct gkf_mig_profile *p;

	ENTER_DEVICE(nvmlDeviceCreateGpuInstanceWithPlacement, device,
		     placement && gpuInstance);
	if (!by_id(&c, profileId, &p) && (placement->start >= GKF_MIG_SLICES ||
					  placement->size != p->memory_slices))
		return NVML_ERROR_INVALID_ARGUMENT;
	return create_gpu_instance(&c, profileId,
				   (int)(placement->start % GKF_MIG_SLICES),
				   gpuInstance);
}

nvmlReturn_t nvmlGpuInstanceDestroy(nvmlGpuInstance_t gpuInstance)
{
	ENTER_GI(nvmlGpuInstanceDestroy, gpuInstance, true);
	if (!front_may_change(&c))
		return NVML_ERROR_NO_PERMISSION;
	return mig_error(
	    gkf_mig_gi_destroy(c.machine, c.index, gi.id, gi.life));
}

nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device,
				       unsigned int profileId,
				       nvmlGpuInstance_t *gpuInstances,
				       unsigned int *count)
{
	const struct gkf_mig_profile *p;
	struct gkf_mig_gi gi;
	nvmlReturn_t r;
	unsigned n = 0;

	ENTER_DEVICE(nvmlDeviceGetGpuInstances, device, gpuInstances && count);
	r = privileged_split(&c, profileId, &p);
	/* The caller's array has as many entries as the profile allows
	 * instances. */
	for (unsigned i = 0; !r && i < GKF_MIG_GIS && n < p->instances; i++)
		if (!gkf_mig_gi_read(c.machine, c.index, i, &gi) &&
		    gi.profile == p)
			r = mig_give_gi(&c, &gi, &gpuInstances[n++]);
	if (!r)
		*count = n;
	return r;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned int id,
					  nvmlGpuInstance_t *gpuInstance)
{
	struct gkf_mig_gi gi;

	ENTER_DEVICE(nvmlDeviceGetGpuInstanceById, device, gpuInstance != NULL);
	if (!is_split(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!front_may_change(&c))
		return NVML_ERROR_NO_PERMISSION;
	if (gkf_mig_gi_read(c.machine, c.index, id, &gi))
		return NVML_ERROR_NOT_FOUND;
	return mig_give_gi(&c, &gi, gpuInstance);
}

nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t gpuInstance,
				    nvmlGpuInstanceInfo_t *info)
{
	ENTER_GI(nvmlGpuInstanceGetInfo, gpuInstance, info != NULL);
	*info = (nvmlGpuInstanceInfo_t){
	    .device = &front_handles[c.index],
	    .id = gi.id,
	    .profileId = gi.profile->id,
	    .placement = {.start = gi.start, .size = gi.profile->memory_slices},
	};
	return NVML_SUCCESS;
}

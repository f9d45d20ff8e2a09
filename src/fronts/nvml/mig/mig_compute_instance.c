/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_compute_instance.c - reports the profiles and placements of compute
 * instances; creates, finds and destroys them.
 */
#include "base/err.h"
#include "fronts/nvml/mig/mig_handle.h"
#include "fronts/nvml/permission.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/model/mig/mig.h"
#include "machine/model/mig/mig_rules.h"

#include <stdio.h>
#include <string.h>

/* A compute profile's number in NVML is also its id. */
static nvmlReturn_t find_compute_profile(const struct call *c,
					 const struct gkf_mig_gi *gi,
					 unsigned number,
					 struct gkf_mig_ci_profile *ret_profile)
{
	const struct gkf_mig_board *board = gkf_mig_board(&c->board->profile);

	if (number >= NVML_COMPUTE_INSTANCE_PROFILE_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	return board && gkf_mig_ci_profile(board, gi->profile, number,
					   ret_profile)
		   ? NVML_SUCCESS
		   : NVML_ERROR_NOT_SUPPORTED;
}

/* All compute instances of a GPU instance share its engines. */
#define COUNTS(p, of)                                                          \
	.id = (p).number, .sliceCount = (p).slices,                            \
	.instanceCount = (p).instances, .multiprocessorCount = (p).sms,        \
	.sharedCopyEngineCount = (of)->copy,                                   \
	.sharedDecoderCount = (of)->decoders,                                  \
	.sharedEncoderCount = (of)->encoders, .sharedJpegCount = (of)->jpegs,  \
	.sharedOfaCount = (of)->ofas

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfo(
    nvmlGpuInstance_t gpuInstance, unsigned int profile,
    unsigned int engProfile, nvmlComputeInstanceProfileInfo_t *info)
{
	struct gkf_mig_ci_profile p;
	nvmlReturn_t r;

	ENTER_GI(nvmlGpuInstanceGetComputeInstanceProfileInfo, gpuInstance,
		 info &&
		     engProfile < NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT);
	r = find_compute_profile(&c, &gi, profile, &p);
	if (!r)
		*info =
		    (nvmlComputeInstanceProfileInfo_t){COUNTS(p, gi.profile)};
	return r;
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfoV(
    nvmlGpuInstance_t gpuInstance, unsigned int profile,
    unsigned int engProfile, nvmlComputeInstanceProfileInfo_v2_t *info)
{
	nvmlComputeInstanceProfileInfo_v3_t *v3;
	struct gkf_mig_ci_profile p;
	nvmlReturn_t r;
	unsigned version;

	ENTER_GI(nvmlGpuInstanceGetComputeInstanceProfileInfoV, gpuInstance,
		 info &&
		     engProfile < NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT);
	r = find_compute_profile(&c, &gi, profile, &p);
	if (r)
		return r;
	version = info->version;
	if (TAKES(version, nvmlComputeInstanceProfileInfo_v2)) {
		*info = (nvmlComputeInstanceProfileInfo_v2_t){
		    .version = version, COUNTS(p, gi.profile)};
		snprintf(info->name, sizeof info->name, "MIG %s", p.name);
		return NVML_SUCCESS;
	}
	if (!TAKES(version, nvmlComputeInstanceProfileInfo_v3))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	v3 = (nvmlComputeInstanceProfileInfo_v3_t *)(void *)info;
	*v3 = (nvmlComputeInstanceProfileInfo_v3_t){.version = version,
						    COUNTS(p, gi.profile)};
	snprintf(v3->name, sizeof v3->name, "MIG %s", p.name);
	return NVML_SUCCESS;
}

static nvmlReturn_t
find_ci_profile_privileged(const struct call *c, const struct gkf_mig_gi *gi,
			   unsigned number,
			   struct gkf_mig_ci_profile *ret_profile)
{
	nvmlReturn_t r = find_compute_profile(c, gi, number, ret_profile);

	return r ? r : front_permit(c);
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstancePossiblePlacements(
    nvmlGpuInstance_t gpuInstance, unsigned int profileId,
    nvmlComputeInstancePlacement_t *placements, unsigned int *count)
{
	struct gkf_mig_ci_profile p;
	nvmlReturn_t r;
	unsigned n = 0;

	ENTER_GI(nvmlGpuInstanceGetComputeInstancePossiblePlacements,
		 gpuInstance, count != NULL);
	r = find_ci_profile_privileged(&c, &gi, profileId, &p);
	if (r)
		return r;
	for (unsigned s = 0; s < GKF_MIG_SLICES; s++) {
		if (!(p.placements >> s & 1))
			continue;
		if (placements)
			placements[n] = (nvmlComputeInstancePlacement_t){
			    .start = s, .size = p.slices};
		n++;
	}
	*count = n;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceRemainingCapacity(
    nvmlGpuInstance_t gpuInstance, unsigned int profileId, unsigned int *count)
{
	struct gkf_mig_ci_profile p;
	nvmlReturn_t r;

	ENTER_GI(nvmlGpuInstanceGetComputeInstanceRemainingCapacity,
		 gpuInstance, count != NULL);
	r = find_ci_profile_privileged(&c, &gi, profileId, &p);
	if (!r)
		*count = gkf_mig_ci_capacity(c.machine, c.index, &gi, &p);
	return r;
}

static nvmlReturn_t create_compute_instance(const struct call *c,
					    const struct gkf_mig_gi *gi,
					    unsigned number, int start,
					    nvmlComputeInstance_t *ret_handle)
{
	struct gkf_mig_ci_profile p;
	struct gkf_mig_ci ci;
	unsigned made;
	nvmlReturn_t r = find_ci_profile_privileged(c, gi, number, &p);

	if (!r)
		r = mig_error(gkf_mig_ci_create(c->machine, c->index, gi->id,
						gi->life, number, start,
						&made));
	if (!r)
		r = mig_error(
		    gkf_mig_ci_read(c->machine, c->index, gi->id, made, &ci));
	return r ? r : mig_give_ci(c, &ci, ret_handle);
}

nvmlReturn_t
nvmlGpuInstanceCreateComputeInstance(nvmlGpuInstance_t gpuInstance,
				     unsigned int profileId,
				     nvmlComputeInstance_t *computeInstance)
{
	ENTER_GI(nvmlGpuInstanceCreateComputeInstance, gpuInstance,
		 computeInstance != NULL);
	return create_compute_instance(&c, &gi, profileId, GKF_MIG_ANYWHERE,
				       computeInstance);
}

nvmlReturn_t nvmlGpuInstanceCreateComputeInstanceWithPlacement(
    nvmlGpuInstance_t gpuInstance, unsigned int profileId,
    const nvmlComputeInstancePlacement_t *placement,
    nvmlComputeInstance_t *computeInstance)
{
	struct gkf_mig_ci_profile p;

	ENTER_GI(nvmlGpuInstanceCreateComputeInstanceWithPlacement, gpuInstance,
		 placement && computeInstance);
	if (!find_compute_profile(&c, &gi, profileId, &p) &&
	    (placement->start >= GKF_MIG_SLICES || placement->size != p.slices))
		return NVML_ERROR_INVALID_ARGUMENT;
	return create_compute_instance(&c, &gi, profileId,
				       (int)(placement->start % GKF_MIG_SLICES),
				       computeInstance);
}

nvmlReturn_t nvmlComputeInstanceDestroy(nvmlComputeInstance_t computeInstance)
{
	ENTER_CI(nvmlComputeInstanceDestroy, computeInstance, true);
	if (!front_may_change(&c))
		return NVML_ERROR_NO_PERMISSION;
	return mig_error(
	    gkf_mig_ci_destroy(c.machine, c.index, ci.gi, ci.id, ci.life));
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstances(
    nvmlGpuInstance_t gpuInstance, unsigned int profileId,
    nvmlComputeInstance_t *computeInstances, unsigned int *count)
{
	struct gkf_mig_ci_profile p;
	struct gkf_mig_ci ci;
	nvmlReturn_t r;
	unsigned n = 0;

	ENTER_GI(nvmlGpuInstanceGetComputeInstances, gpuInstance,
		 computeInstances && count);
	r = find_ci_profile_privileged(&c, &gi, profileId, &p);
	/* The caller's array has as many entries as the profile allows
	 * instances. */
	for (unsigned i = 0; !r && i < GKF_MIG_CIS && n < p.instances; i++)
		if (!gkf_mig_ci_read(c.machine, c.index, gi.id, i, &ci) &&
		    ci.profile.number == p.number)
			r = mig_give_ci(&c, &ci, &computeInstances[n++]);
	if (!r)
		*count = n;
	return r;
}

nvmlReturn_t
nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t gpuInstance,
				      unsigned int id,
				      nvmlComputeInstance_t *computeInstance)
{
	struct gkf_mig_ci ci;

	ENTER_GI(nvmlGpuInstanceGetComputeInstanceById, gpuInstance,
		 computeInstance != NULL);
	if (!front_may_change(&c))
		return NVML_ERROR_NO_PERMISSION;
	if (gkf_mig_ci_read(c.machine, c.index, gi.id, id, &ci))
		return NVML_ERROR_NOT_FOUND;
	return mig_give_ci(&c, &ci, computeInstance);
}

/* Writes the first `size` bytes of the struct. */
static nvmlReturn_t give_info(const struct call *c, const struct gkf_mig_ci *ci,
			      size_t size, nvmlComputeInstanceInfo_t *ret_info)
{
	nvmlComputeInstanceInfo_t info = {
	    .device = &front_handles[c->index],
	    .id = ci->id,
	    .profileId = ci->profile.number,
	    .placement = {.start = ci->start, .size = ci->profile.slices},
	};
	struct gkf_mig_gi gi;
	nvmlReturn_t r =
	    mig_error(gkf_mig_gi_read(c->machine, c->index, ci->gi, &gi));

	if (!r)
		r = mig_give_gi(c, &gi, &info.gpuInstance);
	if (!r)
		memcpy(ret_info, &info, size);
	return r;
}

/* The size of the first version's struct. */
#define INFO_V1 offsetof(nvmlComputeInstanceInfo_t, placement)

nvmlReturn_t nvmlComputeInstanceGetInfo(nvmlComputeInstance_t computeInstance,
					nvmlComputeInstanceInfo_t *info)
{
	ENTER_CI(nvmlComputeInstanceGetInfo, computeInstance, info != NULL);
	return give_info(&c, &ci, INFO_V1, info);
}

nvmlReturn_t
nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t computeInstance,
			      nvmlComputeInstanceInfo_t *info)
{
	ENTER_CI(nvmlComputeInstanceGetInfo_v2, computeInstance, info != NULL);
	return give_info(&c, &ci, sizeof *info, info);
}

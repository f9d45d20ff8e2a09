/* SPDX-License-Identifier: Apache-2.0 */
/* mig.c - reads profiles and instances of split GPUs. */
#include "cli/smi/mig.h"

#include <stdio.h>
#include <stdlib.h>

bool smi_mig_mode(const struct smi_gpus *gpus, const struct smi_gpu *gpu,
		  bool *ret_on)
{
	unsigned now = 0, later;
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlDeviceGetMigMode, gpu->handle, &now, &later);

	*ret_on = !r && now == NVML_DEVICE_MIG_ENABLE;
	return !r;
}

/* ---- profiles ---- */

/* The driver says "MIG 1g.10gb". */
static void copy_name(struct smi_profile *p, const char *name)
{
	if (!strncmp(name, "MIG ", 4))
		name += 4;
	gk_str_clean(p->name, sizeof p->name, name, strlen(name));
}

/* Members that both kinds of struct have. */
#define SLICES(info)                                                           \
	.id = (info).id, .slices = (info).sliceCount,                          \
	.instances = (info).instanceCount, .sms = (info).multiprocessorCount

#define GI_COUNTS(info)                                                        \
	SLICES(info),                                                          \
	    .copy = (info).copyEngineCount, .decoders = (info).decoderCount,   \
	    .encoders = (info).encoderCount, .jpegs = (info).jpegCount,        \
	    .ofas = (info).ofaCount, .p2p = (info).isP2pSupported,             \
	    .memory_mib = (info).memorySizeMB

#define CI_COUNTS(info)                                                        \
	SLICES(info), .copy = (info).sharedCopyEngineCount,                    \
		      .decoders = (info).sharedDecoderCount,                   \
		      .encoders = (info).sharedEncoderCount,                   \
		      .jpegs = (info).sharedJpegCount,                         \
		      .ofas = (info).sharedOfaCount

/* Drivers before 510 tell no names, which follow from slices and memory. */
static bool read_gi_profile(const struct smi_gpus *gpus, nvmlDevice_t device,
			    unsigned number, struct smi_profile *ret_profile)
{
	nvmlGpuInstanceProfileInfo_v2_t named = {
	    .version = nvmlGpuInstanceProfileInfo_v2};
	nvmlGpuInstanceProfileInfo_t plain;

	if (!SMI_NVML(gpus, nvmlDeviceGetGpuInstanceProfileInfoV, device,
		      number, &named)) {
		*ret_profile = (struct smi_profile){GI_COUNTS(named)};
		copy_name(ret_profile, named.name);
		return true;
	}
	if (SMI_NVML(gpus, nvmlDeviceGetGpuInstanceProfileInfo, device, number,
		     &plain))
		return false;
	*ret_profile = (struct smi_profile){GI_COUNTS(plain)};
	snprintf(ret_profile->name, sizeof ret_profile->name, "%ug.%llugb",
		 plain.sliceCount, (plain.memorySizeMB + 1023) / 1024);
	return true;
}

static bool read_ci_profile(const struct smi_gpus *gpus,
			    const struct smi_instance *gi, unsigned number,
			    struct smi_profile *ret_profile)
{
	nvmlComputeInstanceProfileInfo_v2_t named = {
	    .version = nvmlComputeInstanceProfileInfo_v2};
	nvmlComputeInstanceProfileInfo_t plain;
	char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];

	if (!SMI_NVML(gpus, nvmlGpuInstanceGetComputeInstanceProfileInfoV,
		      gi->gi, number,
		      NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED, &named)) {
		*ret_profile = (struct smi_profile){CI_COUNTS(named)};
		copy_name(ret_profile, named.name);
		return true;
	}
	if (SMI_NVML(gpus, nvmlGpuInstanceGetComputeInstanceProfileInfo, gi->gi,
		     number, NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED,
		     &plain))
		return false;
	*ret_profile = (struct smi_profile){CI_COUNTS(plain)};
	if (plain.sliceCount == gi->profile->slices)
		snprintf(name, sizeof name, "%s", gi->profile->name);
	else
		snprintf(name, sizeof name, "%uc.%s", plain.sliceCount,
			 gi->profile->name);
	copy_name(ret_profile, name);
	return true;
}

void smi_gi_profiles(const struct smi_gpus *gpus, const struct smi_gpu *gpu,
		     struct smi_profiles *ret_profiles)
{
	struct smi_profile p;

	ret_profiles->count = 0;
	for (unsigned n = 0; n < NVML_GPU_INSTANCE_PROFILE_COUNT; n++) {
		if (!read_gi_profile(gpus, gpu->handle, n, &p))
			continue;
		p.number = n;
		ret_profiles->at[ret_profiles->count++] = p;
	}
}

void smi_ci_profiles(const struct smi_gpus *gpus, const struct smi_instance *gi,
		     struct smi_profiles *ret_profiles)
{
	struct smi_profile p;

	ret_profiles->count = 0;
	for (unsigned n = 0; n < NVML_COMPUTE_INSTANCE_PROFILE_COUNT; n++) {
		if (!read_ci_profile(gpus, gi, n, &p))
			continue;
		p.number = n;
		ret_profiles->at[ret_profiles->count++] = p;
	}
}

/* ---- instances ---- */

static bool is_listed(const char *ids, unsigned id)
{
	return !ids || smi_names(ids, id, "", "");
}

/* Inserts an instance by its id among those of its profile. */
static void add_instance(struct smi_instances *list,
			 const struct smi_instance *instance)
{
	size_t at = list->count;

	if (list->count == SMI_INSTANCES_MAX)
		return;
	for (; at > 0 && list->at[at - 1].profile == instance->profile &&
	       list->at[at - 1].id > instance->id;
	     at--)
		list->at[at] = list->at[at - 1];
	list->at[at] = *instance;
	list->count++;
}

nvmlReturn_t smi_gis(const struct smi_gpus *gpus, const struct smi_gpu *gpu,
		     const struct smi_profiles *profiles, const char *ids,
		     struct smi_instances *ret_instances)
{
	nvmlReturn_t r = NVML_SUCCESS;

	ret_instances->count = 0;
	for (size_t i = 0; !r && i < profiles->count; i++) {
		nvmlGpuInstance_t found[SMI_INSTANCES_MAX];
		nvmlGpuInstanceInfo_t info;
		unsigned count = 0;

		r = SMI_NVML(gpus, nvmlDeviceGetGpuInstances, gpu->handle,
			     profiles->at[i].id, found, &count);
		for (unsigned k = 0; !r && k < count; k++) {
			r = SMI_NVML(gpus, nvmlGpuInstanceGetInfo, found[k],
				     &info);
			if (!r && is_listed(ids, info.id))
				add_instance(ret_instances,
					     &(struct smi_instance){
						 .profile = &profiles->at[i],
						 .id = info.id,
						 .start = info.placement.start,
						 .size = info.placement.size,
						 .gi = found[k]});
		}
	}
	return r;
}

nvmlReturn_t smi_cis(const struct smi_gpus *gpus, const struct smi_instance *gi,
		     const struct smi_profiles *profiles, const char *ids,
		     struct smi_instances *ret_instances)
{
	nvmlReturn_t r = NVML_SUCCESS;

	ret_instances->count = 0;
	for (size_t i = 0; !r && i < profiles->count; i++) {
		nvmlComputeInstance_t found[SMI_INSTANCES_MAX];
		nvmlComputeInstanceInfo_t info;
		unsigned count = 0;

		r = SMI_NVML(gpus, nvmlGpuInstanceGetComputeInstances, gi->gi,
			     profiles->at[i].id, found, &count);
		for (unsigned k = 0; !r && k < count; k++) {
			r = SMI_NVML(gpus, nvmlComputeInstanceGetInfo_v2,
				     found[k], &info);
			if (!r && is_listed(ids, info.id))
				add_instance(ret_instances,
					     &(struct smi_instance){
						 .profile = &profiles->at[i],
						 .id = info.id,
						 .start = info.placement.start,
						 .size = info.placement.size,
						 .gi = gi->gi,
						 .ci = found[k]});
		}
	}
	return r;
}

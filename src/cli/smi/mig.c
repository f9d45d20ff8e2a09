/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig.c - reads the profiles and instances of split GPUs, and runs a subcommand
 * of `mig` on each GPU.
 */
#include "cli/smi/mig.h"

#include <stdio.h>
#include <stdlib.h>

nvmlReturn_t smi_mig_mode(const struct smi_gpus *gpus,
			  const struct smi_gpu *gpu, bool *ret_on)
{
	unsigned now = 0, later;
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlDeviceGetMigMode, gpu->handle, &now, &later);

	*ret_on = !r && now == NVML_DEVICE_MIG_ENABLE;
	return smi_is_absent(r) ? NVML_ERROR_NOT_SUPPORTED : r;
}

/* ---- profiles ---- */

/* Copies a profile's name, without the driver's prefix in "MIG 1g.10gb". */
static void copy_name(struct smi_profile *p, const char *name)
{
	if (!strncmp(name, "MIG ", 4))
		name += 4;
	gk_str_clean(p->name, sizeof p->name, name, strlen(name));
}

/* Members that the structs of GPU instances and compute instances both have. */
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

/*
 * Drivers before 510 do not report names. For these, makes the name from the
 * number of slices and the memory.
 */
static nvmlReturn_t read_gi_profile(const struct smi_mig *m, unsigned number,
				    struct smi_profile *ret_profile)
{
	nvmlGpuInstanceProfileInfo_v2_t named = {
	    .version = nvmlGpuInstanceProfileInfo_v2};
	nvmlGpuInstanceProfileInfo_t plain;
	nvmlReturn_t r;

	if (!SMI_NVML(m->gpus, nvmlDeviceGetGpuInstanceProfileInfoV,
		      m->gpu->handle, number, &named)) {
		*ret_profile = (struct smi_profile){GI_COUNTS(named)};
		copy_name(ret_profile, named.name);
		return NVML_SUCCESS;
	}
	r = SMI_NVML(m->gpus, nvmlDeviceGetGpuInstanceProfileInfo,
		     m->gpu->handle, number, &plain);
	if (r)
		return r;
	*ret_profile = (struct smi_profile){GI_COUNTS(plain)};
	snprintf(ret_profile->name, sizeof ret_profile->name, "%ug.%llugb",
		 plain.sliceCount, (plain.memorySizeMB + 1023) / 1024);
	return NVML_SUCCESS;
}

static nvmlReturn_t read_ci_profile(const struct smi_mig *m, unsigned number,
				    struct smi_profile *ret_profile)
{
	const struct smi_profile *whole = m->gi->profile;
	nvmlComputeInstanceProfileInfo_v2_t named = {
	    .version = nvmlComputeInstanceProfileInfo_v2};
	nvmlComputeInstanceProfileInfo_t plain;
	char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
	nvmlReturn_t r;

	if (!SMI_NVML(m->gpus, nvmlGpuInstanceGetComputeInstanceProfileInfoV,
		      m->gi->gi, number,
		      NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED, &named)) {
		*ret_profile = (struct smi_profile){CI_COUNTS(named)};
		copy_name(ret_profile, named.name);
		return NVML_SUCCESS;
	}
	r = SMI_NVML(m->gpus, nvmlGpuInstanceGetComputeInstanceProfileInfo,
		     m->gi->gi, number,
		     NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED, &plain);
	if (r)
		return r;
	*ret_profile = (struct smi_profile){CI_COUNTS(plain)};
	if (plain.sliceCount == whole->slices)
		snprintf(name, sizeof name, "%s", whole->name);
	else
		snprintf(name, sizeof name, "%uc.%s", plain.sliceCount,
			 whole->name);
	copy_name(ret_profile, name);
	return NVML_SUCCESS;
}

/*
 * Whether the error means that there is no such profile: the board lacks it, or
 * it is newer than the driver.
 */
static bool lacks_profile(nvmlReturn_t r)
{
	return smi_is_absent(r) || r == NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t smi_mig_profiles(const struct smi_mig *m,
			      struct smi_profiles *ret_profiles)
{
	unsigned end = m->gi ? NVML_COMPUTE_INSTANCE_PROFILE_COUNT
			     : NVML_GPU_INSTANCE_PROFILE_COUNT;
	struct smi_profile p;

	ret_profiles->count = 0;
	for (unsigned n = 0; n < end; n++) {
		nvmlReturn_t r = m->gi ? read_ci_profile(m, n, &p)
				       : read_gi_profile(m, n, &p);

		if (lacks_profile(r))
			continue;
		if (r)
			return r;
		p.number = n;
		ret_profiles->at[ret_profiles->count++] = p;
	}
	return NVML_SUCCESS;
}

/* ---- instances ---- */

/* Reads the handles of a profile's instances. */
static nvmlReturn_t read_handles(const struct smi_mig *m,
				 const struct smi_profile *profile,
				 struct smi_instance *ret_found,
				 unsigned *ret_count)
{
	nvmlGpuInstance_t gis[SMI_INSTANCES_MAX];
	nvmlComputeInstance_t cis[SMI_INSTANCES_MAX];
	nvmlReturn_t r;

	*ret_count = 0;
	if (m->gi)
		r = SMI_NVML(m->gpus, nvmlGpuInstanceGetComputeInstances,
			     m->gi->gi, profile->id, cis, ret_count);
	else
		r = SMI_NVML(m->gpus, nvmlDeviceGetGpuInstances, m->gpu->handle,
			     profile->id, gis, ret_count);
	for (unsigned i = 0; !r && i < *ret_count; i++)
		ret_found[i] =
		    (struct smi_instance){.profile = profile,
					  .gi = m->gi ? m->gi->gi : gis[i],
					  .ci = m->gi ? cis[i] : NULL};
	return r;
}

/* Reads an instance's id and placement. */
static nvmlReturn_t read_instance(const struct smi_mig *m,
				  struct smi_instance *instance)
{
	nvmlGpuInstanceInfo_t gi = {0};
	nvmlComputeInstanceInfo_t ci = {0};
	nvmlReturn_t r;

	if (instance->ci)
		r = SMI_NVML(m->gpus, nvmlComputeInstanceGetInfo_v2,
			     instance->ci, &ci);
	else
		r = SMI_NVML(m->gpus, nvmlGpuInstanceGetInfo, instance->gi,
			     &gi);
	instance->id = instance->ci ? ci.id : gi.id;
	instance->start =
	    instance->ci ? ci.placement.start : gi.placement.start;
	instance->size = instance->ci ? ci.placement.size : gi.placement.size;
	return r;
}

/* Inserts an instance so that those of a profile stay sorted by id. */
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

nvmlReturn_t smi_mig_instances(const struct smi_mig *m,
			       struct smi_profiles *ret_profiles,
			       struct smi_instances *ret_instances)
{
	const char *ids = m->gi ? m->smi->cis : m->smi->gis;
	struct smi_instance found[SMI_INSTANCES_MAX];
	nvmlReturn_t r = smi_mig_profiles(m, ret_profiles);
	unsigned count;

	ret_instances->count = 0;
	for (size_t i = 0; !r && i < ret_profiles->count; i++) {
		r = read_handles(m, &ret_profiles->at[i], found, &count);
		for (unsigned k = 0; !r && k < count; k++) {
			r = read_instance(m, &found[k]);
			if (!r && (!ids || smi_names(ids, found[k].id, "", "")))
				add_instance(ret_instances, &found[k]);
		}
	}
	return r;
}

nvmlReturn_t smi_mig_each_gi(struct smi_mig *m, smi_mig_step *step)
{
	struct smi_profiles profiles;
	struct smi_instances gis;
	nvmlReturn_t r = smi_mig_instances(m, &profiles, &gis);

	if (r)
		return r;
	m->gis += (unsigned)gis.count;
	for (size_t i = 0; !r && i < gis.count; i++) {
		m->gi = &gis.at[i];
		r = step(m);
	}
	m->gi = NULL;
	return r;
}

/* ---- running on all GPUs ---- */

static int none_capable(bool needs_mode)
{
	printf("No MIG-%s devices found.\n",
	       needs_mode ? "enabled" : "supported");
	return SMI_NOT_FOUND;
}

/* Prints a failure. Without permission, a list is also reported as empty. */
static int tell_failure(const struct smi_mig_job *job,
			const struct smi_gpus *gpus, nvmlReturn_t r)
{
	printf("Failed to %s %s: %s\n", job->verb, job->what,
	       smi_error_text(gpus, r));
	if (job->lists && r == NVML_ERROR_NO_PERMISSION)
		printf("No %s found: %s\n", job->what, smi_error_text(gpus, r));
	return smi_status_of(r);
}

/*
 * Prints that nothing was found: for lists, none of the things that they list;
 * for changes, no instances of the kind that is missing.
 */
static int none_found(const struct smi_mig_job *job, const struct smi_mig *m)
{
	const char *kind = m->gis ? "compute instances" : "GPU instances";

	printf("No %s found: Not Found\n", job->lists ? job->what : kind);
	return SMI_NOT_FOUND;
}

static int run_on_gpus(const struct smi *smi, const struct smi_gpus *gpus,
		       const void *arg)
{
	const struct smi_mig_job *job = arg;
	struct smi_mig m = {.smi = smi, .gpus = gpus};
	unsigned able = 0;

	for (size_t i = 0; i < gpus->count; i++) {
		nvmlReturn_t r = smi_mig_mode(gpus, &gpus->at[i], &m.split);

		if (r == NVML_ERROR_NOT_SUPPORTED ||
		    (!r && job->needs_mode && !m.split))
			continue;
		able++;
		m.gpu = &gpus->at[i];
		if (!r)
			r = job->step(&m);
		if (r)
			return tell_failure(job, gpus, r);
	}
	if (!able)
		return none_capable(job->needs_mode);
	return m.done ? SMI_OK : none_found(job, &m);
}

int smi_mig_run(const struct smi_mig_job *job, const struct smi *smi)
{
	return smi_with_gpus(smi, run_on_gpus, job);
}

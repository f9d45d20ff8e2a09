/* SPDX-License-Identifier: Apache-2.0 */
/* mig.h - profiles and instances of split GPUs, as the driver tells them. */
#ifndef GK_CLI_SMI_MIG_H
#define GK_CLI_SMI_MIG_H

#include "cli/smi/gpus.h"

enum {
	SMI_PROFILES_MAX = NVML_GPU_INSTANCE_PROFILE_COUNT,
	SMI_INSTANCES_MAX = 64, /* of a profile */
	SMI_PLACES_MAX = 64,
};

/* A profile of GPU instances or of compute instances. */
struct smi_profile {
	unsigned number; /* the driver's order */
	unsigned id;
	unsigned slices, instances, sms, copy, decoders, encoders, jpegs, ofas;
	bool p2p; /* of GPU instances, as is memory */
	unsigned long long memory_mib;
	char name[64]; /* such as 1g.10gb */
};

struct smi_profiles {
	struct smi_profile at[SMI_PROFILES_MAX];
	size_t count;
};

/* An instance of either kind. */
struct smi_instance {
	const struct smi_profile *profile;
	unsigned id, start, size;
	nvmlGpuInstance_t gi;
	nvmlComputeInstance_t ci; /* of compute instances */
};

struct smi_instances {
	struct smi_instance at[SMI_INSTANCES_MAX];
	size_t count;
};

/* Whether the GPU can be split; ret_on: whether it is. */
bool smi_mig_mode(const struct smi_gpus *gpus, const struct smi_gpu *gpu,
		  bool *ret_on);

/* Read the profiles, by their numbers. */
void smi_gi_profiles(const struct smi_gpus *gpus, const struct smi_gpu *gpu,
		     struct smi_profiles *ret_profiles);
void smi_ci_profiles(const struct smi_gpus *gpus, const struct smi_instance *gi,
		     struct smi_profiles *ret_profiles);

/*
 * Read the instances, by number of the profile and then by id; only those in
 * the list of ids (NULL: all). The profiles must live as long.
 */
nvmlReturn_t smi_gis(const struct smi_gpus *gpus, const struct smi_gpu *gpu,
		     const struct smi_profiles *profiles, const char *ids,
		     struct smi_instances *ret_instances);
nvmlReturn_t smi_cis(const struct smi_gpus *gpus, const struct smi_instance *gi,
		     const struct smi_profiles *profiles, const char *ids,
		     struct smi_instances *ret_instances);

#endif

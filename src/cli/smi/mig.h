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
	nvmlComputeInstance_t ci; /* NULL: it is a GPU instance */
};

struct smi_instances {
	struct smi_instance at[SMI_INSTANCES_MAX];
	size_t count;
};

/* A subcommand of `mig` at work. */
struct smi_mig {
	const struct smi *smi;
	const struct smi_gpus *gpus;
	/* Where it is: a GPU, and within it a GPU instance or NULL. */
	const struct smi_gpu *gpu;
	bool split; /* the GPU is in MIG mode */
	const struct smi_instance *gi;
	unsigned gis;  /* GPU instances that were found */
	unsigned done; /* rows that were printed, or changes that were made */
};

typedef nvmlReturn_t smi_mig_step(struct smi_mig *m);

/* A subcommand of `mig`, and its words in messages. */
struct smi_mig_job {
	const char *verb, *what; /* "display", "GPU instances" */
	bool lists;
	bool needs_mode;    /* only GPUs in MIG mode count */
	smi_mig_step *step; /* carries it out on a GPU */
};

/* Carries a subcommand out. Returns an exit status, after a message. */
int smi_mig_run(const struct smi_mig_job *job, const struct smi *smi);

/* Reads whether a GPU is split. NOT_SUPPORTED: it cannot be. */
nvmlReturn_t smi_mig_mode(const struct smi_gpus *gpus,
			  const struct smi_gpu *gpu, bool *ret_on);

/*
 * Reads the profiles of the GPU, or of the GPU instance at hand, by their
 * numbers.
 */
nvmlReturn_t smi_mig_profiles(const struct smi_mig *m,
			      struct smi_profiles *ret_profiles);

/*
 * Reads its instances, too, by number of the profile and then by id; only those
 * that -gi or -ci names.
 */
nvmlReturn_t smi_mig_instances(const struct smi_mig *m,
			       struct smi_profiles *ret_profiles,
			       struct smi_instances *ret_instances);

/* Takes a step in each GPU instance that -gi names; sets gi and counts gis. */
nvmlReturn_t smi_mig_each_gi(struct smi_mig *m, smi_mig_step *step);

#endif

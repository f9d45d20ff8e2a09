/* SPDX-License-Identifier: Apache-2.0 */
/* mig.h - the profiles and instances of split GPUs, read from the driver. */
#ifndef GK_CLI_SMI_MIG_H
#define GK_CLI_SMI_MIG_H

#include "cli/smi/gpus.h"

enum {
	SMI_PROFILES_MAX = NVML_GPU_INSTANCE_PROFILE_COUNT,
	SMI_INSTANCES_MAX = 64, /* per profile */
	SMI_PLACES_MAX = 64,
};

/* A profile of GPU instances or of compute instances. */
struct smi_profile {
	unsigned number; /* the profile's number in NVML */
	unsigned id;
	unsigned slices, instances, sms, copy, decoders, encoders, jpegs, ofas;
	bool p2p; /* p2p and memory_mib: only for GPU instances */
	unsigned long long memory_mib;
	char name[64]; /* such as 1g.10gb */
};

struct smi_profiles {
	struct smi_profile at[SMI_PROFILES_MAX];
	size_t count;
};

/* A GPU instance or a compute instance. */
struct smi_instance {
	const struct smi_profile *profile;
	unsigned id, start, size;
	nvmlGpuInstance_t gi;
	nvmlComputeInstance_t ci; /* NULL for a GPU instance */
};

struct smi_instances {
	struct smi_instance at[SMI_INSTANCES_MAX];
	size_t count;
};

/* The state of a running subcommand of `mig`. */
struct smi_mig {
	const struct smi *smi;
	const struct smi_gpus *gpus;
	/* The GPU at hand and, if not NULL, the GPU instance within it. */
	const struct smi_gpu *gpu;
	bool split; /* the GPU is in MIG mode */
	const struct smi_instance *gi;
	unsigned gis;  /* number of GPU instances found */
	unsigned done; /* number of rows printed or changes made */
};

typedef nvmlReturn_t smi_mig_step(struct smi_mig *m);

/* A subcommand of `mig`, and the words for it in messages. */
struct smi_mig_job {
	const char *verb, *what; /* such as "display" and "GPU instances" */
	bool lists;
	bool needs_mode;    /* skips GPUs that are not in MIG mode */
	smi_mig_step *step; /* runs the subcommand on one GPU */
};

/* Runs a subcommand. Returns an exit status, after a message on failure. */
int smi_mig_run(const struct smi_mig_job *job, const struct smi *smi);

/* Reads whether a GPU is split. Returns NOT_SUPPORTED if it cannot be. */
nvmlReturn_t smi_mig_mode(const struct smi_gpus *gpus,
			  const struct smi_gpu *gpu, bool *ret_on);

/*
 * Reads the profiles of the GPU or, if m->gi is set, of that GPU instance,
 * sorted by number.
 */
nvmlReturn_t smi_mig_profiles(const struct smi_mig *m,
			      struct smi_profiles *ret_profiles);

/*
 * Reads the profiles and the instances that -gi or -ci names. Instances are
 * sorted by the number of their profile, then by id.
 */
nvmlReturn_t smi_mig_instances(const struct smi_mig *m,
			       struct smi_profiles *ret_profiles,
			       struct smi_instances *ret_instances);

/*
 * Calls step() with m->gi set to each GPU instance that -gi names. Adds their
 * number to m->gis.
 */
nvmlReturn_t smi_mig_each_gi(struct smi_mig *m, smi_mig_step *step);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_rules.h - which instances a GPU can be split into, and where they can be
 * placed: the facts of mig_profiles.def, and pure functions that use only these
 * facts and need no machine.
 */
#ifndef GKF_MIG_RULES_H
#define GKF_MIG_RULES_H

#include "base/export.h"

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

struct gkf_profile;

#ifndef GKF_API
#define GKF_API __attribute__((visibility("default")))
#endif

struct gkf_mig_profile {
	unsigned board;   /* enum of mig_profiles.def */
	unsigned profile; /* NVML_GPU_INSTANCE_PROFILE_ */
	unsigned id;
	const char *name; /* "1g.10gb+me" */
	unsigned slices, memory_slices;
	unsigned placements; /* bit s: may start at memory slice s */
	unsigned instances;  /* maximum number at the same time */
	unsigned memory_mib, sms;
	unsigned copy, decoders, encoders, jpegs, ofas;
};

struct gkf_mig_board {
	unsigned board;
	int64_t compute_major, compute_minor, least_mib, most_mib;
	unsigned slice_sms, bar1_mib;
	bool resetless; /* the mode changes without a reset of the GPU */
};

/* NULL for a GPU that cannot be split. */
GKF_API const struct gkf_mig_board *
gkf_mig_board(const struct gkf_profile *gpu);

/* The i-th profile of a board, NULL past the last. */
const struct gkf_mig_profile *
gkf_mig_profile_at(const struct gkf_mig_board *board, unsigned i);

/* A profile of a board by id, number or name; NULL when there is none. */
GKF_API const struct gkf_mig_profile *
gkf_mig_profile_by_id(const struct gkf_mig_board *board, unsigned id);
GKF_API const struct gkf_mig_profile *
gkf_mig_profile_by_number(const struct gkf_mig_board *board, unsigned profile);
const struct gkf_mig_profile *
gkf_mig_profile_by_name(const struct gkf_mig_board *board, const char *name,
			size_t len);

/* BAR1 of an instance, MiB. */
GKF_API unsigned gkf_mig_bar1_mib(const struct gkf_mig_board *board,
				  const struct gkf_mig_profile *profile);

/*
 * gkf_mig_gi_id(): the id of a GPU instance, from its first slice and its size.
 * The other functions return the first slice and the size for an id.
 */
unsigned gkf_mig_gi_id(unsigned start, unsigned memory_slices);
unsigned gkf_mig_gi_start(unsigned gi);
unsigned gkf_mig_gi_size(unsigned gi);

/* The slices and instances of a GPU that are in use. */
struct gkf_mig_use {
	unsigned taken;     /* bits of memory slices in use */
	unsigned count[32]; /* instances by profile number */
};

/* Bits of the memory slices at which another instance may start. */
unsigned gkf_mig_free_places(const struct gkf_mig_profile *profile,
			     const struct gkf_mig_use *use);

/* How many more instances of a profile fit. */
GKF_API unsigned gkf_mig_capacity(const struct gkf_mig_profile *profile,
				  const struct gkf_mig_use *use);

/*
 * The slice that the driver chooses: the lowest of those that leave the most
 * placements free, over all profiles. -1: no slice is free.
 */
int gkf_mig_choose(const struct gkf_mig_board *board,
		   const struct gkf_mig_profile *profile,
		   const struct gkf_mig_use *use);

/*
 * A profile of compute instances in a GPU instance. `number` is the
 * NVML_COMPUTE_INSTANCE_PROFILE_, which is also the profile id.
 */
struct gkf_mig_ci_profile {
	unsigned number, slices, sms;
	unsigned placements; /* bit s: may start at compute slice s */
	unsigned instances;
	/* "1c.3g.40gb"; "3g.40gb" for a profile that fills the GPU instance. */
	char name[40];
};

/*
 * False if GPU instances of that profile have no compute profile of this
 * number.
 */
GKF_API bool gkf_mig_ci_profile(const struct gkf_mig_board *board,
				const struct gkf_mig_profile *gi,
				unsigned number,
				struct gkf_mig_ci_profile *ret_profile);

/* The number of the compute profile that fills a GPU instance. */
unsigned gkf_mig_ci_whole(const struct gkf_mig_profile *gi);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig.h - MIG on the GPUs of a machine: the mode, GPU instances, compute
 * instances. mig_rules.h has the rules, mig_state.h the data in the file.
 *
 * Each change is a single store under the writers' lock. Every function checks
 * its device and ids. The life of an instance (mig_state.h) distinguishes it
 * from earlier instances with the same id.
 */
#ifndef GKF_MIG_H
#define GKF_MIG_H

#include "base/export.h"
#include "machine/model/mig/mig_rules.h"

struct gkf_mig_sums;
struct gkf_device;
struct gkf_machine;

/* The driver chooses the slice. */
#define GKF_MIG_ANYWHERE (-1)
/* Matches every life of an instance. */
#define GKF_MIG_ANY_LIFE 0u

/* A copy of an instance. */
struct gkf_mig_gi {
	unsigned id;
	uint32_t life;
	const struct gkf_mig_profile *profile;
	unsigned start; /* first of profile->memory_slices slices */
};

struct gkf_mig_ci {
	unsigned gi, id;
	uint32_t life;
	unsigned index; /* index of the MIG device */
	unsigned start; /* first compute slice in its GPU instance */
	struct gkf_mig_ci_profile profile;
};

/* Bits GKF_MIG_CURRENT and GKF_MIG_PENDING; 0 on GPUs without MIG. */
GKF_API unsigned gkf_mig_mode(const struct gkf_machine *m, unsigned device);

/*
 * Turns the mode on or off, at once if no process uses the GPU. If one does,
 * the change is pending and GK_ERR_IN_USE is returned; a later call activates
 * it. GK_ERR_NOT_SUPPORTED: the GPU has no MIG.
 */
GKF_API int gkf_mig_mode_set(struct gkf_machine *m, unsigned device, bool on);

/* Reads which of a GPU's slices are taken. */
GKF_API void gkf_mig_use(struct gkf_machine *m, unsigned device,
			 struct gkf_mig_use *ret_use);

/* Read an instance; GK_ERR_NOT_FOUND when there is none. */
GKF_API int gkf_mig_gi_read(struct gkf_machine *m, unsigned device, unsigned gi,
			    struct gkf_mig_gi *ret_gi);
GKF_API int gkf_mig_ci_read(struct gkf_machine *m, unsigned device, unsigned gi,
			    unsigned ci, struct gkf_mig_ci *ret_ci);

/* The MIG device with that index; GK_ERR_NOT_FOUND: the index is unused. */
GKF_API int gkf_mig_by_index(struct gkf_machine *m, unsigned device,
			     unsigned index, struct gkf_mig_ci *ret_ci);

/* How many more compute instances of a profile fit into a GPU instance. */
GKF_API unsigned gkf_mig_ci_capacity(struct gkf_machine *m, unsigned device,
				     const struct gkf_mig_gi *gi,
				     const struct gkf_mig_ci_profile *profile);

/* "MIG-xxxxxxxx-xxxx-5xxx-yxxx-xxxxxxxxxxxx", different for each life. */
#define GKF_MIG_UUID_MAX 48
GKF_API void gkf_mig_uuid(struct gkf_machine *m, unsigned device,
			  const struct gkf_mig_ci *ci,
			  char ret_uuid[GKF_MIG_UUID_MAX]);

/*
 * Create an instance; start is a slice or GKF_MIG_ANYWHERE.
 * GK_ERR_NOT_SUPPORTED when MIG is off, GK_ERR_RANGE for an invalid profile or
 * start, GK_ERR_NO_SPACE when too few slices are free, GK_ERR_NOT_FOUND when
 * the GPU instance does not exist. A MIG device is a compute instance; it gets
 * the lowest free index.
 */
GKF_API int gkf_mig_gi_create(struct gkf_machine *m, unsigned device,
			      unsigned profile_id, int start, unsigned *ret_gi);
GKF_API int gkf_mig_ci_create(struct gkf_machine *m, unsigned device,
			      unsigned gi, uint32_t gi_life, unsigned number,
			      int start, unsigned *ret_ci);

/*
 * Destroy the instance if it has that life. GK_ERR_IN_USE when processes or
 * compute instances are in it, GK_ERR_NOT_FOUND when there is none.
 */
GKF_API int gkf_mig_gi_destroy(struct gkf_machine *m, unsigned device,
			       unsigned gi, uint32_t life);
GKF_API int gkf_mig_ci_destroy(struct gkf_machine *m, unsigned device,
			       unsigned gi, unsigned ci, uint32_t life);

/*
 * Adds the bins [first, end) to the sums; the caller holds the writers' lock.
 */
void gkf_mig_bins(struct gkf_machine *m, unsigned device, uint64_t first,
		  uint64_t end);

/* Reads the work of a GPU instance up to the last computed bin. */
GKF_API void gkf_mig_sums(struct gkf_machine *m, unsigned device, unsigned gi,
			  struct gkf_mig_sums *ret_sums);

/*
 * Does what a reset of the GPU does: destroys all instances and makes the
 * pending mode the current one. Does nothing while processes are on the GPU.
 * The caller holds the writers' lock.
 */
void gkf_mig_reset(struct gkf_machine *m, unsigned device);

/*
 * Splits a GPU as a text describes, such as "3g.40gb+2g.20gb+1g.10gb", where a
 * part may end in "@SLICE". Enables the mode, creates a GPU instance for each
 * part in turn, then one compute instance that fills each; "3g.40gb(2c+1c)"
 * creates the given compute instances instead, and "3g.40gb()" creates none.
 * Errors are as for the functions above, or GK_ERR_INVALID for an unknown
 * profile; *ret_part points to the failing part. Instances created before an
 * error stay.
 */
int gkf_mig_layout(struct gkf_machine *m, unsigned device, const char *text,
		   const char **ret_part);

/* ---- mig_memory.c, for src/machine alone ---- */

/*
 * Chooses the instance of a new process. With MIG on, GKF_NO_INSTANCE becomes
 * the MIG device with the lowest index. GK_ERR_NOT_SUPPORTED when there is
 * none, GK_ERR_NOT_FOUND when the named instance does not exist. The caller
 * holds the writers' lock.
 */
int gkf_instance_enter(struct gkf_machine *m, unsigned device,
		       uint32_t *instance);

/*
 * Returns the size of a GPU instance in bytes, and how many of them are in use
 * while no process is in it. GK_ERR_NOT_FOUND: there is no such instance.
 */
int gkf_instance_bytes(struct gkf_machine *m, unsigned device, unsigned gi,
		       uint64_t *ret_total, uint64_t *ret_taken);

/* Bytes that all GPU instances of a device use while they are empty. */
uint64_t gkf_instances_hold(struct gkf_machine *m, unsigned device);

#endif

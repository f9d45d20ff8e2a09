/*
 * mig.h - splitting the GPUs of a machine: the mode, GPU instances, compute
 * instances. Rules and facts: mig_rules.h; what is kept: mig_state.h.
 *
 * Changes are made under the writers' lock, each by a single store. Every
 * function checks the device and the ids that it is given.
 */
#ifndef GKF_MIG_H
#define GKF_MIG_H

#include "base/export.h"
#include "machine/model/mig_rules.h"

struct gkf_mig_sums;
struct gkf_device;
struct gkf_machine;

/* Anywhere: the driver chooses. */
#define GKF_MIG_ANYWHERE (-1)
/* Whatever life it has. */
#define GKF_MIG_ANY_LIFE 0u

/* An instance, copied out. */
struct gkf_mig_gi {
	unsigned id;
	uint32_t life;
	const struct gkf_mig_profile *profile;
	unsigned start; /* memory slice; profile->memory_slices of them */
};

struct gkf_mig_ci {
	unsigned gi, id;
	uint32_t life;
	unsigned index; /* of the MIG device */
	unsigned start; /* compute slice of its GPU instance */
	struct gkf_mig_ci_profile profile;
};

/* Bits GKF_MIG_CURRENT and GKF_MIG_PENDING; 0 where MIG cannot be. */
GKF_API unsigned gkf_mig_mode(const struct gkf_machine *m, unsigned device);

/*
 * Wants the mode on or off. It becomes so at once when nobody uses the GPU;
 * else it is pending: GK_ERR_IN_USE, and asking again later activates it.
 * GK_ERR_NOT_SUPPORTED: the GPU cannot be split.
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

/* The MIG device with that index; GK_ERR_NOT_FOUND: a hole. */
GKF_API int gkf_mig_by_index(struct gkf_machine *m, unsigned device,
			     unsigned index, struct gkf_mig_ci *ret_ci);

/* How many more compute instances of a profile fit into a GPU instance. */
GKF_API unsigned gkf_mig_ci_capacity(struct gkf_machine *m, unsigned device,
				     const struct gkf_mig_gi *gi,
				     const struct gkf_mig_ci_profile *profile);

/* "MIG-xxxxxxxx-xxxx-5xxx-yxxx-xxxxxxxxxxxx", another one for each life. */
#define GKF_MIG_UUID_MAX 48
GKF_API void gkf_mig_uuid(struct gkf_machine *m, unsigned device,
			  const struct gkf_mig_ci *ci,
			  char ret_uuid[GKF_MIG_UUID_MAX]);

/*
 * Make an instance, start is a slice or GKF_MIG_ANYWHERE. GK_ERR_NOT_SUPPORTED
 * when MIG is off, GK_ERR_RANGE for a profile or a start that there is not,
 * GK_ERR_NO_SPACE when it has no room, GK_ERR_NOT_FOUND without the GPU
 * instance. A MIG device is a compute instance; its index is the lowest that
 * is free.
 */
GKF_API int gkf_mig_gi_create(struct gkf_machine *m, unsigned device,
			      unsigned profile_id, int start, unsigned *ret_gi);
GKF_API int gkf_mig_ci_create(struct gkf_machine *m, unsigned device,
			      unsigned gi, uint32_t gi_life, unsigned number,
			      int start, unsigned *ret_ci);

/*
 * Remove an instance of that life. GK_ERR_IN_USE when processes or compute
 * instances are in it, GK_ERR_NOT_FOUND when there is none.
 */
GKF_API int gkf_mig_gi_destroy(struct gkf_machine *m, unsigned device,
			       unsigned gi, uint32_t life);
GKF_API int gkf_mig_ci_destroy(struct gkf_machine *m, unsigned device,
			       unsigned gi, unsigned ci, uint32_t life);

/* Adds the bins [first, end) to the sums; the caller holds the lock. */
void gkf_mig_bins(struct gkf_machine *m, unsigned device, uint64_t first,
		  uint64_t end);

/* Reads the work of a GPU instance until the last bin that is computed. */
GKF_API void gkf_mig_sums(struct gkf_machine *m, unsigned device, unsigned gi,
			  struct gkf_mig_sums *ret_sums);

/*
 * Does what a reset of the GPU does: no instances are left, and the pending
 * mode becomes the current one. Nothing happens while processes are there. The
 * caller holds the lock.
 */
void gkf_mig_reset(struct gkf_machine *m, unsigned device);

/*
 * Splits a GPU as text says, "3g.40gb+2g.20gb+1g.10gb", each part optionally
 * "@SLICE": enables the mode, makes a GPU instance for each part in turn, then
 * in each one compute instance that fills it; "3g.40gb(2c+1c)" makes these
 * instead, "3g.40gb()" none. Errors as above, GK_ERR_INVALID for what is no
 * profile of the GPU; *ret_part is where in the text. What was made until then
 * stays.
 */
int gkf_mig_layout(struct gkf_machine *m, unsigned device, const char *text,
		   const char **ret_part);

#endif

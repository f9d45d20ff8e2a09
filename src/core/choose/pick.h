/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.h - picks the requested GPUs and processes of a snapshot.
 */
#ifndef GK_CORE_PICK_H
#define GK_CORE_PICK_H

#include <gpukit/gpukit.h>

/* All given conditions must be met. A zeroed struct picks everything. */
struct gk_pick {
	const char *gpus; /* indices of GPUs, "0,3"; NULL: all */
	/* If `only_visible`, pick the GPUs that CUDA sees when
	 * CUDA_VISIBLE_DEVICES is `visible` (NULL: unset). `gpus` takes
	 * precedence. */
	bool only_visible;
	const char *visible;
	enum gk_cuda_order order;
	/* Pick processes that compute or draw. The members only_... exclude
	 * processes that do both. */
	bool compute, graphics, only_compute, only_graphics;
	const char *const *users; /* owners of the processes; count 0: any */
	size_t user_count;
	const pid_t *pids; /* pids of the processes; count 0: any */
	size_t pid_count;
};

/*
 * Copies the picked GPUs, with their MIG devices, and the picked processes.
 * *ret_part shares its strings with snap: call gk_pick_free() on it before
 * freeing snap. pick->gpus must pass gk_pick_valid(). *ret_missing (may be
 * NULL) is the first index in pick->gpus that no GPU has, or -1. Returns 0 or
 * GK_ERR_NOMEM.
 */
int gk_pick(const struct gk_snapshot *snap, const struct gk_pick *pick,
	    long *ret_missing, struct gk_snapshot *ret_part);
void gk_pick_free(struct gk_snapshot *part);

/*
 * Fills in the devices from which gk_cuda_visible() chooses, and each one's
 * position in the snapshot. The snapshot owns their UUIDs. Both arrays must
 * hold device_count entries. Returns the number of devices. with_lost: include
 * lost GPUs. A CUDA process that is already running still counts them; a new
 * one numbers only the other GPUs.
 */
size_t gk_pick_candidates(const struct gk_snapshot *snap, bool with_lost,
			  struct gk_candidate *ret_candidates,
			  unsigned *ret_positions);

/* Whether a list consists of numbers separated by commas. */
bool gk_pick_valid(const char *list);

#endif

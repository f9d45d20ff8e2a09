/*
 * pick.h - a part of a snapshot: the GPUs and the processes that somebody
 * asked for.
 */
#ifndef GK_CORE_PICK_H
#define GK_CORE_PICK_H

#include <gpukit/gpukit.h>

/* Conditions of which all must hold. Zeroed: everything is picked. */
struct gk_pick {
	const char *gpus; /* indices of GPUs, "0,3"; NULL: all */
	/* With only_visible those that a value of CUDA_VISIBLE_DEVICES (NULL:
	 * unset) shows to CUDA. gpus wins over it. */
	bool only_visible;
	const char *visible;
	enum gk_cuda_order order;
	/* Processes that compute, that draw; that do nothing else. */
	bool compute, graphics, only_compute, only_graphics;
	const char *const *users; /* names; count 0: anybody's */
	size_t user_count;
	const pid_t *pids; /* count 0: any */
	size_t pid_count;
};

/*
 * Keeps the GPUs, with their MIG devices, and the processes that are asked
 * for. *ret_part shares its strings with snap: free it first, with
 * gk_pick_free(). pick->gpus must be gk_pick_valid(). *ret_missing (may be
 * NULL) is the first index of it that no GPU has, or -1: the others are there.
 * 0 or GK_ERR_NOMEM.
 */
int gk_pick(const struct gk_snapshot *snap, const struct gk_pick *pick,
	    long *ret_missing, struct gk_snapshot *ret_part);
void gk_pick_free(struct gk_snapshot *part);

/*
 * Fills the devices that gk_cuda_visible() chooses from, whose UUIDs are the
 * snapshot's, and the position of each in it. Room for device_count each;
 * answers how many there are. CUDA does not find those that are lost when a
 * process starts, and counts on without them; to one that runs they stay.
 */
size_t gk_pick_candidates(const struct gk_snapshot *snap, bool with_lost,
			  struct gk_candidate *ret_candidates,
			  unsigned *ret_positions);

/* Whether list is numbers with commas between them. */
bool gk_pick_valid(const char *list);

#endif

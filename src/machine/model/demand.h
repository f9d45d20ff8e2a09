/*
 * demand.h - the processes of a device and what they want of it, bin by bin.
 * Collected once, asked often: for the core's own files.
 */
#ifndef GKF_DEMAND_H
#define GKF_DEMAND_H

#include "machine/file/wave_state.h"

#include <stdbool.h>

struct gkf_drive;
struct gkf_machine;

#define GKF_DEMAND_MAX  48
#define GKF_DEMAND_MIGS 8

/*
 * Processes of one MIG instance take turns with each other on its SMs;
 * instance 0 is the whole device, for those that are in none.
 */
struct gkf_demand {
	struct gkf_machine *m;
	unsigned device;
	unsigned count;
	bool all; /* they fit in here; else each bin looks at all slots */
	unsigned instances;
	struct {
		uint32_t name, sm_permille;
	} instance[GKF_DEMAND_MIGS];
	struct {
		struct gkf_wave wave;
		unsigned instance, slot;
	} member[GKF_DEMAND_MAX];
};

/*
 * Collects the processes of a device. What is in *ret_wants holds as long as
 * nobody comes or goes: until the writers' lock is released, if it is held.
 */
void gkf_demand_collect(struct gkf_machine *m, unsigned device,
			struct gkf_demand *ret_wants);

/*
 * Adds up what they want in a bin: sets all of drive that follows from
 * processes.
 */
void gkf_demand_drive(struct gkf_demand *wants, uint64_t bin,
		      struct gkf_drive *drive);

/*
 * Until before which bin nothing of that changes, if it is sure: bin itself
 * when somebody works, UINT64_MAX when nobody ever will.
 */
uint64_t gkf_demand_quiet_until(const struct gkf_demand *wants, uint64_t bin);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.h - how much work the processes of a device demand in each bin. The
 * processes are collected once for many bins. For src/machine alone.
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
 * The processes of a device. Those of one MIG instance take turns on its SMs;
 * processes in no instance have a row named GKF_NO_INSTANCE.
 */
struct gkf_demand {
	struct gkf_machine *m;
	unsigned device;
	unsigned count;
	/*
	 * Whether `member` has all processes. If not, all slots are read for
	 * each bin.
	 */
	bool all;
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
 * Collects the processes of a device. *ret_wants becomes invalid when a process
 * attaches or detaches, or when the writers' lock is released.
 */
void gkf_demand_collect(struct gkf_machine *m, unsigned device,
			struct gkf_demand *ret_wants);

/* Sets the members of `drive` that depend on processes, for a bin. */
void gkf_demand_drive(struct gkf_demand *wants, uint64_t bin,
		      struct gkf_drive *drive);

/*
 * The first bin at which demand may change: `bin` itself if a process works in
 * it, UINT64_MAX if demand will never change.
 */
uint64_t gkf_demand_quiet_until(const struct gkf_demand *wants, uint64_t bin);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* processes.h - lists of the processes on a device. */
#ifndef GKF_PROCESSES_H
#define GKF_PROCESSES_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;
struct gkf_wave;

/* A copy of one row of a process list. */
struct gkf_process {
	unsigned slot; /* index of the slot in the file, and the slot's life */
	int32_t pid;   /* in its own pid namespace */
	uint64_t life;
	/*
	 * Kept apart from `start`, which is next to it in the slot: compilers
	 * would copy both with one load, which waits for the two stores of
	 * gkf_slot_read().
	 */
	uint64_t pid_ns;
	uint64_t bytes; /* device memory without managed memory */
	uint64_t start;
	uint32_t types;
	uint32_t instance; /* GKF_INSTANCE(gi, ci), or GKF_NO_INSTANCE */
};

/* The wave of a listed process; false: it has ended since. */
GKF_API bool gkf_process_wave(struct gkf_machine *m,
			      const struct gkf_process *p,
			      struct gkf_wave *ret_wave);

/*
 * Changes the pids of a list to those that the calling process would see, as
 * the driver does (osFindNsPid() of its open kernel modules). Processes of a
 * pid namespace below ours have another pid here; processes outside our
 * namespace are left out. Returns how many remain, in the same order.
 */
GKF_API unsigned gkf_processes_seen(struct gkf_machine *m,
				    struct gkf_process *list, unsigned count);

/*
 * Lists the processes of a device that have one of the types: writes at most
 * cap, sets *ret_count to how many there are. Reaps first, at most every few
 * hundred milliseconds.
 */
GKF_API int gkf_processes(struct gkf_machine *m, unsigned device,
			  unsigned types, struct gkf_process *out, unsigned cap,
			  unsigned *ret_count);

/*
 * Like gkf_processes(), but for a compute instance; GKF_NO_INSTANCE: for the
 * whole device.
 */
GKF_API int gkf_processes_in(struct gkf_machine *m, unsigned device,
			     uint32_t instance, unsigned types,
			     struct gkf_process *out, unsigned cap,
			     unsigned *ret_count);

#endif

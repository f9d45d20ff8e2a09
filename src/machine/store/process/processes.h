/* processes.h - lists of the processes on a device. */
#ifndef GKF_PROCESSES_H
#define GKF_PROCESSES_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;
struct gkf_wave;

/* One row of a process list, copied out. */
struct gkf_process {
	unsigned slot; /* position in the file, and which life of it */
	uint64_t life;
	int32_t pid;
	uint32_t types;
	uint32_t instance; /* GKF_INSTANCE(gi, ci), or GKF_NO_INSTANCE */
	uint64_t bytes;    /* device memory, less what is managed */
};

/* How it keeps its device busy; false: it has ended since. */
GKF_API bool gkf_process_wave(struct gkf_machine *m,
			      const struct gkf_process *p,
			      struct gkf_wave *ret_wave);

/*
 * The processes of a device that have one of the types: at most cap are
 * written, *ret_count is how many there are. Reaps first, at most every few
 * hundred milliseconds.
 */
GKF_API int gkf_processes(struct gkf_machine *m, unsigned device,
			  unsigned types, struct gkf_process *out, unsigned cap,
			  unsigned *ret_count);

/* The same of a compute instance; GKF_NO_INSTANCE: of the whole device. */
GKF_API int gkf_processes_in(struct gkf_machine *m, unsigned device,
			     uint32_t instance, unsigned types,
			     struct gkf_process *out, unsigned cap,
			     unsigned *ret_count);

#endif

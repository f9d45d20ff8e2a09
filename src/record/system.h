/* SPDX-License-Identifier: Apache-2.0 */
/* system.h - how much of the host processes use, for the rows of --system. */
#ifndef GK_RECORD_SYSTEM_H
#define GK_RECORD_SYSTEM_H

#include "base/str.h"

#include <gpukit/gpukit.h>

/* One process, or a process with all its descendants. */
struct gk_usage {
	bool there; /* the process is running, or a GPU lists it */
	/*
	 * CPU time divided by the time since the start, like pcpu of ps; 10 is
	 * 1 % of a CPU. For several processes, the sum.
	 */
	struct gk_value cpu;
	struct gk_value used; /* bytes on all GPUs; absent if the process is
			       * on none */
	struct gk_buf cpus;   /* "8/9/11": CPUs on which the process's
			       * threads last ran */
};

/*
 * Reads a process; proc is a descriptor of /proc. *start (ticks since boot)
 * identifies the process. If it is 0, reads the process that now has this pid,
 * and stores its start. Free cpus with gk_buf_free().
 */
void gk_usage_read(int proc, pid_t pid, uint64_t *start, bool children,
		   const struct gk_snapshot *snap, struct gk_usage *ret_usage);

#endif

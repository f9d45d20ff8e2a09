/*
 * system.h - what processes take of the host, for the rows of --system.
 */
#ifndef GK_RECORD_SYSTEM_H
#define GK_RECORD_SYSTEM_H

#include "base/str.h"

#include <gpukit/gpukit.h>

/* A process, or it with all its descendants. */
struct gk_usage {
	bool there; /* it runs */
	/* CPU time by time since the start, 10 = 1 % of a CPU: what ps calls
	 * pcpu. Of several processes the sum. */
	struct gk_value cpu;
	struct gk_value used; /* bytes of all GPUs; absent without any */
	struct gk_buf cpus;   /* "8/9/11": where its threads ran last */
};

/*
 * Reads a process under proc, a descriptor of /proc. *start (ticks since boot)
 * is its identity; 0 takes the process as it is now and keeps its start there.
 * Free cpus with gk_buf_free().
 */
void gk_usage_read(int proc, pid_t pid, uint64_t *start, bool children,
		   const struct gk_snapshot *snap, struct gk_usage *ret_usage);

#endif

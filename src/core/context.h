/*
 * context.h - what a struct gk is made of.
 */
#ifndef GK_CORE_CONTEXT_H
#define GK_CORE_CONTEXT_H

#include "core/host.h"
#include "core/procfs.h"
#include "core/worker.h"

struct gk {
	struct gk_nvml *nvml;
	struct gk_worker **workers;
	size_t gpu_count;
	struct gk_procfs *procfs;
	struct gk_host_before host_before;
	unsigned with;
	uint64_t timeout_ns;
	bool was_late;                     /* a GPU did not answer in time */
	uint64_t period_ns[GK_TIER_COUNT]; /* as asked for by options */
	int timer;                         /* of gk_watch, -1 without */
	uint64_t frame_ns;                 /* its period */
};

/*
 * Has all GPUs read once and waits, at most timeout_ns. late[i] becomes
 * whether GPU i has not answered by then; NULL: not asked for. 0 or a gk_err.
 */
int gk_read_once(struct gk *gk, bool *late);

/*
 * Makes a snapshot of what the workers have published. late[i] says that GPU
 * i has not answered in time; NULL: judge by the age of its values.
 */
int gk_compose(struct gk *gk, const bool *late, struct gk_snapshot **ret_snap);

#endif

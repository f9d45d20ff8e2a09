/*
 * context.h - what a struct gk is made of.
 */
#ifndef GK_CORE_CONTEXT_H
#define GK_CORE_CONTEXT_H

#include "core/events.h"
#include "core/host.h"
#include "core/live.h"
#include "core/places.h"
#include "core/procfs.h"
#include "core/sweep.h"
#include "core/worker.h"

/* Longer periods leave no room to count with: 9 years. */
#define GK_PERIOD_MAX_NS (UINT64_MAX / 64)

struct gk {
	struct gk_nvml *nvml;
	struct gk_worker **workers;
	struct gk_sweep *sweep; /* NULL: of one GPU there is none */
	size_t gpu_count;
	struct gk_live *live;     /* of each GPU */
	struct gk_events *events; /* NULL without GK_WITH_EVENTS */
	struct gk_places *places; /* NULL without GK_WITH_TOPOLOGY */
	struct gk_procfs *procfs;
	struct gk_host_before host_before;
	unsigned with;
	bool choosy; /* reads only the metrics of only */
	struct gk_metric_set only;
	uint64_t timeout_ns;
	bool was_late;                     /* a GPU did not answer in time */
	bool *stale;                       /* each GPU, in the last snapshot */
	uint64_t period_ns[GK_TIER_COUNT]; /* as asked for by options */
	/* The state of gk_watch; without it the descriptors are -1. */
	int watch;         /* an epoll of the two below */
	int timer, news;   /* frames; first readings, until the first frame */
	uint64_t frame_ns; /* the period */
	uint64_t begun_ns; /* by gk_watch_begin(), else 0 */
	uint64_t frame_at_ns; /* when the last frame was made; 0: none yet */
	/* Since when GPUs are read as they are to be: again after the process
	 * was stopped, or by another period. 0: always. */
	uint64_t resumed_ns;
};

/*
 * Has all GPUs read once and waits, at most timeout_ns. late[i] becomes
 * whether GPU i has not answered by then; NULL: not asked for. 0 or a gk_err.
 */
int gk_read_once(struct gk *gk, bool *late);

/* Has all GPUs read once, without waiting. 0 or a gk_err. */
int gk_ask_all(struct gk *gk);

/* How old values may be, while watching, until their GPU is late. */
uint64_t gk_patience(const struct gk *gk);

/* Closes what watching has opened. */
void gk_watch_close(struct gk *gk);

/*
 * Makes a snapshot of what the workers have published. late[i] says that GPU
 * i has not answered in time; NULL: judge by the age of its values.
 */
int gk_compose(struct gk *gk, const bool *late, struct gk_snapshot **ret_snap);

#endif

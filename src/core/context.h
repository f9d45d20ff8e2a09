/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - the members of struct gk, and helpers of the files that use it.
 */
#ifndef GK_CORE_CONTEXT_H
#define GK_CORE_CONTEXT_H

#include "core/driver/events.h"
#include "core/read/host.h"
#include "core/driver/live.h"
#include "core/read/places.h"
#include "core/read/procfs.h"
#include "core/driver/sweep.h"
#include "core/driver/worker.h"

/*
 * The longest period, 9 years: a sum of several such periods cannot overflow.
 */
#define GK_PERIOD_MAX_NS (UINT64_MAX / 64)

/* Returns for how many ns a GPU has kept any context of the process waiting. */
typedef uint64_t gk_silence_of(unsigned index);

struct gk {
	struct gk_nvml *nvml;
	struct gk_worker **workers;
	struct gk_sweep *sweep; /* NULL with a single GPU */
	size_t gpu_count;
	/* per GPU: state of reads that bypass the workers */
	gk_live_slot *live;
	struct gk_asks *asks;
	struct gk_events *events; /* NULL without GK_WITH_EVENTS */
	struct gk_places *places; /* NULL without GK_WITH_TOPOLOGY */
	struct gk_procfs *procfs;
	struct gk_host_before host_before;
	unsigned with;
	bool choosy; /* read only the metrics in `only` */
	struct gk_metric_set only;
	_Atomic uint64_t timeout_ns;
	gk_silence_of *others; /* NULL: this is the only context */
	bool was_late;         /* a GPU was late in some snapshot */
	bool *stale;           /* per GPU: it was late in the last snapshot */
	uint64_t period_ns[GK_TIER_COUNT]; /* periods set by the options */
	/* The state of gk_watch_*(); the descriptors are -1 unless watching. */
	/* an epoll instance that waits for timer and news */
	int watch;
	/* timerfd: a frame is due; eventfd: first values */
	int timer, news;
	uint64_t frame_ns;    /* the period */
	uint64_t begun_ns;    /* when gk_watch_begin() was called, or 0 */
	uint64_t frame_at_ns; /* when the last frame was made; 0: none yet */
	/* When readings resumed after the process was stopped or the period
	 * changed; 0: never. */
	uint64_t resumed_ns;
};

/*
 * Reads all GPUs once. Waits at most timeout_ns; does not wait for a GPU that
 * has already been silent for that long. Sets late[i] to whether GPU i has not
 * answered in time; late may be NULL. Returns 0 or a gk_err.
 */
int gk_read_once(struct gk *gk, uint64_t timeout_ns, bool *late);

/* Limits an infinite timeout to 146 years, so that adding it to a time cannot
 * overflow. */
static inline uint64_t gk_limit_timeout(uint64_t timeout_ns)
{
	return timeout_ns < UINT64_MAX / 4 ? timeout_ns : UINT64_MAX / 4;
}

/* Whether a GPU that has been silent for silence_ns counts as silent for the
 * whole timeout. Seven eighths of it suffice, because the caller may have begun
 * to wait a little before the GPU was asked. */
static inline bool gk_is_long(uint64_t silence_ns, uint64_t timeout_ns)
{
	return silence_ns >= timeout_ns - timeout_ns / 8;
}

/*
 * For a program with several contexts: `others` returns for how long any of
 * them has waited for a GPU. Call this right after gk_open(). A caller whose
 * timeout is shorter than that time neither asks the GPU nor waits for it.
 */
void gk_heed(struct gk *gk, gk_silence_of *others);

/* Whether a GPU has kept another context waiting for timeout_ns. */
bool gk_is_known_late(const struct gk *gk, size_t index, uint64_t timeout_ns);

/* Starts one reading of all GPUs, each by its worker's thread, without waiting.
 * 0 or a gk_err. */
int gk_ask_all(struct gk *gk);

/* While watching, a GPU counts as late when its values are older than this
 * (ns). */
uint64_t gk_patience(const struct gk *gk);

/* The period at which a tier is read while watching; 0: only when requested. */
uint64_t gk_period_of(const struct gk *gk, enum gk_tier tier);

/* Closes the descriptors opened for watching. */
void gk_watch_close(struct gk *gk);

/*
 * Makes a snapshot of the values that the workers have published. late[i] says
 * whether GPU i has not answered in time; if late is NULL, this follows from
 * the age of the GPU's values.
 */
int gk_compose(struct gk *gk, const bool *late, struct gk_snapshot **ret_snap);

#endif

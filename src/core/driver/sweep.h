/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - one thread that reads, one after the other, all GPUs that answer at
 * once, because waking a thread takes longer than asking such a GPU. Slower
 * GPUs are read by their workers in parallel. While one GPU holds up the sweep,
 * the workers read all GPUs.
 */
#ifndef GK_CORE_SWEEP_H
#define GK_CORE_SWEEP_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A round of the sweep should not last longer than this: waking some threads
 * would take about as long.
 */
#define GK_SWEEP_QUICK_NS GK_NS_PER_MS

struct gk_sweep;
struct gk_worker;

/* Reads those values of a worker that are due. Returns when the next ones will
 * be due; UINT64_MAX: the sweep does not read this worker's GPU. */
typedef uint64_t gk_sweep_read(struct gk_worker *worker);

/* Prepares a sweep over workers; read() reads one of them. The caller owns the
 * array and keeps it as long as the sweep. Returns 0 or GK_ERR_NOMEM. End with
 * gk_sweep_stop() and gk_sweep_free(). */
int gk_sweep_new(struct gk_worker *const *workers, size_t count,
		 gk_sweep_read *read, struct gk_sweep **ret_sweep);

/* Whether the sweep takes over a GPU whose last reading took took_ns: yes if
 * that was short and nothing holds up the sweep. The first call starts the
 * thread. */
bool gk_sweep_takes(struct gk_sweep *sweep, uint64_t took_ns);

/* Whether the current round has lasted longer than GK_SWEEP_QUICK_NS. */
bool gk_sweep_lags(const struct gk_sweep *sweep);

/* Makes the sweep check for readings that are due. */
void gk_sweep_wake(struct gk_sweep *sweep);

/*
 * Ends the sweep, after gk_worker_end() for all workers. Waits at most until
 * until_ns of CLOCK_MONOTONIC. Returns false if the sweep is stuck in the
 * driver: it is abandoned together with the workers.
 */
bool gk_sweep_stop(struct gk_sweep *sweep, uint64_t until_ns);

/* Frees the sweep. Call it once the sweep and all workers have ended. */
void gk_sweep_free(struct gk_sweep *sweep);

#endif

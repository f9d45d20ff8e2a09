/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - one thread per GPU, so that a hung GPU does not block the others.
 *
 * Only the worker calls NVML for its GPU. It publishes its values after every
 * tier, and others copy them. It reads on request (for one snapshot) or
 * periodically (while watching). While its GPU answers at once, the sweep,
 * which serves many workers, reads the GPU instead. The worker's thread then
 * sleeps, or was never started.
 */
#ifndef GK_CORE_WORKER_H
#define GK_CORE_WORKER_H

#include "core/driver/reading.h"

struct gk_past;
struct gk_sweep;
struct gk_worker;

/* Prepares the worker of a GPU. 0 or a gk_err. End with gk_worker_stop() and
 * gk_worker_free(). */
int gk_worker_new(const struct gk_nvml *nvml, unsigned index,
		  const struct gk_gpu_options *options,
		  struct gk_worker **ret_worker);

/* Allows a sweep to read the GPU while readings are short. Call it before
 * gk_worker_ask(). */
void gk_worker_share(struct gk_worker *worker, struct gk_sweep *sweep);

/* A gk_sweep_read. */
uint64_t gk_worker_sweep(struct gk_worker *worker);

/*
 * Makes the thread read its GPU itself if another GPU holds up the sweep, or if
 * the GPU was never read and the sweep lags. Returns whether a reading is due
 * now.
 */
bool gk_worker_check(struct gk_worker *worker);

/*
 * Makes a worker write to a non-blocking eventfd each time it has read a tier
 * for the first time. Call it before the first gk_worker_ask(). After
 * gk_worker_end() the worker no longer writes to the eventfd.
 */
void gk_worker_tell(struct gk_worker *worker, int fd);

/* A pseudo-tier for gk_worker_ask(): the driver's sample buffers; see
 * past.h. */
#define GK_ASK_PAST (1U << GK_TIER_COUNT)

/* Hands over the samples that were read, for the caller to free. NULL: none. */
struct gk_past *gk_worker_take_past(struct gk_worker *worker);

/*
 * Requests one reading of tiers (bits 1 << gk_tier), without waiting. The first
 * reading is left to the sweep, if there is one: the caller must then wait for
 * it and call gk_worker_check(). 0, or a gk_err if no thread can be started.
 */
int gk_worker_ask(struct gk_worker *worker, unsigned tiers);

/* Starts the thread, so that it makes the first reading. 0 or a gk_err. */
int gk_worker_start(struct gk_worker *worker);

/*
 * Waits until all requested tiers are read, at most until until_ns of
 * CLOCK_MONOTONIC. False: the driver has not answered in time.
 */
bool gk_worker_wait(struct gk_worker *worker, uint64_t until_ns);

/*
 * Makes a worker read tiers periodically from now on: tier t at start_ns[t] and
 * every period_ns[t] after that (0: never). Deadlines are absolute; missed ones
 * are skipped. Call gk_worker_ask() first.
 */
void gk_worker_schedule(struct gk_worker *worker,
			const uint64_t start_ns[GK_TIER_COUNT],
			const uint64_t period_ns[GK_TIER_COUNT]);

/*
 * Copies the published values. 0 or GK_ERR_NOMEM. Free with gk_reading_free().
 */
int gk_worker_copy(struct gk_worker *worker, struct gk_reading *ret_reading);

/* When the current reading began; 0: there is none. Any thread. */
uint64_t gk_worker_since(const struct gk_worker *worker);

/* Tells the worker to end, without waiting; gk_worker_stop() must follow. */
void gk_worker_end(struct gk_worker *worker);

/*
 * Ends the worker; waits at most until until_ns. Returns false if the worker is
 * stuck in the driver: it is abandoned, and all that it uses must stay.
 */
bool gk_worker_stop(struct gk_worker *worker, uint64_t until_ns);

/* Frees the worker. Call it once the worker and its sweep have ended. */
void gk_worker_free(struct gk_worker *worker);

#endif

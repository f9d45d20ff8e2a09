/*
 * worker.h - one thread per GPU, so that a GPU that hangs holds up nobody.
 *
 * The worker alone calls NVML for its GPU and publishes what it read after
 * every tier; others copy what is published. It reads when it is asked to
 * (one snapshot), or by its own clock (watching). While its GPU answers at once
 * its thread rests and a sweep, which has many workers, reads for it.
 */
#ifndef GK_CORE_WORKER_H
#define GK_CORE_WORKER_H

#include "core/device.h"

struct gk_past;
struct gk_sweep;
struct gk_worker;

/* A copy of what a worker has read. Owned by whoever asked for it. */
struct gk_reading {
	struct gk_device *devices; /* the GPU, then its MIG devices */
	size_t device_count;
	struct gk_listed *listed; /* unit counts from devices */
	size_t listed_count;
	struct gk_detail *detail; /* of the GPU; NULL: not read */
};

/* Prepares the worker of a GPU: 0 or a gk_err. End with gk_worker_stop() and
 * gk_worker_free(). */
int gk_worker_new(const struct gk_nvml *nvml, unsigned index,
		  const struct gk_gpu_options *options,
		  struct gk_worker **ret_worker);

/* Has a worker leave short readings to a sweep; before it is asked. */
void gk_worker_share(struct gk_worker *worker, struct gk_sweep *sweep);

/* By the sweep: reads what is due. When the next is; UINT64_MAX: it is not the
 * sweep's to read. */
uint64_t gk_worker_sweep(struct gk_worker *worker);

/* Has the thread read again if the sweep is held up by another GPU; whether it
 * has something to read now. */
bool gk_worker_check(struct gk_worker *worker);

/*
 * Has a worker write to an eventfd, which must not block, whenever a tier was
 * read for the first time; before the first gk_worker_ask(). It is written to
 * no more after gk_worker_end().
 */
void gk_worker_tell(struct gk_worker *worker, int fd);

/* Besides bits of tiers: what the driver remembers; see past.h. */
#define GK_ASK_PAST (1U << GK_TIER_COUNT)

/* Takes what was read of it, NULL: nothing. free() it. */
struct gk_past *gk_worker_take_past(struct gk_worker *worker);

/*
 * Asks for tiers (bits 1 << gk_tier) to be read once, without waiting. The
 * first time it starts the thread, which finds its work there. 0 or the
 * gk_err of having no thread.
 */
int gk_worker_ask(struct gk_worker *worker, unsigned tiers);

/*
 * Waits until all that was asked is read, at most until a moment of
 * CLOCK_MONOTONIC. False: the driver has not answered by then.
 */
bool gk_worker_wait(struct gk_worker *worker, uint64_t until_ns);

/*
 * Has a worker that was asked before read tiers by the clock from now on: tier
 * t at start_ns[t] and every period_ns[t] after (0: never). Deadlines are
 * absolute; missed ones are left out.
 */
void gk_worker_schedule(struct gk_worker *worker,
			const uint64_t start_ns[GK_TIER_COUNT],
			const uint64_t period_ns[GK_TIER_COUNT]);

/* Copies what is published. 0 or GK_ERR_NOMEM. Free with gk_reading_free. */
int gk_worker_copy(struct gk_worker *worker, struct gk_reading *ret_reading);
void gk_reading_free(struct gk_reading *reading);

/* Tells the worker to end, without waiting; gk_worker_stop() must follow. */
void gk_worker_end(struct gk_worker *worker);

/*
 * Ends the worker; waits for it at most until a moment. False: it is stuck in
 * the driver and left behind with all that it uses.
 */
bool gk_worker_stop(struct gk_worker *worker, uint64_t until_ns);

/* Once it has ended, and its sweep. */
void gk_worker_free(struct gk_worker *worker);

#endif

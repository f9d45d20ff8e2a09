/*
 * sweep.h - one thread that reads, one after the other, the GPUs that answer at
 * once: to wake a thread takes longer than to ask such a GPU. GPUs that take
 * their time are read by their workers, all at the same moment; and so are all
 * others while the sweep itself is held up by one.
 */
#ifndef GK_CORE_SWEEP_H
#define GK_CORE_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gk_sweep;
struct gk_worker;

/* Prepares the sweep of workers, which stay the caller's and there as long as
 * it is: 0 or GK_ERR_NOMEM. End with gk_sweep_stop() and gk_sweep_free(). */
int gk_sweep_new(struct gk_worker *const *workers, size_t count,
		 struct gk_sweep **ret_sweep);

/* Whether to leave a GPU to it whose reading took so long: it would be short,
 * and the sweep gets on. The first time it starts the thread. */
bool gk_sweep_takes(struct gk_sweep *sweep, uint64_t took_ns);

/* Has it look for work. */
void gk_sweep_wake(struct gk_sweep *sweep);

/*
 * Ends it, once all workers have been told to end; waits at most until a moment
 * of CLOCK_MONOTONIC. False: it is stuck in the driver, and left behind with
 * the workers.
 */
bool gk_sweep_stop(struct gk_sweep *sweep, uint64_t until_ns);

/* Once it and all workers have ended. */
void gk_sweep_free(struct gk_sweep *sweep);

#endif

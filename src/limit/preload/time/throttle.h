/*
 * throttle.h - shares of a GPU's time: launches wait until their group has
 * time left, and what they took is measured by events.
 */
#ifndef GKL_PRELOAD_THROTTLE_H
#define GKL_PRELOAD_THROTTLE_H

#include "abi/cuda_abi.h"

#include <stdbool.h>
#include <stdint.h>

struct measure_pair;

/* One launch, between throttle_begin() and throttle_end(). */
struct throttle_launch {
	CUstream stream;
	bool per_thread;
	int device;        /* below 0: nothing is to be done at its end */
	uint64_t work;     /* what is launched: of gkl_work_key() */
	uint64_t taken_ns; /* of the share, in advance */
	uint64_t usual_ns; /* what such work takes on average */
	uint64_t launched_ns;
	unsigned launches;         /* that are measured: this and some before */
	struct measure_pair *pair; /* NULL: not measured */
};

/*
 * Waits while the group is suspended or has no time left, then takes the time
 * that such work (a function or a graph, and its size) took before. Does
 * nothing where the stream is captured. CUDA_ERROR_NOT_PERMITTED: there is a
 * limit that cannot be kept; the launch must not be. Otherwise throttle_end()
 * must follow.
 */
CUresult throttle_begin(struct throttle_launch *ret_launch, CUstream stream,
			bool per_thread, const void *what, uint64_t size);

/* After the driver's call; result: whether it was launched. */
void throttle_end(struct throttle_launch *launch, CUresult result);

/*
 * Counts what has come to its end; for hooks of calls that waited, or found
 * out. One load where nothing is measured.
 */
void throttle_poll(void);

/*
 * Before a context is destroyed, and before all that a device has may be: our
 * events in it are destroyed, and never used again.
 */
void throttle_forget(CUcontext ctx);
void throttle_forget_device(CUdevice device);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.h - shares of a GPU's time: launches wait until their group has time
 * left, and events measure what they took.
 */
#ifndef GKL_PRELOAD_THROTTLE_H
#define GKL_PRELOAD_THROTTLE_H

#include "abi/cuda/cuda_abi.h"

#include <stdbool.h>
#include <stdint.h>

struct measure_pair;

/* One launch, between throttle_begin() and throttle_end(). */
struct throttle_launch {
	CUstream stream;
	bool per_thread;
	int device;        /* negative: throttle_end() has nothing to do */
	uint64_t work;     /* a key of gkl_work_key(); 0: several kinds */
	uint64_t taken_ns; /* time taken from the share in advance */
	uint64_t usual_ns; /* average time of such work */
	uint64_t launched_ns;
	/* Number of launches measured together, including this one. */
	unsigned launches;
	struct measure_pair *pair; /* NULL: not measured */
};

/*
 * Waits while the group is suspended or has no time left, then takes as much
 * time as such work (a function or a graph, and its size) took before. Does
 * nothing for a captured stream. CUDA_ERROR_NOT_PERMITTED: a limit cannot be
 * enforced; the program must not launch. Otherwise throttle_end() must follow.
 */
CUresult throttle_begin(struct throttle_launch *ret_launch, CUstream stream,
			bool per_thread, const void *what, uint64_t size);

/* Call after the driver's call, with its result. */
void throttle_end(struct throttle_launch *launch, CUresult result);

/*
 * Counts finished work. For hooks of calls that waited for it or queried it.
 * Costs one load if nothing is being measured.
 */
void throttle_poll(void);

/*
 * Call before a context, or any context of a device, may be destroyed: destroys
 * our events in it, which are not used again.
 */
void throttle_forget(CUcontext ctx);
void throttle_forget_device(CUdevice device);

#endif

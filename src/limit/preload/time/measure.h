/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - when work really ran on a device: pairs of events around
 * launches, and their intervals.
 *
 * Events are recorded only within the hook of a launch, in the stream of the
 * launch. Another thread could have recorded events there as well, so the
 * program must already expect any waiting that our events cause. Captured
 * streams get no events. Nothing ever waits for an event. A launch whose events
 * fail is not measured; the program sees no error.
 */
#ifndef GKL_PRELOAD_MEASURE_H
#define GKL_PRELOAD_MEASURE_H

#include "abi/cuda/cuda_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* One or more launches that were measured together, between two events. */
struct measured {
	int device;
	uint64_t work;     /* a key of gkl_work_key(); 0: several kinds */
	uint64_t taken_ns; /* time taken from the share in advance */
	uint64_t usual_ns; /* average time of such work */
	unsigned launches; /* number of launches between the events */
	uint64_t launched_ns;
};

struct measure_pair;

/*
 * Called before a launch into the stream; `ctx` is the current context. NULL:
 * the launch cannot be measured. Otherwise measure_end() or measure_drop() must
 * follow.
 */
struct measure_pair *measure_begin(CUcontext ctx, CUstream stream,
				   bool per_thread);
bool measure_end(struct measure_pair *pair, CUstream stream, bool per_thread,
		 const struct measured *what); /* false: not measured */
void measure_drop(struct measure_pair *pair);

/*
 * A thread may keep a pair over several launches. It loses the pair if it does
 * not take the pair back in time. measure_keep(): returns a number for the
 * pair; measure_found(): takes the pair back, if it is still this thread's.
 */
uint64_t measure_keep(struct measure_pair *pair);
bool measure_found(struct measure_pair *pair, uint64_t kept);

/* True if the stream is, or may be, captured. */
bool measure_is_captured(CUstream stream, bool per_thread);

/* From now on streams are checked for being captured. */
void measure_captures(void);

/*
 * Reports finished work, with its interval of CLOCK_MONOTONIC. Costs one load
 * if nothing is in progress.
 */
void measure_poll(void (*done)(const struct measured *what, uint64_t begin_ns,
			       uint64_t end_ns));

/* Whether measured launches of this work are in progress. */
bool measure_is_under_way(uint64_t work);

/*
 * Returns by how much the usual time of the device's launches in progress
 * exceeds the time that was taken from the share for them.
 */
uint64_t measure_owed(int device);

/* Call before a context, or all contexts of a device, are destroyed. */
void measure_forget(CUcontext ctx);
void measure_forget_device(CUdevice device);

#endif

/*
 * measure.h - when work really ran on a device: pairs of events around launches
 * and what came of them.
 *
 * Events are recorded within the hook of a launch alone, in the stream of the
 * launch: other threads could have called before or after it just as well, so
 * streams wait for nothing that they might not have waited for anyway. Streams
 * that are captured get none. Nothing ever waits for an event, and what fails
 * is not measured: programs see no error of it.
 */
#ifndef GKL_PRELOAD_MEASURE_H
#define GKL_PRELOAD_MEASURE_H

#include "abi/cuda_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* What was launched. */
struct measured {
	int device;
	uint64_t work;     /* of work.h */
	uint64_t taken_ns; /* of the share, in advance */
	uint64_t usual_ns; /* what such work takes on average */
	unsigned launches; /* between the two events */
	uint64_t launched_ns;
};

struct measure_pair;

/*
 * Before a launch into the stream; `ctx` is the current context. NULL: it
 * cannot be measured. One of the next two must follow.
 */
struct measure_pair *measure_begin(CUcontext ctx, CUstream stream,
				   bool per_thread);
bool measure_end(struct measure_pair *pair, CUstream stream, bool per_thread,
		 const struct measured *what); /* false: it is not measured */
void measure_drop(struct measure_pair *pair);

/*
 * A thread keeps a pair for several launches: it may forget to come back with
 * it, and loses it then. keep: a number for it; found: it is its own again.
 */
uint64_t measure_keep(struct measure_pair *pair);
bool measure_found(struct measure_pair *pair, uint64_t kept);

/* True if the stream is, or may be, captured. */
bool measure_is_captured(CUstream stream, bool per_thread);

/* From now on streams are asked whether they are captured. */
void measure_captures(void);

/*
 * Hands out what has come to its end, with its interval of CLOCK_MONOTONIC.
 * One load where nothing is under way.
 */
void measure_poll(void (*done)(const struct measured *what, uint64_t begin_ns,
			       uint64_t end_ns));

/* Whether launches of this work are under way. */
bool measure_is_under_way(uint64_t work);

/* By how much what those of a device usually take is more than was taken. */
uint64_t measure_owed(int device);

/* Before a context is destroyed; all contexts of a device. */
void measure_forget(CUcontext ctx);
void measure_forget_device(CUdevice device);

#endif

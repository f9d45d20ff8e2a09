/*
 * throttle.h - shares of a GPU's time: launches wait until their group has
 * time left, and what they took is measured by events.
 */
#ifndef GKL_PRELOAD_THROTTLE_H
#define GKL_PRELOAD_THROTTLE_H

#include "abi/cuda_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* One launch, between throttle_begin() and throttle_end(). */
struct throttle_launch {
	int device;        /* -1: nothing is limited */
	uint64_t work;     /* what is launched: function and size, or graph */
	uint64_t estimate; /* ns that were taken from the share for it */
	CUevent
	    begin; /* recorded in the stream before it; NULL: not measured */
};

/*
 * Waits while the group is suspended or has no time left, then takes the time
 * that such work took before. Never waits while the stream is captured.
 */
void throttle_begin(struct throttle_launch *ret_launch, CUstream stream,
		    bool per_thread, uint64_t work);

/* After the driver's call; result: whether it was launched. */
void throttle_end(struct throttle_launch *launch, CUstream stream,
		  bool per_thread, CUresult result);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - reads one device now, with a deadline.
 */
#ifndef GK_CORE_LIVE_H
#define GK_CORE_LIVE_H

#include "core/driver/ask.h"
#include "core/read/device.h"

/* The state kept between questions to a GPU; NULL: it was never asked. */
struct gk_live;
typedef _Atomic(struct gk_live *) gk_live_slot;

/* Frees the states of `count` GPUs, and the array. Freeing NULL is allowed. */
void gk_live_free(gk_live_slot *slots, size_t count);

/*
 * Calls gk_identify() for all GPUs at the same time, so that many hung ones
 * cost a single timeout. ret_errors[i], ret_nvml[i] and ret_devices[i] are the
 * results for GPU i; all have gk_gpu_count() entries.
 */
void gk_identify_all(struct gk *gk, struct gk_device *ret_devices,
		     int *ret_errors, int *ret_nvml);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - reads one device now, with a deadline.
 */
#ifndef GK_CORE_LIVE_H
#define GK_CORE_LIVE_H

#include "core/driver/ask.h"
#include "core/read/device.h"

/* The state kept between questions to a GPU. */
struct gk_live;

/* Makes the state of `count` GPUs; NULL: out of memory. Freeing NULL is
 * allowed. */
struct gk_live *gk_live_new(size_t count);
void gk_live_free(struct gk_live *live, size_t count);

/*
 * Calls gk_identify() for all GPUs at the same time, so that many hung ones
 * cost a single timeout. ret_errors[i], ret_nvml[i] and ret_devices[i] are the
 * results for GPU i; all have gk_gpu_count() entries.
 */
void gk_identify_all(struct gk *gk, struct gk_device *ret_devices,
		     int *ret_errors, int *ret_nvml);

#endif

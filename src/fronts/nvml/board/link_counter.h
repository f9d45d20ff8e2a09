/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_counter.h - reads the configurable traffic counters of NVLinks.
 */
#ifndef GKF_NVML_LINK_COUNTER_H
#define GKF_NVML_LINK_COUNTER_H

#include "fronts/nvml/front.h"

/*
 * Reads a counter as nvmlDeviceGetNvLinkUtilizationCounter does.
 * NOT_SUPPORTED: the board has none; INVALID_ARGUMENT: no such link or counter.
 */
nvmlReturn_t link_counter_read(const struct call *c, unsigned link,
			       unsigned counter, unsigned long long *ret_rx,
			       unsigned long long *ret_tx);

#endif

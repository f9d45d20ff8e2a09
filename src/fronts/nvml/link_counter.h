/*
 * link_counter.h - the counters of traffic that a client sets up, for those
 * who tell them in another way.
 */
#ifndef GKF_NVML_LINK_COUNTER_H
#define GKF_NVML_LINK_COUNTER_H

#include "fronts/nvml/front.h"

/*
 * Reads a counter as nvmlDeviceGetNvLinkUtilizationCounter tells it.
 * NOT_SUPPORTED: the board has none; INVALID_ARGUMENT: no such link or counter.
 */
nvmlReturn_t link_counter(const struct call *c, unsigned link, unsigned counter,
			  unsigned long long *ret_rx,
			  unsigned long long *ret_tx);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_counter.c - the two traffic counters of each NVLink: reads, configures,
 * resets and freezes them. Links of generation 3 and newer have no such
 * counters; their traffic is available as field values.
 */
#include "fronts/nvml/board/link_counter.h"
#include "fronts/nvml/front.h"
#include "machine/file/board.h"
#include "machine/file/link_state.h"
#include "machine/model/link.h"

/* The size of a packet and of a flit (one cycle) of NVLink 2; estimated. */
#define PACKET_BYTES 128
#define CYCLE_BYTES  16

static nvmlReturn_t find_link_counter(const struct call *c, unsigned link,
				      unsigned counter,
				      struct gkf_link_counter **ret)
{
	if (!gkf_links(c->machine, c->index) ||
	    c->board->profile.nvlink_version > 2)
		return NVML_ERROR_NOT_SUPPORTED;
	if (link >= gkf_links(c->machine, c->index) ||
	    counter >= GKF_LINK_COUNTERS)
		return NVML_ERROR_INVALID_ARGUMENT;
	*ret = gkf_link_counter(c->machine, c->index, link, counter);
	return NVML_SUCCESS;
}

/* Declares `k`, the counter; returns from the function if the link has none. */
#define NEEDS_COUNTER(link, counter)                                           \
	struct gkf_link_counter *k = NULL;                                     \
	nvmlReturn_t found = find_link_counter(&c, (link), (counter), &k);     \
	if (found)                                                             \
	return found

static uint64_t load_counter_word(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

/*
 * Returns the bytes since the last reset. If the counter is frozen, counts only
 * the bytes until it was frozen.
 */
static uint64_t counted_bytes(const struct call *c, unsigned link,
			      const struct gkf_link_counter *k,
			      enum gkf_way way)
{
	uint64_t now, zero = load_counter_word(&k->zero[way]);

	if (load_counter_word(&k->frozen) == 1)
		return load_counter_word(&k->stop[way]);
	now = gkf_link_bytes(c->machine, c->index, link, way);
	return now > zero ? now - zero : 0;
}

/* A counter that was never configured counts the bytes of all packets. */
static uint64_t control_of(const struct gkf_link_counter *k)
{
	uint64_t control = load_counter_word(&k->control);

	return control ? control
		       : NVML_NVLINK_COUNTER_UNIT_BYTES |
			     NVML_NVLINK_COUNTER_PKTFILTER_ALL << 8;
}

static uint64_t in_units(const struct gkf_link_counter *k, uint64_t bytes)
{
	switch (control_of(k) & 0xff) {
	case NVML_NVLINK_COUNTER_UNIT_CYCLES:
		return bytes / CYCLE_BYTES;
	case NVML_NVLINK_COUNTER_UNIT_PACKETS:
		return bytes / PACKET_BYTES;
	default:
		return bytes;
	}
}

/*
 * The packet types that carry data. A counter that is configured without them
 * stays at 0, because simulated traffic consists of data only.
 */
#define DATA                                                                   \
	((uint64_t)(NVML_NVLINK_COUNTER_PKTFILTER_READ |                       \
		    NVML_NVLINK_COUNTER_PKTFILTER_WRITE |                      \
		    NVML_NVLINK_COUNTER_PKTFILTER_RESPDATA)                    \
	 << 8)

nvmlReturn_t link_counter_read(const struct call *c, unsigned link,
			       unsigned counter, unsigned long long *ret_rx,
			       unsigned long long *ret_tx)
{
	struct gkf_link_counter *k = NULL;
	nvmlReturn_t r = find_link_counter(c, link, counter, &k);

	if (r)
		return r;
	*ret_rx = *ret_tx = 0;
	if (!(control_of(k) & DATA))
		return NVML_SUCCESS;
	*ret_rx = in_units(k, counted_bytes(c, link, k, GKF_RECEIVED));
	*ret_tx = in_units(k, counted_bytes(c, link, k, GKF_SENT));
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkUtilizationCounter(
    nvmlDevice_t device, unsigned int link, unsigned int counter,
    unsigned long long *rxcounter, unsigned long long *txcounter)
{
	ENTER_DEVICE(nvmlDeviceGetNvLinkUtilizationCounter, device,
		     rxcounter && txcounter);
	return link_counter_read(&c, link, counter, rxcounter, txcounter);
}

/* Resets a counter: stores the link's current byte count as its zero. */
static void reset_counter(const struct call *c, unsigned link,
			  struct gkf_link_counter *k)
{
	for (int way = GKF_RECEIVED; way <= GKF_SENT; way++) {
		atomic_store(&k->zero[way],
			     gkf_link_bytes(c->machine, c->index, link,
					    (enum gkf_way)way));
		atomic_store(&k->stop[way], 0);
	}
}

nvmlReturn_t nvmlDeviceResetNvLinkUtilizationCounter(nvmlDevice_t device,
						     unsigned int link,
						     unsigned int counter)
{
	ENTER_DEVICE(nvmlDeviceResetNvLinkUtilizationCounter, device, true);
	NEEDS_COUNTER(link, counter);
	reset_counter(&c, link, k);
	return NVML_SUCCESS;
}

/* Freezes a counter at its value, or makes it continue from that value. */
static void freeze_counter(const struct call *c, unsigned link,
			   struct gkf_link_counter *k, bool on)
{
	for (int way = GKF_RECEIVED; way <= GKF_SENT; way++) {
		uint64_t shown = counted_bytes(c, link, k, (enum gkf_way)way);

		if (on)
			atomic_store(&k->stop[way], shown);
		else
			atomic_store(&k->zero[way],
				     gkf_link_bytes(c->machine, c->index, link,
						    (enum gkf_way)way) -
					 shown);
	}
	atomic_store(&k->frozen, on);
}

nvmlReturn_t nvmlDeviceFreezeNvLinkUtilizationCounter(nvmlDevice_t device,
						      unsigned int link,
						      unsigned int counter,
						      nvmlEnableState_t state)
{
	ENTER_DEVICE(nvmlDeviceFreezeNvLinkUtilizationCounter, device,
		     (unsigned)state <= NVML_FEATURE_ENABLED);
	NEEDS_COUNTER(link, counter);
	if ((load_counter_word(&k->frozen) == 1) !=
	    (state == NVML_FEATURE_ENABLED))
		freeze_counter(&c, link, k, state == NVML_FEATURE_ENABLED);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceSetNvLinkUtilizationControl(
    nvmlDevice_t device, unsigned int link, unsigned int counter,
    nvmlNvLinkUtilizationControl_t *control, unsigned int reset)
{
	ENTER_DEVICE(nvmlDeviceSetNvLinkUtilizationControl, device,
		     control != NULL);
	NEEDS_COUNTER(link, counter);
	if ((unsigned)control->units >= NVML_NVLINK_COUNTER_UNIT_RESERVED ||
	    (unsigned)control->pktfilter & ~NVML_NVLINK_COUNTER_PKTFILTER_ALL ||
	    !control->pktfilter)
		return NVML_ERROR_INVALID_ARGUMENT;
	atomic_store(&k->control, (uint64_t)control->units |
				      (uint64_t)control->pktfilter << 8);
	if (reset)
		reset_counter(&c, link, k);
	return NVML_SUCCESS;
}

nvmlReturn_t
nvmlDeviceGetNvLinkUtilizationControl(nvmlDevice_t device, unsigned int link,
				      unsigned int counter,
				      nvmlNvLinkUtilizationControl_t *control)
{
	ENTER_DEVICE(nvmlDeviceGetNvLinkUtilizationControl, device,
		     control != NULL);
	NEEDS_COUNTER(link, counter);
	control->units =
	    (nvmlNvLinkUtilizationCountUnits_t)(control_of(k) & 0xff);
	control->pktfilter =
	    (nvmlNvLinkUtilizationCountPktTypes_t)(control_of(k) >> 8 & 0xff);
	return NVML_SUCCESS;
}

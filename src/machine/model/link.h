/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - the current NVLinks of a device: state, errors, traffic, speed.
 *
 * The device must exist. A link that the board does not have is down and counts
 * nothing. A link is down if either end is down, or leads to a GPU that is lost
 * or was removed.
 */
#ifndef GKF_LINK_H
#define GKF_LINK_H

#include "base/export.h"
#include "machine/file/link_state.h"
#include "machine/file/topology.h"

struct gkf_machine;

/* Number of links of a board. */
GKF_API unsigned gkf_links(const struct gkf_machine *m, unsigned device);

GKF_API enum gkf_link_state gkf_link_state(const struct gkf_machine *m,
					   unsigned device, unsigned link);

/* A bit for each link that is not down. */
GKF_API uint64_t gkf_links_up(const struct gkf_machine *m, unsigned device);

GKF_API uint64_t gkf_link_error(const struct gkf_machine *m, unsigned device,
				unsigned link, enum gkf_link_error error);

/* Bytes carried since the machine was made. The count never falls. */
enum gkf_way { GKF_RECEIVED, GKF_SENT };
GKF_API uint64_t gkf_link_bytes(struct gkf_machine *m, unsigned device,
				unsigned link, enum gkf_way way);

/* A link's MB/s in one direction; 0 while the link is down. */
GKF_API unsigned gkf_link_mbps(const struct gkf_machine *m, unsigned device,
			       unsigned link);

/* nvmlNvlinkVersion_t of the board's links; 0: the board has no links. */
GKF_API unsigned gkf_link_version(const struct gkf_machine *m, unsigned device);

/*
 * The device or switch at the far end of a link, whether the link is up or not.
 */
GKF_API struct gkf_link_end gkf_link_end(const struct gkf_machine *m,
					 unsigned device, unsigned link);

/*
 * How long a link must be idle before it sleeps, in units of 100 us: 1 to
 * 0x1fff; 0: the driver's default.
 */
GKF_API unsigned gkf_link_threshold(const struct gkf_machine *m,
				    unsigned device);

/* How many of the links carry traffic, as NVML numbers the modes. */
enum gkf_link_bw {
	GKF_LINK_BW_FULL,
	GKF_LINK_BW_OFF,
	GKF_LINK_BW_MIN, /* one link */
	GKF_LINK_BW_HALF,
	GKF_LINK_BW_3QUARTER,
	GKF_LINK_BW_COUNT,
};
GKF_API enum gkf_link_bw gkf_link_bw(const struct gkf_machine *m,
				     unsigned device);

/* Number of links that connect two different GPUs now. */
unsigned gkf_links_between(const struct gkf_machine *m, unsigned a, unsigned b);

/*
 * The "fabric-state" of a GPU that has joined its fabric; 0: it is on no
 * fabric.
 */
#define GKF_FABRIC_COMPLETED 3

/* Number of links that carry traffic; see gkf_links_find_carrying(). */
unsigned gkf_links_carrying(const struct gkf_machine *m, unsigned device);

/*
 * Setters return 0, GK_ERR_RANGE (no such link, state, ...) or an error of
 * gkf_lock(). The setters of errors and of the threshold take no lock.
 */
int gkf_link_set_state(struct gkf_machine *m, unsigned device, unsigned link,
		       enum gkf_link_state state);
GKF_API int gkf_link_set_error(struct gkf_machine *m, unsigned device,
			       unsigned link, enum gkf_link_error error,
			       uint64_t count);
GKF_API int gkf_link_set_threshold(struct gkf_machine *m, unsigned device,
				   unsigned units);
GKF_API int gkf_link_set_bw(struct gkf_machine *m, unsigned device,
			    enum gkf_link_bw mode);

/* Resets links as a driver load does: all up, no errors, default settings. */
int gkf_links_clear(struct gkf_machine *m, unsigned device);

/* The words of one of a link's counters; the NVML library interprets them. */
GKF_API struct gkf_link_counter *gkf_link_counter(struct gkf_machine *m,
						  unsigned device,
						  unsigned link,
						  unsigned counter);

/*
 * A bit for each link that carries traffic: those that are up and awake, at
 * most as many as the bandwidth mode allows.
 */
uint64_t gkf_links_find_carrying(const struct gkf_machine *m, unsigned device);

#endif

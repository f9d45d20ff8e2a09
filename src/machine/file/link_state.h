/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_state.h - the machine file's data of a device's NVLinks. All fields are
 * words; writers hold the machine's lock.
 */
#ifndef GKF_LINK_STATE_H
#define GKF_LINK_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>

/* Numbered as NVML_NVLINK_STATE_*. */
enum gkf_link_state {
	GKF_LINK_DOWN,
	GKF_LINK_UP,
	GKF_LINK_SLEEP,
	GKF_LINK_STATES,
};

/* Numbered as nvmlNvLinkErrorCounter_t. */
enum gkf_link_error {
	GKF_LINK_REPLAY,
	GKF_LINK_RECOVERY,
	GKF_LINK_CRC_FLIT,
	GKF_LINK_CRC_DATA,
	GKF_LINK_ECC_DATA,
	GKF_LINK_ERRORS,
};

/* One of the two traffic counters that a client can configure. */
struct gkf_link_counter {
	_Atomic uint64_t control; /* units | packet filter << 8 */
	_Atomic uint64_t frozen;  /* 1: the counter is stopped */
	/*
	 * Bytes that the link had received and sent when the counter was last
	 * reset.
	 */
	_Atomic uint64_t zero[2];
	_Atomic uint64_t stop[2]; /* the value shown while frozen */
};
#define GKF_LINK_COUNTERS 2

struct gkf_link {
	/*
	 * The requested state plus 1; 0: up. gkf_link_state() returns the
	 * actual state.
	 */
	_Atomic uint64_t wanted;
	_Atomic uint64_t errors[GKF_LINK_ERRORS];
	struct gkf_link_counter counter[GKF_LINK_COUNTERS];
};

/*
 * The bytes that each link had carried when the set of links that carry traffic
 * last changed. Later traffic of the device is divided among the links in
 * `carrying`.
 */
struct gkf_link_shares {
	uint64_t carrying; /* a bit for each link that carries traffic */
	/* The bytes that the device had received and sent at that change. */
	uint64_t device[2];
	uint64_t bytes[GKF_LINKS_MAX][2]; /* received, sent */
};

struct gkf_links {
	struct gkf_link link[GKF_LINKS_MAX];
	_Atomic uint64_t shares_seq; /* shares[shares_seq % 2] is valid */
	struct gkf_link_shares shares[2];
	/* In units of 100 us, as NVML sets it; 0: the default. */
	_Atomic uint64_t low_power_threshold;
	_Atomic uint64_t bw_mode; /* enum gkf_link_bw */
};

#endif

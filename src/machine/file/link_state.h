/*
 * link_state.h - what the machine file holds of the NVLinks of a device. All
 * are words; writers hold the machine's lock.
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

/* One of the two counters of traffic that a client sets up itself. */
struct gkf_link_counter {
	_Atomic uint64_t control; /* units | packet filter << 8 */
	_Atomic uint64_t frozen;  /* 1: it stands */
	_Atomic uint64_t zero[2]; /* bytes received, sent when it was reset */
	_Atomic uint64_t stop[2]; /* what it shows while it stands */
};
#define GKF_LINK_COUNTERS 2

struct gkf_link {
	/*
	 * The state that somebody wants, plus 1; 0: up. gkf_link_state() says
	 * which one it has.
	 */
	_Atomic uint64_t wanted;
	_Atomic uint64_t errors[GKF_LINK_ERRORS];
	struct gkf_link_counter counter[GKF_LINK_COUNTERS];
};

/*
 * Who carried what, up to the last change of who carries: the traffic of the
 * device since then is shared by the links of the mask.
 */
struct gkf_link_shares {
	uint64_t carrying;                /* bit per link */
	uint64_t device[2];               /* the device's bytes then: rx, tx */
	uint64_t bytes[GKF_LINKS_MAX][2]; /* rx, tx */
};

struct gkf_links {
	struct gkf_link link[GKF_LINKS_MAX];
	_Atomic uint64_t shares_seq; /* shares[seq % 2] holds */
	struct gkf_link_shares shares[2];
	/* In units of 100 us, as NVML sets it; 0: the default. */
	_Atomic uint64_t low_power_threshold;
	_Atomic uint64_t bw_mode; /* enum gkf_link_bw */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * physics.h - computes a bin of a GPU: clocks, power, heat and energy from the
 * demand of its processes. Pure integer arithmetic: the same input gives the
 * same state on every machine.
 */
#ifndef GKF_PHYSICS_H
#define GKF_PHYSICS_H

#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/work_state.h"

#include <stdbool.h>

struct gkf_profile;
struct gkf_state;

/*
 * Idle bins after which a board goes to rest. Boards with a single P-state
 * never do while they have contexts.
 */
#define GKF_REST_BINS (10 * GKF_BINS_PER_S)

/* Bits of nvmlClocksEventReasons that the model sets. */
enum gkf_reason {
	GKF_REASON_IDLE = 0x1,
	GKF_REASON_APPLICATIONS = 0x2,
	GKF_REASON_SW_POWER_CAP = 0x4,
	GKF_REASON_HW_SLOWDOWN = 0x8,
	GKF_REASON_SYNC_BOOST = 0x10, /* set by ctl only */
	GKF_REASON_SW_THERMAL = 0x20,
	GKF_REASON_HW_THERMAL = 0x40,
	GKF_REASON_POWER_BRAKE = 0x80,
};

/* All inputs of a device during a bin. Times are permille of the bin. */
struct gkf_drive {
	uint32_t attached; /* number of processes on the device */
	uint32_t demand;   /* sum of requested busy time; may exceed 1000 */
	uint32_t mem, enc, dec, jpg, ofa;
	/* Share of the NVLink bandwidth that loads on several GPUs demand. */
	uint32_t nvlink;
	uint32_t kind[GKF_WAVE_KINDS];  /* demand, by kind of work */
	uint64_t moved[GKF_DIRECTIONS]; /* bytes really copied */
	unsigned links;    /* NVLinks that carry traffic to other GPUs */
	uint32_t pcie_out; /* PCIe traffic out, permille of that in */
	/*
	 * Power smoothing: while there is work, and for floor_bins after it,
	 * the board draws at least this permille of its power limit.
	 */
	int64_t floor_permille, floor_bins;
	/* Forced values of the device; GKF_UNSET: not forced. */
	int64_t set[GKF_VALUES_MAX]; /* indexed by enum gkf_value */
};

/* Bytes that a board's memory can move in a second; at least 1. */
static inline uint64_t gkf_bandwidth(const struct gkf_profile *p)
{
	/* Two transfers in each cycle of NVML's memory clock. */
	return (uint64_t)p->bus_width_bits / 8 * 2 *
	       (uint64_t)p->mem_clock_max_mhz * 1000000;
}

/* The permille of a bin for which copies keep a board's memory busy. */
static inline uint32_t gkf_moved_permille(const struct gkf_profile *p,
					  const uint64_t moved[GKF_DIRECTIONS])
{
	/* Bytes copied within the device are both read and written. */
	uint64_t bytes = moved[GKF_IN] + moved[GKF_OUT] +
			 2 * moved[GKF_DEVICE] + moved[GKF_LINK_IN] +
			 moved[GKF_LINK_OUT];
	__uint128_t permille =
	    (__uint128_t)bytes * 1000 * GKF_BINS_PER_S / gkf_bandwidth(p);

	return permille < 1000 ? (uint32_t)permille : 1000;
}

static inline int64_t gkf_clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* The state of a board that has been idle for a long time. */
void gkf_physics_rest(const struct gkf_profile *profile,
		      struct gkf_state *ret_state);

/* Advances a state by one bin of 1/6 s. */
void gkf_physics_step(const struct gkf_profile *profile,
		      const struct gkf_drive *drive, struct gkf_state *state);

/*
 * Whether a step left all figures of a bin unchanged, so that the same drive
 * gives the same figures again. In that case gkf_physics_repeat() takes n more
 * such steps at once.
 */
bool gkf_physics_is_steady(const struct gkf_state *before,
			   const struct gkf_state *after);
void gkf_physics_repeat(const struct gkf_state *before, struct gkf_state *state,
			uint64_t n);

/* Brings energy_uj up to date after energy_mwbins has changed. */
void gkf_physics_energy(struct gkf_state *state);

/* The fan curve: the target speed in percent at a core temperature. */
int64_t gkf_physics_fan(const struct gkf_profile *profile, int64_t temp_c);

#endif

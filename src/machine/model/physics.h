/*
 * physics.h - one bin of a GPU's life: from what its processes want to
 * clocks, power, heat and energy. Pure integer arithmetic: the same input
 * gives the same state on every machine.
 */
#ifndef GKF_PHYSICS_H
#define GKF_PHYSICS_H

#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/work_state.h"

#include <stdbool.h>

struct gkf_profile;
struct gkf_state;

/* Bits of nvmlClocksEventReasons that the model gives. */
enum gkf_reason {
	GKF_REASON_IDLE = 0x1,
	GKF_REASON_APPLICATIONS = 0x2,
	GKF_REASON_SW_POWER_CAP = 0x4,
	GKF_REASON_HW_SLOWDOWN = 0x8,
	GKF_REASON_SYNC_BOOST = 0x10, /* only where it is set */
	GKF_REASON_SW_THERMAL = 0x20,
	GKF_REASON_HW_THERMAL = 0x40,
	GKF_REASON_POWER_BRAKE = 0x80,
};

/* All that bears on a device during a bin. Permille of the bin. */
struct gkf_drive {
	uint32_t attached; /* processes on the device */
	uint32_t demand;   /* sum of busy time wanted, may pass 1000 */
	uint32_t mem, enc, dec, jpg, ofa;
	uint32_t kind[GKF_WAVE_KINDS];  /* demand, by kind of work */
	uint64_t moved[GKF_DIRECTIONS]; /* bytes that were really copied */
	unsigned links; /* NVLinks that carry traffic to other GPUs */
	/*
	 * Power smoothing: while there is work and so many bins after it the
	 * board draws no less than this part of its limit, permille.
	 */
	int64_t floor_permille, floor_bins;
	/* The device's values that are set; GKF_UNSET: this one is not. */
	int64_t set[GKF_VALUES_MAX]; /* by gkf_value */
};

/* Bytes that a board's memory can move in a second; at least 1. */
static inline uint64_t gkf_bandwidth(const struct gkf_profile *p)
{
	/* Two transfers a clock of what NVML calls the memory clock. */
	return (uint64_t)p->bus_width_bits / 8 * 2 *
	       (uint64_t)p->mem_clock_max_mhz * 1000000;
}

/* The time that copies keep a board's memory busy; permille of the bin. */
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

/* A board that was at rest for long. */
void gkf_physics_rest(const struct gkf_profile *profile,
		      struct gkf_state *ret_state);

/* Advances a state by one bin of 1/6 s. */
void gkf_physics_step(const struct gkf_profile *profile,
		      const struct gkf_drive *drive, struct gkf_state *state);

/*
 * Whether a step changed no figure, so that the next one with the same drive
 * does as much again; and n more such steps at once.
 */
bool gkf_physics_is_steady(const struct gkf_state *before,
			   const struct gkf_state *after);
void gkf_physics_repeat(const struct gkf_state *before, struct gkf_state *state,
			uint64_t n);

/* Fan speed that is aimed at, in percent, at a core temperature. */
int64_t gkf_physics_fan(const struct gkf_profile *profile, int64_t temp_c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power.h - the power of a board at given clocks and load, and the clock that a
 * power limit allows. docs/MACHINE.md has the formula and its constants.
 */
#ifndef GKF_POWER_H
#define GKF_POWER_H

#include <stdint.h>

struct gkf_profile;

/* How much the parts of a board work during a bin, permille. */
struct gkf_load {
	int64_t busy;  /* time in which a kernel runs */
	int64_t work;  /* work of the SMs, weighted by its power */
	int64_t mem;   /* time in which data moves */
	int64_t video; /* sum over the kinds of video engine */
};

struct gkf_clocks {
	int64_t sm_mhz, mem_mhz;
	int64_t offset_mhz; /* shift of the SM clock at each voltage */
};

struct gkf_power {
	int64_t board_mw, mem_mw; /* board_mw includes mem_mw */
};

struct gkf_power gkf_power_at(const struct gkf_profile *profile,
			      const struct gkf_load *load,
			      const struct gkf_clocks *clocks);

/* The memory's power at rest and at full load, mW. */
int64_t gkf_power_memory_rest(const struct gkf_profile *profile);
int64_t gkf_power_memory_full(const struct gkf_profile *profile);

/*
 * The highest SM clock, in steps below clocks->sm_mhz, at which the board stays
 * within limit_mw; the clock at rest if there is none.
 */
int64_t gkf_power_cap(const struct gkf_profile *profile,
		      const struct gkf_load *load,
		      const struct gkf_clocks *clocks, int64_t limit_mw);

/* The step of SM clocks, MHz. */
#define GKF_CLOCK_STEP_MHZ 15

#endif

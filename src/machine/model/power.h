/*
 * power.h - what a board draws at given clocks and load, and the clock that a
 * power limit leaves. The formula and its constants: docs/MACHINE.md.
 */
#ifndef GKF_POWER_H
#define GKF_POWER_H

#include <stdint.h>

struct gkf_profile;

/* How much of a board works during a bin, permille. */
struct gkf_load {
	int64_t busy;  /* time with a kernel */
	int64_t work;  /* what the SMs do, weighed by what it costs */
	int64_t mem;   /* time with data moving */
	int64_t video; /* sum over the kinds of video engine */
};

struct gkf_clocks {
	int64_t sm_mhz, mem_mhz;
	int64_t offset_mhz; /* of the SM clock at each voltage */
};

struct gkf_power {
	int64_t board_mw, mem_mw; /* the latter is part of the former */
};

struct gkf_power gkf_power_at(const struct gkf_profile *profile,
			      const struct gkf_load *load,
			      const struct gkf_clocks *clocks);

/* The memory's power at rest, and with all of the board at work; mW. */
int64_t gkf_power_memory_rest(const struct gkf_profile *profile);
int64_t gkf_power_memory_full(const struct gkf_profile *profile);

/*
 * The highest SM clock, in steps below clocks->sm_mhz, at which the board
 * stays within limit_mw; the one at rest when none does.
 */
int64_t gkf_power_cap(const struct gkf_profile *profile,
		      const struct gkf_load *load,
		      const struct gkf_clocks *clocks, int64_t limit_mw);

/* SM clocks go in steps of this many MHz. */
#define GKF_CLOCK_STEP_MHZ 15

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power.c - computes power from clocks and load; see power.h. A board draws its
 * power at rest plus shares of the range up to full load; docs/MACHINE.md
 * derives the shares.
 */
#include "machine/model/power.h"
#include "machine/file/profile.h"

#include <stdint.h>

/* Shares of the range between rest and full load, permille. */
enum {
	CLOCK_TREE = 60,   /* SM clock up, nothing to do */
	MEMORY_CLOCK = 60, /* memory clock up, on boards that can lower it */
	UNCORE = 140,      /* caches and crossbar, while a kernel runs */
	MEMORY_BUSY = 70,  /* memory, while a kernel runs */
	MEMORY_MOVES = 80, /* memory, moving data all the time */
	VIDEO = 60,        /* each kind of video engine */
};

/* The memory's part of the power at rest, if the profile does not give it. */
#define MEMORY_REST_PERMILLE 600

/*
 * In the power formula, clocks are limited to this many times the clock at
 * load.
 */
#define CLOCK_RATIO_MAX 8

static int64_t limit_mhz(int64_t mhz, int64_t most)
{
	return mhz < 0 ? 0 : mhz < most ? mhz : most;
}

/*
 * Dynamic power, permille of the power at the reference clock. It is
 * proportional to f V^2; voltage is affine in frequency: V/Vr = 0.6 + 0.4 f/fr.
 */
static int64_t dynamic_power(const struct gkf_profile *p, int64_t mhz,
			     int64_t offset)
{
	int64_t most = p->sm_clock_busy_mhz * CLOCK_RATIO_MAX;
	int64_t f = limit_mhz(mhz, most), at = limit_mhz(mhz - offset, most);
	int64_t volt = 600 + at * 400 / p->sm_clock_busy_mhz;

	return f * volt / p->sm_clock_busy_mhz * volt / 1000;
}

/* How far the memory clock is between rest (0) and its maximum (1000). */
static int64_t memory_up(const struct gkf_profile *p, int64_t mhz)
{
	int64_t range = p->mem_clock_max_mhz - p->mem_clock_idle_mhz;

	return range > 0 ? (mhz - p->mem_clock_idle_mhz) * 1000 / range : 0;
}

/* The SMs' share of the power range: what the other shares leave. */
static int64_t sm_share(const struct gkf_profile *p)
{
	int64_t rest = 1000 - CLOCK_TREE - UNCORE - MEMORY_BUSY - MEMORY_MOVES;

	return p->mem_clock_max_mhz > p->mem_clock_idle_mhz
		   ? rest - MEMORY_CLOCK
		   : rest;
}

int64_t gkf_power_memory_rest(const struct gkf_profile *p)
{
	return p->mem_power_idle_mw >= 0
		   ? p->mem_power_idle_mw
		   : p->power_idle_mw * MEMORY_REST_PERMILLE / 1000;
}

int64_t gkf_power_memory_full(const struct gkf_profile *p)
{
	int64_t range = p->power_busy_mw - p->power_idle_mw;

	return gkf_power_memory_rest(p) +
	       range * (MEMORY_BUSY + MEMORY_MOVES) / 1000;
}

struct gkf_power gkf_power_at(const struct gkf_profile *p,
			      const struct gkf_load *load,
			      const struct gkf_clocks *c)
{
	int64_t range = p->power_busy_mw - p->power_idle_mw;
	int64_t f = dynamic_power(p, c->sm_mhz, c->offset_mhz);
	int64_t rest = dynamic_power(p, p->sm_clock_idle_mhz, 0);
	/* In millionths of the range between rest and full load. */
	int64_t core =
	    CLOCK_TREE * (f - rest) + VIDEO * load->video +
	    (UNCORE * load->busy + sm_share(p) * load->work) * f / 1000;
	int64_t memory = (MEMORY_BUSY * load->busy + MEMORY_MOVES * load->mem) *
			     c->mem_mhz / p->mem_clock_max_mhz +
			 MEMORY_CLOCK * memory_up(p, c->mem_mhz);
	struct gkf_power power = {
	    .board_mw = p->power_idle_mw + (core + memory) * range / 1000000,
	    .mem_mw = gkf_power_memory_rest(p) + memory * range / 1000000,
	};

	if (power.board_mw < 0)
		power.board_mw = 0;
	return power;
}

int64_t gkf_power_cap(const struct gkf_profile *p, const struct gkf_load *load,
		      const struct gkf_clocks *clocks, int64_t limit_mw)
{
	struct gkf_clocks c = *clocks;
	int64_t low = 0; /* steps known to be too few */
	int64_t high = (c.sm_mhz - p->sm_clock_idle_mhz) / GKF_CLOCK_STEP_MHZ;

	if (gkf_power_at(p, load, &c).board_mw <= limit_mw)
		return c.sm_mhz;
	while (high - low > 1) {
		int64_t middle = (low + high) / 2;

		c.sm_mhz = clocks->sm_mhz - middle * GKF_CLOCK_STEP_MHZ;
		if (gkf_power_at(p, load, &c).board_mw <= limit_mw)
			high = middle;
		else
			low = middle;
	}
	return high > 0 ? clocks->sm_mhz - high * GKF_CLOCK_STEP_MHZ
			: clocks->sm_mhz;
}

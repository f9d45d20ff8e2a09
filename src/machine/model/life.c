/* SPDX-License-Identifier: Apache-2.0 */
/* life.c - makes boards of one model differ; see life.h. */
#include "machine/model/life.h"
#include "base/mix.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/forced.h"
#include "machine/model/physics.h"
#include "machine/store/view.h"

#include <stddef.h>

/*
 * Half the width of the spread between boards of one machine at rest. Boards
 * that stay in P0 scatter by 2 to 8 % in power, 6 to 13 % in memory power and 3
 * C in temperature; cards that rest in P8 scatter by 15 to 30 % in power at
 * nearly equal temperatures (captures of 8 H100, 8 B200, 4 A100, 8 V100, 10
 * A40, 9 RTX A6000 and others). Power under load: estimate.
 */
struct spread {
	int64_t power, mem_power, busy_power; /* permille */
	int64_t temp_c;
};

static const struct spread stays_up = {40, 100, 20, 2};
static const struct spread rests = {200, 0, 20, 1};

/* How far figures wander at rest, permille. */
#define POWER_WANDER 5
#define PCIE_WANDER  60 /* the captures of H100 and H200: 329 to 371 KB/s */

/* The time in which a figure moves from one value to the next. */
#define DRIFT_BINS (2 * GKF_BINS_PER_S)

/* The numbers drawn from a seed; each has its own random sequence. */
enum draw {
	DRAW_POWER = 1,
	DRAW_MEM_POWER,
	DRAW_BUSY_POWER,
	DRAW_TEMP,
	DRAW_PCIE_OUT,
	DRAW_PCIE_IN,
	DRAW_RATIO,
};

/* A number from -most to most, determined by seed, draw and `at`. */
static int64_t draw_at(uint64_t seed, enum draw draw, uint64_t at, int64_t most)
{
	uint64_t r = gkf_mix(gkf_mix(seed + (uint64_t)draw) ^ at);

	return (int64_t)(r % (uint64_t)(2 * most + 1)) - most;
}

/* Like draw_at(), but changes linearly over each DRIFT_BINS bins. */
static int64_t drift(uint64_t seed, enum draw draw, uint64_t bin, int64_t most)
{
	uint64_t at = bin / DRIFT_BINS;
	int64_t from = draw_at(seed, draw, at, most);
	int64_t to = draw_at(seed, draw, at + 1, most);

	return from + (to - from) * (int64_t)(bin % DRIFT_BINS) / DRIFT_BINS;
}

static void scale(int64_t *value, uint64_t seed, enum draw draw, int64_t most)
{
	*value += *value * draw_at(seed, draw, 0, most * 1000) / 1000000;
}

/* Leaves negative temperatures alone: they mean that there is no sensor. */
static void warm(int64_t *temp_c, int64_t by)
{
	if (*temp_c >= 0)
		*temp_c = gkf_clamp(*temp_c + by, 0, 150);
}

void gkf_life_spread(struct gkf_profile *p, uint64_t seed)
{
	const struct spread *s = p->pstate_idle ? &rests : &stays_up;
	int64_t warmer = draw_at(seed, DRAW_TEMP, 0, s->temp_c);

	if (!seed)
		return;
	if (p->mem_power_idle_mw > 0)
		scale(&p->mem_power_idle_mw, seed, DRAW_MEM_POWER,
		      s->mem_power);
	scale(&p->power_busy_mw, seed, DRAW_BUSY_POWER, s->busy_power);
	scale(&p->power_idle_mw, seed, DRAW_POWER, s->power);
	p->power_idle_mw = gkf_clamp(p->power_idle_mw, 1, p->power_busy_mw);
	warm(&p->temp_idle_c, warmer);
	warm(&p->temp_busy_c, warmer);
	if (p->mem_temp_max_c < 0)
		return;
	warm(&p->mem_temp_idle_c, warmer);
	warm(&p->mem_temp_busy_c, warmer);
}

/* The figures that wander, unless they are set or forced. */
static const struct {
	enum gkf_value value;
	enum draw draw;
	size_t offset;
	int64_t most; /* permille */
} wandering[] = {
#define AT(member) offsetof(struct gkf_state, member)
    {GKF_V_POWER, DRAW_POWER, AT(power_mw), POWER_WANDER},
    {GKF_V_POWER, DRAW_MEM_POWER, AT(mem_power_mw), POWER_WANDER},
    {GKF_V_PCIE_TX, DRAW_PCIE_OUT, AT(pcie_tx_kbs), PCIE_WANDER},
    {GKF_V_PCIE_RX, DRAW_PCIE_IN, AT(pcie_rx_kbs), PCIE_WANDER},
#undef AT
};

void gkf_life_wander(struct gkf_machine *m, unsigned device,
		     struct gkf_state *s)
{
	uint64_t seed = m->boards[device].seed;

	/*
	 * A board that copies, or is held at a power floor after work, is not
	 * at rest.
	 */
	if (!seed || s->rest_bins < GKF_REST_BINS)
		return;
	for (size_t i = 0; i < sizeof wandering / sizeof *wandering; i++) {
		int64_t *v = (int64_t *)((char *)s + wandering[i].offset);
		/* Any process may have overwritten the state. */
		int64_t still = gkf_clamp(*v, 0, INT32_MAX);

		if (gkf_value_forced(m, device, wandering[i].value) !=
		    GKF_UNSET)
			continue;
		/*
		 * The drift is in millionths of the figure: whole permilles
		 * would be too coarse, since it is at most a few of them.
		 */
		*v = still + still *
				 drift(seed, wandering[i].draw, s->bin,
				       wandering[i].most * 1000) /
				 1000000;
	}
}

uint32_t gkf_life_pcie_out(uint64_t seed)
{
	return seed ? (uint32_t)(500 + draw_at(seed, DRAW_RATIO, 0, 200)) : 500;
}

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

/*
 * The drift changes linearly within each period of DRIFT_BINS bins. At the
 * beginning of a period it is the difference of two draws: that of this period
 * and that of the previous one. Such differences cancel out when they are
 * summed, so the sum of the drift over any number of bins follows from a few
 * draws and stays near 0. Returns the sum over all bins before `bin`, times
 * DRIFT_BINS, plus a constant.
 */
static int64_t drift_sum(uint64_t seed, enum draw draw, uint64_t bin,
			 int64_t most)
{
	const int64_t n = DRIFT_BINS;
	uint64_t at = bin / DRIFT_BINS;
	int64_t i = (int64_t)(bin % DRIFT_BINS);
	int64_t before = draw_at(seed, draw, at - 1, most / 2);
	int64_t here = draw_at(seed, draw, at, most / 2);
	int64_t next = draw_at(seed, draw, at + 1, most / 2);
	int64_t from = here - before, to = next - here;

	return before * n * (n + 1) / 2 + here * n * (n - 1) / 2 +
	       from * n * i + (to - from) * i * (i - 1) / 2;
}

/*
 * The sum of a figure's drift over the bins from `from` to before `to`. The
 * sums of adjacent ranges add up exactly.
 */
static int64_t drift(int64_t figure, uint64_t seed, enum draw draw,
		     uint64_t from, uint64_t to, int64_t permille)
{
	/* In millionths, because small figures drift by less than a unit. */
	const int64_t scale = DRIFT_BINS * 1000000LL;
	int64_t most = permille * 1000;

	return figure * drift_sum(seed, draw, to, most) / scale -
	       figure * drift_sum(seed, draw, from, most) / scale;
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

/*
 * The figures that wander, unless they are set or forced. A figure of 1 adds
 * `per_s` to its sum in each second.
 */
static const struct wandering {
	enum gkf_value value;
	enum draw draw;
	size_t figure, sum; /* sum 0: none */
	int64_t most;       /* permille */
	int64_t per_s;
} wandering[] = {
#define AT(member) offsetof(struct gkf_state, member)
    {GKF_V_POWER, DRAW_POWER, AT(power_mw), AT(energy_mwbins), POWER_WANDER,
     GKF_BINS_PER_S},
    {GKF_V_POWER, DRAW_MEM_POWER, AT(mem_power_mw), 0, POWER_WANDER, 0},
    {GKF_V_PCIE_TX, DRAW_PCIE_OUT, AT(pcie_tx_kbs), AT(pcie_tx_bytes),
     PCIE_WANDER, 1000},
    {GKF_V_PCIE_RX, DRAW_PCIE_IN, AT(pcie_rx_kbs), AT(pcie_rx_bytes),
     PCIE_WANDER, 1000},
#undef AT
};

#define WANDERING (sizeof wandering / sizeof *wandering)

/*
 * Whether a figure wanders now. A board that copies, or is held at a power
 * floor after work, is not at rest.
 */
static bool wanders(struct gkf_machine *m, unsigned device,
		    const struct gkf_state *s, const struct wandering *w)
{
	return m->boards[device].seed && s->rest_bins >= GKF_REST_BINS &&
	       gkf_value_forced(m, device, w->value) == GKF_UNSET;
}

/* A figure without its drift. Any process may have overwritten the state. */
static int64_t still_figure(const struct gkf_state *s,
			    const struct wandering *w)
{
	const char *at = (const char *)s + w->figure;

	return gkf_clamp(*(const int64_t *)(const void *)at, 0, INT32_MAX);
}

void gkf_life_wander(struct gkf_machine *m, unsigned device,
		     struct gkf_state *s)
{
	for (size_t i = 0; i < WANDERING; i++) {
		const struct wandering *w = &wandering[i];
		int64_t *figure = (int64_t *)(void *)((char *)s + w->figure);

		if (wanders(m, device, s, w))
			*figure =
			    still_figure(s, w) +
			    drift(still_figure(s, w), m->boards[device].seed,
				  w->draw, s->bin, s->bin + 1, w->most);
	}
}

void gkf_life_add(struct gkf_machine *m, unsigned device, uint64_t before,
		  struct gkf_state *s)
{
	for (size_t i = 0; i < WANDERING; i++) {
		const struct wandering *w = &wandering[i];
		uint64_t *sum = (uint64_t *)(void *)((char *)s + w->sum);

		if (w->sum && wanders(m, device, s, w))
			*sum += (uint64_t)drift(
			    still_figure(s, w) * w->per_s / GKF_BINS_PER_S,
			    m->boards[device].seed, w->draw, before + 1,
			    s->bin + 1, w->most);
	}
	gkf_physics_energy(s);
}

uint32_t gkf_life_pcie_out(uint64_t seed)
{
	return seed ? (uint32_t)(500 + draw_at(seed, DRAW_RATIO, 0, 200)) : 500;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heat.c - models temperatures and fans; see heat.h. A board is modelled as a
 * heat capacity that loses heat to the air. Its memory is another heat
 * capacity, which its own power and the core warm.
 */
#include "machine/model/heat.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/physics.h"
#include "machine/model/power.h"

#include <stdbool.h>

/* Inlet air of boards with fans: our estimate. */
#define AIR_MC 25000

#define NO_LIMIT_C 1000

/* A slowdown ends this much below the temperature at which it began. */
#define HARD_HYSTERESIS_MC 5000
#define SOFT_HYSTERESIS_MC 2000

/* Software lowers the clock by an eighth for each degree above the limit. */
#define SOFT_PERMILLE_PER_K 125
#define SOFT_LEAST_PERMILLE 300

/*
 * The memory's time constant, and its rise in temperature as permille of the
 * core's rise.
 */
#define MEMORY_TAU_S         15
#define MEMORY_CORE_PERMILLE 250

/*
 * Fans: where their curve starts, how far the board must cool before they slow
 * down, and how fast their speed changes.
 */
#define FAN_START_C 50
/* The end of the curve for boards whose slowdown temperature is not known. */
#define FAN_FULL_C            90
#define FAN_START_PERCENT     30
#define FAN_HYSTERESIS_MC     3000
#define FAN_UP_PERMILLE_BIN   10
#define FAN_DOWN_PERMILLE_BIN 5

/* A limit that is not known is never reached. */
static int64_t limit_mc(int64_t limit_c)
{
	return (limit_c < 0 ? NO_LIMIT_C : limit_c) * 1000;
}

static int64_t soft_limit_mc(const struct gkf_profile *p,
			     const struct gkf_drive *d)
{
	int64_t set = d->set[GKF_V_TARGET_TEMPERATURE];

	if (p->temp_target_c < 0)
		return limit_mc(p->temp_max_c);
	return (set == GKF_UNSET ? p->temp_target_c : set) * 1000;
}

/*
 * Whether the board is hot. It becomes hot at at_mc, and stays hot until it has
 * cooled to `hysteresis_mc` below that.
 */
static bool is_hot(int64_t temp_mc, int64_t at_mc, int64_t hysteresis_mc,
		   bool before)
{
	return temp_mc >= at_mc - (before ? hysteresis_mc : 0);
}

int64_t gkf_heat_limit(const struct gkf_profile *p, const struct gkf_drive *d,
		       const struct gkf_state *s, int64_t *ret_reasons)
{
	int64_t soft = soft_limit_mc(p, d), left;

	*ret_reasons = 0;
	if (is_hot(s->temp_mc, limit_mc(p->temp_slowdown_c), HARD_HYSTERESIS_MC,
		   s->throttle & GKF_REASON_HW_THERMAL)) {
		*ret_reasons = GKF_REASON_HW_SLOWDOWN | GKF_REASON_HW_THERMAL;
		return s->temp_mc >= limit_mc(p->temp_shutdown_c) ? 0 : 500;
	}
	if (!is_hot(s->temp_mc, soft, SOFT_HYSTERESIS_MC,
		    s->throttle & GKF_REASON_SW_THERMAL))
		return 1000;
	*ret_reasons = GKF_REASON_SW_THERMAL;
	left = 1000 - (s->temp_mc - soft + SOFT_HYSTERESIS_MC) *
			  SOFT_PERMILLE_PER_K / 1000;
	return gkf_clamp(left, SOFT_LEAST_PERMILLE, 1000);
}

static int64_t at_least(int64_t value, int64_t least)
{
	return value > least ? value : least;
}

/*
 * Temperature of the air, and the board's conductances to it in mW per kelvin.
 */
struct cooling {
	int64_t air_mc;
	/* Conductance now, and at full load in steady state. */
	int64_t now, busy;
};

/*
 * For passive boards, finds the air temperature and the fixed conductance that
 * fit the temperatures at rest and at full load. For boards with fans, the
 * conductance grows linearly with fan speed and fits at these two points.
 */
static struct cooling cooling_of(const struct gkf_profile *p, int64_t fan)
{
	/* The power at which the board settles at temp_busy_c. */
	int64_t settled =
	    !p->power_limit_mw || p->power_busy_mw < p->power_limit_mw
		? p->power_busy_mw
		: p->power_limit_mw;
	int64_t rest, busy, from, to;
	int64_t idle_mc = p->temp_idle_c * 1000,
		busy_mc = p->temp_busy_c * 1000;
	struct cooling c;

	if (!p->fans || !p->fan_max_rpm) {
		c.busy = (settled - p->power_idle_mw) * 1000 /
			 at_least(busy_mc - idle_mc, 1000);
		c.busy = c.now = at_least(c.busy, 1);
		c.air_mc = idle_mc - p->power_idle_mw * 1000 / c.busy;
		return c;
	}
	c.air_mc = idle_mc - 5000 < AIR_MC ? idle_mc - 5000 : AIR_MC;
	rest = p->power_idle_mw * 1000 / (idle_mc - c.air_mc);
	busy = settled * 1000 / at_least(busy_mc - c.air_mc, 1000);
	if (rest > busy * 3 / 4) /* a faster fan must cool more */
		rest = busy * 3 / 4;
	from = gkf_physics_fan(p, p->temp_idle_c) * 10;
	to = gkf_physics_fan(p, p->temp_busy_c) * 10;
	c.busy = at_least(busy, 1);
	c.now = rest + (busy - rest) * (fan - from) / at_least(to - from, 1);
	c.now = at_least(c.now, at_least(rest * 3 / 4, 1));
	return c;
}

static void step_core(const struct gkf_profile *p, struct gkf_state *s)
{
	struct cooling c = cooling_of(p, s->fan_permille);
	int64_t target = c.air_mc + s->power_mw * 1000 / c.now;
	/* The heat capacity is tau times the conductance at full load. */
	int64_t bins = p->temp_tau_s * GKF_BINS_PER_S * c.busy / c.now + 1;

	s->temp_mc += (target - s->temp_mc) / bins;
}

/*
 * The memory's temperature rises by a part of the core's rise, and with the
 * memory's own power.
 */
static void step_memory(const struct gkf_profile *p, struct gkf_state *s)
{
	int64_t rest_mw = gkf_power_memory_rest(p);
	int64_t range_mw = at_least(gkf_power_memory_full(p) - rest_mw, 1);
	int64_t core_mc =
	    (s->temp_mc - p->temp_idle_c * 1000) * MEMORY_CORE_PERMILLE / 1000;
	int64_t own_mc =
	    (p->mem_temp_busy_c - p->mem_temp_idle_c) * 1000 -
	    (p->temp_busy_c - p->temp_idle_c) * MEMORY_CORE_PERMILLE;
	int64_t target =
	    p->mem_temp_idle_c * 1000 + core_mc +
	    at_least(own_mc, 0) * (s->mem_power_mw - rest_mw) / range_mw;

	s->mem_temp_mc +=
	    (target - s->mem_temp_mc) / (MEMORY_TAU_S * GKF_BINS_PER_S + 1);
}

void gkf_heat_step(const struct gkf_profile *p, const struct gkf_drive *d,
		   struct gkf_state *s)
{
	if (d->set[GKF_V_TEMPERATURE] == GKF_UNSET)
		step_core(p, s);
	if (d->set[GKF_V_MEM_TEMPERATURE] != GKF_UNSET)
		s->mem_temp_mc = d->set[GKF_V_MEM_TEMPERATURE] * 1000;
	else if (p->mem_temp_max_c >= 0)
		step_memory(p, s);
}

int64_t gkf_physics_fan(const struct gkf_profile *p, int64_t temp_c)
{
	int64_t full = p->temp_slowdown_c < 0 ? FAN_FULL_C : p->temp_slowdown_c;
	int64_t span = full - FAN_START_C;
	int64_t percent = FAN_START_PERCENT + (100 - FAN_START_PERCENT) *
						  (temp_c - FAN_START_C) /
						  at_least(span, 1);

	if (temp_c < FAN_START_C || !p->fan_max_rpm)
		return p->fan_min_percent;
	return gkf_clamp(percent, p->fan_min_percent, 100);
}

void gkf_fan_step(const struct gkf_profile *p, const struct gkf_drive *d,
		  struct gkf_state *s)
{
	int64_t target;

	s->fan_temp_mc = gkf_clamp(s->fan_temp_mc, s->temp_mc,
				   s->temp_mc + FAN_HYSTERESIS_MC);
	if (!p->fans)
		return;
	target = d->set[GKF_V_FAN_TARGET];
	if (target == GKF_UNSET)
		target = gkf_physics_fan(p, s->fan_temp_mc / 1000);
	s->fan_permille +=
	    gkf_clamp(target * 10 - s->fan_permille, -FAN_DOWN_PERMILLE_BIN,
		      FAN_UP_PERMILLE_BIN);
	if (d->set[GKF_V_FAN] != GKF_UNSET)
		s->fan_permille = d->set[GKF_V_FAN] * 10;
}

/* physics.c - the model of one bin; see physics.h. */
#include "fake/physics.h"

/* Bits of nvmlClocksEventReasons. */
enum {
	REASON_IDLE = 0x1,
	REASON_SW_POWER_CAP = 0x4,
	REASON_HW_SLOWDOWN = 0x8,
	REASON_SW_THERMAL = 0x20,
	REASON_HW_THERMAL = 0x40,
};

/* A GPU with an idle context draws a little more than an empty one. */
#define CONTEXT_PERMILLE 80

/* Between a and b, at permille of the way. */
static int64_t between(int64_t a, int64_t b, int64_t permille)
{
	return a + (b - a) * permille / 1000;
}

static void step_clocks(const struct gkf_profile *p, const struct gkf_drive *d,
			int64_t busy, struct gkf_state *s)
{
	bool awake = d->attached || busy;

	s->pstate = awake ? 0 : p->pstate_idle;
	s->mem_clock_mhz = awake ? p->mem_clock_max_mhz : p->mem_clock_idle_mhz;
	s->sm_clock_mhz = busy ? p->sm_clock_max_mhz : p->sm_clock_idle_mhz;
	s->video_clock_mhz =
	    busy ? p->video_clock_max_mhz : p->video_clock_idle_mhz;
	s->throttle = busy ? 0 : REASON_IDLE;
}

/* Hot: half the clocks at the slowdown point, a tenth less from max on. */
static void step_heat_limits(const struct gkf_profile *p, int64_t temp_c,
			     struct gkf_state *s)
{
	if (temp_c >= p->temp_slowdown_c) {
		s->throttle |= REASON_HW_SLOWDOWN | REASON_HW_THERMAL;
		s->sm_clock_mhz /= 2;
	} else if (temp_c >= p->temp_max_c) {
		s->throttle |= REASON_SW_THERMAL;
		s->sm_clock_mhz = s->sm_clock_mhz * 9 / 10;
	}
}

static void step_power(const struct gkf_profile *p, const struct gkf_drive *d,
		       int64_t busy, struct gkf_state *s)
{
	int64_t load = busy ? busy : d->attached ? CONTEXT_PERMILLE : 0;
	int64_t range = p->power_busy_mw - p->power_idle_mw;
	int64_t limit = d->set[GKF_V_POWER_LIMIT];
	int64_t dynamic = range * load / 1000;

	if (busy)
		dynamic = dynamic * s->sm_clock_mhz / p->sm_clock_max_mhz;
	s->power_mw = p->power_idle_mw + dynamic;
	if (limit == GKF_UNSET)
		limit = p->power_limit_mw;
	if (s->power_mw > limit && dynamic > 0) {
		int64_t kept = gkf_clamp(limit - p->power_idle_mw, 0, dynamic);

		s->throttle |= REASON_SW_POWER_CAP;
		s->sm_clock_mhz =
		    gkf_clamp(s->sm_clock_mhz * kept / dynamic,
			      p->sm_clock_idle_mhz, p->sm_clock_max_mhz);
		s->power_mw = p->power_idle_mw + kept;
	}
	if (d->set[GKF_V_POWER] != GKF_UNSET)
		s->power_mw = d->set[GKF_V_POWER];
}

/* First-order: the core nears the temperature that its power settles at. */
static void step_temperature(const struct gkf_profile *p, struct gkf_state *s)
{
	int64_t range = p->power_busy_mw - p->power_idle_mw;
	int64_t load = gkf_clamp((s->power_mw - p->power_idle_mw) * 1000 /
				     (range > 0 ? range : 1),
				 0, 1500);
	int64_t target =
	    between(p->temp_idle_c * 1000, p->temp_busy_c * 1000, load);
	int64_t bins = p->temp_tau_s * GKF_BINS_PER_S + 1;

	s->temp_mc += (target - s->temp_mc) / bins;
}

void gkf_physics_step(const struct gkf_profile *p, const struct gkf_drive *d,
		      struct gkf_state *s)
{
	int64_t busy = gkf_clamp(d->demand, 0, 1000);
	int64_t scale = d->demand > 1000 ? d->demand : 1000;

	if (d->set[GKF_V_GPU_UTIL] != GKF_UNSET)
		busy = d->set[GKF_V_GPU_UTIL] * 10;
	s->demand_permille = d->demand;
	s->gpu_util = busy / 10;
	s->mem_util = gkf_clamp((int64_t)d->mem * 1000 / scale / 10, 0, 100);
	s->enc_util = gkf_clamp(d->enc / 10, 0, 100);
	s->dec_util = gkf_clamp(d->dec / 10, 0, 100);
	if (d->set[GKF_V_TEMPERATURE] != GKF_UNSET)
		s->temp_mc = d->set[GKF_V_TEMPERATURE] * 1000;
	step_clocks(p, d, busy, s);
	step_heat_limits(p, s->temp_mc / 1000, s);
	step_power(p, d, busy, s);
	if (d->set[GKF_V_TEMPERATURE] == GKF_UNSET)
		step_temperature(p, s);
	s->energy_uj += (uint64_t)s->power_mw * 1000 / GKF_BINS_PER_S;
	s->bin++;
}

int64_t gkf_physics_fan(const struct gkf_profile *p, int64_t temp_c)
{
	int64_t span = p->temp_max_c - p->temp_idle_c;

	return gkf_clamp(
	    between(30, 100,
		    (temp_c - p->temp_idle_c) * 1000 / (span > 0 ? span : 1)),
	    30, 100);
}

/* physics.c - the model of one bin; see physics.h. */
#include "fake/physics.h"

/* Bits of nvmlClocksEventReasons. */
enum {
	REASON_IDLE = 0x1,
	REASON_APPLICATIONS = 0x2,
	REASON_SW_POWER_CAP = 0x4,
	REASON_HW_SLOWDOWN = 0x8,
	REASON_SW_THERMAL = 0x20,
	REASON_HW_THERMAL = 0x40,
	REASON_POWER_BRAKE = 0x80,
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

static void step_faults(const struct gkf_profile *p, const struct gkf_drive *d,
			struct gkf_state *s)
{
	if (!d->fault_reasons)
		return;
	s->throttle |= (int64_t)d->fault_reasons;
	s->sm_clock_mhz = gkf_clamp(s->sm_clock_mhz * d->fault_clock / 1000, 1,
				    p->sm_clock_max_mhz);
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

/* A forced value, else the one that the model says. */
static int64_t either(const struct gkf_drive *d, enum gkf_value value,
		      int64_t model)
{
	return d->set[value] != GKF_UNSET ? d->set[value] : model;
}

static void step_engines(const struct gkf_drive *d, int64_t busy,
			 struct gkf_state *s)
{
	int64_t scale = d->demand > 1000 ? d->demand : 1000;

	s->demand_permille = d->demand;
	s->gpu_util = busy / 10;
	s->mem_util =
	    either(d, GKF_V_MEM_UTIL,
		   gkf_clamp((int64_t)d->mem * 1000 / scale / 10, 0, 100));
	s->enc_util = either(d, GKF_V_ENC_UTIL, gkf_clamp(d->enc / 10, 0, 100));
	s->dec_util = either(d, GKF_V_DEC_UTIL, gkf_clamp(d->dec / 10, 0, 100));
	s->jpg_util = either(d, GKF_V_JPG_UTIL, 0);
	s->ofa_util = either(d, GKF_V_OFA_UTIL, 0);
	s->sm_active = busy * 9 / 10;
	s->sm_occupancy = busy * 4 / 10;
	s->tensor_active = busy / 2;
	s->dram_active = s->mem_util * 10;
}

static void step_links(const struct gkf_profile *p, const struct gkf_drive *d,
		       int64_t busy, struct gkf_state *s)
{
	/* KB/s of a lane: 250 MB/s in generation 1, then twice each time. */
	int64_t lane = 250000LL << (p->pcie_gen - 1);
	int64_t kbs = lane * p->pcie_width / 50 * busy / 1000;

	s->pcie_tx_kbs = either(d, GKF_V_PCIE_TX, kbs / 2);
	s->pcie_rx_kbs = either(d, GKF_V_PCIE_RX, kbs);
	s->nvlink_tx_kbs = either(d, GKF_V_NVLINK_TX, 0);
	s->nvlink_rx_kbs = either(d, GKF_V_NVLINK_RX, 0);
}

static void step_fan(const struct gkf_profile *p, const struct gkf_drive *d,
		     struct gkf_state *s)
{
	int64_t target =
	    either(d, GKF_V_FAN_TARGET, gkf_physics_fan(p, s->temp_mc / 1000));

	s->fan_temp_mc = s->temp_mc;
	s->fan_permille = p->fans ? either(d, GKF_V_FAN, target) * 10 : 0;
}

/* What only grows. */
static void step_sums(const struct gkf_drive *d, int64_t busy,
		      struct gkf_state *s)
{
	int64_t reasons = either(d, GKF_V_THROTTLE, s->throttle);

	s->bin++;
	s->energy_mwbins += (uint64_t)s->power_mw;
	s->energy_uj =
	    s->energy_mwbins / GKF_BINS_PER_S * 1000 +
	    s->energy_mwbins % GKF_BINS_PER_S * 1000 / GKF_BINS_PER_S;
	s->pcie_tx_bytes += (uint64_t)s->pcie_tx_kbs * 1000 / GKF_BINS_PER_S;
	s->pcie_rx_bytes += (uint64_t)s->pcie_rx_kbs * 1000 / GKF_BINS_PER_S;
	s->nvlink_tx_bytes +=
	    (uint64_t)s->nvlink_tx_kbs * 1000 / GKF_BINS_PER_S;
	s->nvlink_rx_bytes +=
	    (uint64_t)s->nvlink_rx_kbs * 1000 / GKF_BINS_PER_S;
	for (unsigned bit = 0; bit < GKF_REASONS; bit++)
		if (reasons >> bit & 1)
			s->reason_ns[bit] += GKF_BIN_NS;
	s->gpu_sum += (uint64_t)busy;
	s->sm_active_sum += (uint64_t)s->sm_active;
	s->sm_occupancy_sum += (uint64_t)s->sm_occupancy;
	s->tensor_sum += (uint64_t)s->tensor_active;
	s->dram_sum += (uint64_t)s->dram_active;
	s->enc_sum += (uint64_t)s->enc_util * 10;
	s->dec_sum += (uint64_t)s->dec_util * 10;
	s->jpg_sum += (uint64_t)s->jpg_util * 10;
	s->ofa_sum += (uint64_t)s->ofa_util * 10;
}

/* Halves the clocks: what hardware does on its own. */
static void step_forced(const struct gkf_drive *d, struct gkf_state *s)
{
	static const struct {
		enum gkf_value value;
		int64_t reasons;
	} rows[] = {
	    {GKF_V_SLOWDOWN, REASON_HW_SLOWDOWN},
	    {GKF_V_POWER_BRAKE, REASON_HW_SLOWDOWN | REASON_POWER_BRAKE},
	    {GKF_V_THERMAL_SLOWDOWN, REASON_HW_SLOWDOWN | REASON_HW_THERMAL},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (either(d, rows[i].value, 0) != 1)
			continue;
		if (!(s->throttle & REASON_HW_SLOWDOWN))
			s->sm_clock_mhz /= 2;
		s->throttle |= rows[i].reasons;
	}
}

/* Locked and applications clocks. */
static void step_locks(const struct gkf_profile *p, const struct gkf_drive *d,
		       struct gkf_state *s)
{
	int64_t high = either(d, GKF_V_LOCK_SM_MAX, p->sm_clock_max_mhz);
	int64_t low = either(d, GKF_V_LOCK_SM_MIN, 1);
	int64_t asked = either(d, GKF_V_APP_SM, p->sm_clock_max_mhz);

	if (asked < s->sm_clock_mhz) {
		s->sm_clock_mhz = asked;
		s->throttle |= REASON_APPLICATIONS;
	}
	if (s->sm_clock_mhz > high)
		s->sm_clock_mhz = high;
	if (s->sm_clock_mhz < low)
		s->sm_clock_mhz = low;
	s->mem_clock_mhz =
	    gkf_clamp(s->mem_clock_mhz, either(d, GKF_V_LOCK_MEM_MIN, 1),
		      either(d, GKF_V_LOCK_MEM_MAX, p->mem_clock_max_mhz));
}

void gkf_physics_step(const struct gkf_profile *p, const struct gkf_drive *d,
		      struct gkf_state *s)
{
	int64_t busy = gkf_clamp(d->demand, 0, 1000);

	if (d->set[GKF_V_GPU_UTIL] != GKF_UNSET)
		busy = d->set[GKF_V_GPU_UTIL] * 10;
	step_engines(d, busy, s);
	if (d->set[GKF_V_TEMPERATURE] != GKF_UNSET)
		s->temp_mc = d->set[GKF_V_TEMPERATURE] * 1000;
	step_clocks(p, d, busy, s);
	step_locks(p, d, s);
	step_heat_limits(p, s->temp_mc / 1000, s);
	step_forced(d, s);
	step_faults(p, d, s);
	step_power(p, d, busy, s);
	if (d->set[GKF_V_TEMPERATURE] == GKF_UNSET)
		step_temperature(p, s);
	/* Stacked memory runs some degrees above the core in use. */
	s->mem_temp_mc = s->temp_mc + s->gpu_util * 1000 / 12;
	step_fan(p, d, s);
	step_links(p, d, busy, s);
	step_sums(d, busy, s);
}

int64_t gkf_physics_fan(const struct gkf_profile *p, int64_t temp_c)
{
	int64_t span = p->temp_max_c - p->temp_idle_c;

	return gkf_clamp(
	    between(30, 100,
		    (temp_c - p->temp_idle_c) * 1000 / (span > 0 ? span : 1)),
	    30, 100);
}

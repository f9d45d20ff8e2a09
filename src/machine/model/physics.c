/* SPDX-License-Identifier: Apache-2.0 */
/* physics.c - computes one bin; see physics.h and docs/MACHINE.md. */
#include "machine/model/physics.h"
#include "machine/store/process/busy.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/file/work_state.h"
#include "machine/model/controls.h"
#include "machine/model/heat.h"
#include "machine/model/power.h"
#include "machine/model/wave.h"

#include <stddef.h>
#include <string.h>

/* Traffic of an idle PCIe link, KB/s: register accesses. */
#define PCIE_REST_KBS 350

/* Returns the forced value, or the model's if none is forced. */
static int64_t forced_or(const struct gkf_drive *d, enum gkf_value value,
			 int64_t model)
{
	return d->set[value] != GKF_UNSET ? d->set[value] : model;
}

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Busy time by kind of work, permille of the bin; the sum is at most 1000. */
struct work {
	int64_t busy, kind[GKF_WAVE_KINDS], mem, nvlink;
};

/* Processes take turns; a forced utilisation scales their work. */
static struct work share_out(const struct gkf_profile *p,
			     const struct gkf_drive *d)
{
	int64_t wanted = d->demand;
	struct work w = {.busy = forced_or(d, GKF_V_GPU_UTIL, -1) * 10};

	if (w.busy < 0)
		w.busy = min(wanted, 1000);
	for (int k = 0; k < GKF_WAVE_KINDS && wanted; k++)
		w.kind[k] = d->kind[k] * w.busy / wanted;
	if (!wanted) /* forced utilisation counts as training */
		w.kind[GKF_WAVE_TRAIN] = w.busy;
	w.mem = wanted ? d->mem * w.busy / wanted : 0;
	w.nvlink = wanted ? d->nvlink * w.busy / wanted : 0;
	w.mem = gkf_clamp(w.mem + gkf_moved_permille(p, d->moved), 0, 1000);
	if (!p->own_memory)
		w.mem = 0;
	w.mem = forced_or(d, GKF_V_MEM_UTIL, w.mem / 10) * 10;
	return w;
}

/*
 * The busy time of each kind of work, weighted by a column of gkf_activities.
 */
#define WEIGH(work, column)                                                    \
	(((work)->kind[GKF_WAVE_TRAIN] *                                       \
	      gkf_activities[GKF_WAVE_TRAIN].column +                          \
	  (work)->kind[GKF_WAVE_INFER] *                                       \
	      gkf_activities[GKF_WAVE_INFER].column +                          \
	  (work)->kind[GKF_WAVE_STEADY] *                                      \
	      gkf_activities[GKF_WAVE_STEADY].column +                         \
	  (work)->kind[GKF_WAVE_REAL] *                                        \
	      gkf_activities[GKF_WAVE_REAL].column) /                          \
	 1000)

static void step_engines(const struct gkf_drive *d, const struct work *w,
			 struct gkf_state *s)
{
	s->demand_permille = d->demand;
	s->gpu_util = w->busy / 10;
	s->mem_util = w->mem / 10;
	s->enc_util = forced_or(d, GKF_V_ENC_UTIL, min(d->enc / 10, 100));
	s->dec_util = forced_or(d, GKF_V_DEC_UTIL, min(d->dec / 10, 100));
	s->jpg_util = forced_or(d, GKF_V_JPG_UTIL, min(d->jpg / 10, 100));
	s->ofa_util = forced_or(d, GKF_V_OFA_UTIL, min(d->ofa / 10, 100));
	s->sm_active = WEIGH(w, sm);
	s->sm_occupancy = WEIGH(w, occupancy);
	s->tensor_active = WEIGH(w, tensor);
	s->dram_active = w->mem;
}

static bool is_busy(const struct gkf_state *s)
{
	return s->gpu_util || s->enc_util || s->dec_util || s->jpg_util ||
	       s->ofa_util;
}

/*
 * Boards with a single P-state keep their clocks up while any process has a
 * context; others lower them when nothing has run for a while.
 */
static bool is_awake(const struct gkf_profile *p, const struct gkf_drive *d,
		     struct gkf_state *s)
{
	bool moves = gkf_moved_any(d->moved);

	if (is_busy(s) || moves)
		s->rest_bins = 0;
	else if (s->rest_bins < GKF_REST_BINS)
		s->rest_bins++;
	return s->rest_bins < GKF_REST_BINS || (d->attached && !p->pstate_idle);
}

/* Sets the clocks at which the board would run if nothing held it back. */
static void step_clocks(const struct gkf_profile *p, const struct gkf_drive *d,
			struct gkf_state *s)
{
	int64_t offset = forced_or(d, GKF_V_SM_OFFSET, 0);
	/* The driver can also be told to keep the highest clocks at rest. */
	bool awake =
	    is_awake(p, d, s) || forced_or(d, GKF_V_POWER_MIZER, 0) == 1;
	int64_t boost =
	    awake ? p->sm_clock_busy_mhz + offset : p->sm_clock_idle_mhz;
	int64_t memory =
	    awake ? p->mem_clock_busy_mhz + forced_or(d, GKF_V_MEM_OFFSET, 0)
		  : p->mem_clock_idle_mhz;

	boost = gkf_clamp(boost, p->sm_clock_idle_mhz,
			  p->sm_clock_max_mhz + (offset > 0 ? offset : 0));
	s->sm_clock_mhz = min(boost, forced_or(d, GKF_V_APP_SM, boost));
	s->sm_clock_mhz = min(s->sm_clock_mhz,
			      forced_or(d, GKF_V_LOCK_SM_MAX, s->sm_clock_mhz));
	s->throttle = is_busy(s) ? 0 : GKF_REASON_IDLE;
	if (awake && s->sm_clock_mhz < boost)
		s->throttle |= GKF_REASON_APPLICATIONS;
	if (s->sm_clock_mhz < forced_or(d, GKF_V_LOCK_SM_MIN, 0))
		s->sm_clock_mhz = d->set[GKF_V_LOCK_SM_MIN];
	memory = min(memory, forced_or(d, GKF_V_APP_MEM, memory));
	memory = min(memory, forced_or(d, GKF_V_LOCK_MEM_MAX, memory));
	if (memory < forced_or(d, GKF_V_LOCK_MEM_MIN, 0))
		memory = d->set[GKF_V_LOCK_MEM_MIN];
	s->mem_clock_mhz = gkf_clamp(memory, 1, INT64_MAX);
	s->pstate = awake ? p->pstate_busy : p->pstate_idle;
}

/* Values that halve the clock, each with its throttle reasons. */
static const struct {
	enum gkf_value value;
	int64_t reasons;
} slowdowns[] = {
    {GKF_V_SLOWDOWN, GKF_REASON_HW_SLOWDOWN},
    {GKF_V_POWER_BRAKE, GKF_REASON_HW_SLOWDOWN | GKF_REASON_POWER_BRAKE},
    {GKF_V_THERMAL_SLOWDOWN, GKF_REASON_HW_SLOWDOWN | GKF_REASON_HW_THERMAL},
};

/* Lowers a clock to `left` permille, rounded down to a valid step. */
static int64_t lower_clock(const struct gkf_profile *p, int64_t mhz,
			   int64_t left)
{
	int64_t steps = (mhz - mhz * left / 1000 + GKF_CLOCK_STEP_MHZ - 1) /
			GKF_CLOCK_STEP_MHZ;
	int64_t low = min(mhz, p->sm_clock_idle_mhz);

	mhz -= steps * GKF_CLOCK_STEP_MHZ;
	return mhz > low ? mhz : low;
}

/* Applies the strictest limit of heat, hardware slowdowns and faults. */
static void step_limits(const struct gkf_profile *p, const struct gkf_drive *d,
			const struct gkf_state *before, struct gkf_state *s)
{
	int64_t reasons, left = gkf_heat_limit(p, d, before, &reasons);

	for (size_t i = 0; i < sizeof slowdowns / sizeof *slowdowns; i++)
		if (forced_or(d, slowdowns[i].value, 0) == 1) {
			reasons |= slowdowns[i].reasons;
			left = min(left, 500);
		}
	s->throttle |= reasons;
	if (left < 1000)
		s->sm_clock_mhz = lower_clock(p, s->sm_clock_mhz, left);
}

static int64_t round_clock(int64_t mhz)
{
	return (mhz + GKF_CLOCK_STEP_MHZ / 2) / GKF_CLOCK_STEP_MHZ *
	       GKF_CLOCK_STEP_MHZ;
}

/* Computes the clock that the power limit allows, then the power drawn. */
static void step_power(const struct gkf_profile *p, const struct gkf_drive *d,
		       const struct work *w, struct gkf_state *s)
{
	struct gkf_load load = {
	    .busy = w->busy,
	    .work = WEIGH(w, power),
	    .mem = w->mem,
	    .video =
		(s->enc_util + s->dec_util + s->jpg_util + s->ofa_util) * 10,
	};
	struct gkf_clocks clocks = {
	    .sm_mhz = s->sm_clock_mhz,
	    .mem_mhz = forced_or(d, GKF_V_MEM_CLOCK, s->mem_clock_mhz),
	    .offset_mhz = forced_or(d, GKF_V_SM_OFFSET, 0),
	};
	int64_t limit = gkf_power_limit_in_force(
	    p, forced_or(d, GKF_V_POWER_LIMIT, p->power_limit_mw),
	    (uint32_t)forced_or(d, GKF_V_POWER_PROFILES, 0));
	struct gkf_power power;

	if (limit) /* some boards have none */
		clocks.sm_mhz = gkf_power_cap(p, &load, &clocks, limit);
	if (clocks.sm_mhz < s->sm_clock_mhz)
		s->throttle |= GKF_REASON_SW_POWER_CAP;
	clocks.sm_mhz = forced_or(d, GKF_V_SM_CLOCK, clocks.sm_mhz);
	power = gkf_power_at(p, &load, &clocks);
	s->sm_clock_mhz = clocks.sm_mhz;
	s->mem_clock_mhz = clocks.mem_mhz;
	s->video_clock_mhz = round_clock(p->video_clock_max_mhz *
					 s->sm_clock_mhz / p->sm_clock_max_mhz);
	s->video_clock_mhz =
	    gkf_clamp(s->video_clock_mhz, p->video_clock_idle_mhz,
		      p->video_clock_max_mhz);
	if (d->attached && s->rest_bins <= d->floor_bins &&
	    power.board_mw < limit * d->floor_permille / 1000)
		power.board_mw = limit * d->floor_permille / 1000;
	s->power_mw = forced_or(d, GKF_V_POWER, power.board_mw);
	s->mem_power_mw = power.mem_mw;
}

/* The bytes of a bin as KB/s, rounded up. */
static int64_t kbs_of(uint64_t bytes)
{
	return (int64_t)((bytes * GKF_BINS_PER_S + 999) / 1000);
}

static void step_links(const struct gkf_profile *p, const struct gkf_drive *d,
		       const struct work *w, struct gkf_state *s)
{
	/* A lane has 250 MB/s in generation 1, doubled in each later one. */
	int64_t gen =
	    gkf_clamp(forced_or(d, GKF_V_PCIE_GEN, p->pcie_gen), 1, 6);
	int64_t most =
	    (250000LL << (gen - 1)) *
	    forced_or(d, GKF_V_PCIE_WIDTH, gkf_clamp(p->pcie_width, 1, 16));
	int64_t pcie = most * WEIGH(w, pcie) / 1000;
	int64_t out = kbs_of(d->moved[GKF_OUT]), in = kbs_of(d->moved[GKF_IN]);
	int64_t links = (int64_t)d->links * p->nvlink_mbps * 1000;
	int64_t nvlink = links * w->nvlink / 1000;

	s->pcie_tx_kbs = forced_or(
	    d, GKF_V_PCIE_TX,
	    min(pcie * d->pcie_out / 1000 + out + PCIE_REST_KBS, most));
	s->pcie_rx_kbs =
	    forced_or(d, GKF_V_PCIE_RX, min(pcie + in + PCIE_REST_KBS, most));
	s->nvlink_tx_kbs =
	    forced_or(d, GKF_V_NVLINK_TX,
		      min(nvlink + kbs_of(d->moved[GKF_LINK_OUT]), links));
	s->nvlink_rx_kbs =
	    forced_or(d, GKF_V_NVLINK_RX,
		      min(nvlink + kbs_of(d->moved[GKF_LINK_IN]), links));
}

void gkf_physics_energy(struct gkf_state *s)
{
	uint64_t mwbins = s->energy_mwbins;

	s->energy_uj = mwbins / GKF_BINS_PER_S * 1000 +
		       mwbins % GKF_BINS_PER_S * 1000 / GKF_BINS_PER_S;
}

static uint64_t bytes_in_bin(int64_t kbs)
{
	return (uint64_t)kbs * 1000 / GKF_BINS_PER_S;
}

#define THERMAL (GKF_REASON_SW_THERMAL | GKF_REASON_HW_THERMAL)
/* NVML counts low utilisation among the limiters. */
#define LIMITERS                                                               \
	(GKF_REASON_IDLE | GKF_REASON_SW_POWER_CAP | GKF_REASON_SYNC_BOOST |   \
	 THERMAL | GKF_REASON_POWER_BRAKE)

static void step_reasons(struct gkf_state *s, int64_t reasons)
{
	for (unsigned bit = 0; bit < GKF_REASONS; bit++)
		if (reasons >> bit & 1)
			s->reason_ns[bit] += GKF_BIN_NS;
	if (reasons & THERMAL)
		s->thermal_ns += GKF_BIN_NS;
	if (reasons & LIMITERS)
		s->limited_ns += GKF_BIN_NS;
}

/* Adds to the counters, which only grow. */
static void step_sums(const struct gkf_drive *d, const struct work *w,
		      struct gkf_state *s)
{
	s->bin++;
	s->energy_mwbins += (uint64_t)s->power_mw;
	gkf_physics_energy(s);
	s->pcie_tx_bytes += bytes_in_bin(s->pcie_tx_kbs);
	s->pcie_rx_bytes += bytes_in_bin(s->pcie_rx_kbs);
	s->nvlink_tx_bytes += bytes_in_bin(s->nvlink_tx_kbs);
	s->nvlink_rx_bytes += bytes_in_bin(s->nvlink_rx_kbs);
	step_reasons(s, forced_or(d, GKF_V_THROTTLE, s->throttle));
	s->gpu_sum += (uint64_t)w->busy;
	s->sm_active_sum += (uint64_t)s->sm_active;
	s->sm_occupancy_sum += (uint64_t)s->sm_occupancy;
	s->tensor_sum += (uint64_t)s->tensor_active;
	s->dram_sum += (uint64_t)s->dram_active;
	s->enc_sum += (uint64_t)s->enc_util * 10;
	s->dec_sum += (uint64_t)s->dec_util * 10;
	s->jpg_sum += (uint64_t)s->jpg_util * 10;
	s->ofa_sum += (uint64_t)s->ofa_util * 10;
}

void gkf_physics_step(const struct gkf_profile *p, const struct gkf_drive *d,
		      struct gkf_state *s)
{
	struct work w = share_out(p, d);
	struct gkf_state before;

	if (d->set[GKF_V_TEMPERATURE] != GKF_UNSET)
		s->temp_mc = d->set[GKF_V_TEMPERATURE] * 1000;
	before = *s;
	step_engines(d, &w, s);
	step_clocks(p, d, s);
	step_limits(p, d, &before, s);
	step_power(p, d, &w, s);
	gkf_heat_step(p, d, s);
	gkf_fan_step(p, d, s);
	step_links(p, d, &w, s);
	step_sums(d, &w, s);
}

void gkf_physics_rest(const struct gkf_profile *p, struct gkf_state *ret_state)
{
	*ret_state = (struct gkf_state){
	    .temp_mc = p->temp_idle_c * 1000,
	    .mem_temp_mc = (p->mem_temp_idle_c >= 0 ? p->mem_temp_idle_c
						    : p->temp_idle_c) *
			   1000,
	    .power_mw = p->power_idle_mw,
	    .mem_power_mw = gkf_power_memory_rest(p),
	    .sm_clock_mhz = p->sm_clock_idle_mhz,
	    .mem_clock_mhz = p->mem_clock_idle_mhz,
	    .video_clock_mhz = p->video_clock_idle_mhz,
	    .pstate = p->pstate_idle,
	    .throttle = GKF_REASON_IDLE,
	    .fan_permille =
		p->fans ? gkf_physics_fan(p, p->temp_idle_c) * 10 : 0,
	    .fan_temp_mc = p->temp_idle_c * 1000,
	    .rest_bins = GKF_REST_BINS,
	    .pcie_tx_kbs = PCIE_REST_KBS,
	    .pcie_rx_kbs = PCIE_REST_KBS,
	};
}

bool gkf_physics_is_steady(const struct gkf_state *before,
			   const struct gkf_state *after)
{
	return !memcmp(before, after, offsetof(struct gkf_state, bin));
}

void gkf_physics_repeat(const struct gkf_state *before, struct gkf_state *s,
			uint64_t n)
{
	const uint64_t *from = &before->bin;
	uint64_t *to = &s->bin;
	size_t words = sizeof *s / sizeof *to -
		       offsetof(struct gkf_state, bin) / sizeof *to;

	for (size_t i = 0; i < words; i++)
		to[i] += (to[i] - from[i]) * n;
	gkf_physics_energy(s);
}

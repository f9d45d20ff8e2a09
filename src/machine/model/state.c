/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.c - computes a device's state once per bin, in the first process that
 * reads it.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "base/pair.h"
#include "machine/file/board.h"
#include "machine/file/device.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/state.h"
#include "machine/model/account_bins.h"
#include "machine/model/demand.h"
#include "machine/model/forced.h"
#include "machine/model/life.h"
#include "machine/model/link.h"
#include "machine/model/mig/mig.h"
#include "machine/model/mig/mig_rules.h"
#include "machine/model/model.h"
#include "machine/model/model_events.h"
#include "machine/model/physics.h"
#include "machine/model/smoothing.h"
#include "machine/store/above.h"
#include "machine/store/clock.h"
#include "machine/store/process/slot.h"
#include "machine/store/state_bin.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

/* Bounds that no correct value reaches. */
#define POWER_MAX_MW 4000000
#define TEMP_MAX_MC  200000
#define REST_MAX     1000000

/*
 * At most one day is computed bin by bin while processes work; a longer gap
 * repeats the last bin of that day.
 */
#define CATCH_UP_BINS (86400ULL * GKF_BINS_PER_S)

/*
 * OLD_BINS: if the state is that old, another process is catching up with a
 * long gap, and a reader waits for it, at most PATIENCE_NS. If a stopped
 * process holds the lock, each call waits that long.
 */
#define OLD_BINS    3
#define PATIENCE_NS (20 * GK_NS_PER_MS)

/* Reads the state, and limits figures used in computations to valid ranges. */
static void read_state(struct gkf_device *dev, struct gkf_state *ret_state)
{
	gk_pair_read(&dev->state_seq, dev->state, ret_state, sizeof *ret_state);
	ret_state->gpu_util = gkf_clamp(ret_state->gpu_util, 0, 100);
	ret_state->power_mw = gkf_clamp(ret_state->power_mw, 0, POWER_MAX_MW);
	ret_state->mem_power_mw =
	    gkf_clamp(ret_state->mem_power_mw, 0, POWER_MAX_MW);
	ret_state->temp_mc = gkf_clamp(ret_state->temp_mc, 0, TEMP_MAX_MC);
	ret_state->mem_temp_mc =
	    gkf_clamp(ret_state->mem_temp_mc, 0, TEMP_MAX_MC);
	ret_state->fan_temp_mc =
	    gkf_clamp(ret_state->fan_temp_mc, 0, TEMP_MAX_MC);
	ret_state->fan_permille = gkf_clamp(ret_state->fan_permille, 0, 1000);
	ret_state->rest_bins = gkf_clamp(ret_state->rest_bins, 0, REST_MAX);
}

/*
 * Keeps the bin just computed. Its number is erased first and written last, so
 * that a reader never takes a half-written entry for a whole one.
 */
static void remember_bin(struct gkf_machine *m, unsigned device,
			 struct gkf_state s)
{
	struct gkf_past *past =
	    &m->file->device[device].past[(s.bin - 1) % GKF_PAST_BINS];
	struct gkf_past now;

	gkf_life_wander(m, device, &s);
	now = (struct gkf_past){
	    .bin = s.bin - 1,
	    .power_mw = (uint32_t)s.power_mw,
	    .mem_power_mw = (uint32_t)s.mem_power_mw,
	    .pcie_tx_kbs = (uint32_t)s.pcie_tx_kbs,
	    .pcie_rx_kbs = (uint32_t)s.pcie_rx_kbs,
	    .nvlink_tx_kbs = (uint32_t)s.nvlink_tx_kbs,
	    .nvlink_rx_kbs = (uint32_t)s.nvlink_rx_kbs,
	    .sm_clock_mhz = (uint16_t)s.sm_clock_mhz,
	    .mem_clock_mhz = (uint16_t)s.mem_clock_mhz,
	    .video_clock_mhz = (uint16_t)s.video_clock_mhz,
	    .temp_c = (uint16_t)(s.temp_mc / 1000),
	    .sm_active = (uint16_t)s.sm_active,
	    .sm_occupancy = (uint16_t)s.sm_occupancy,
	    .tensor_active = (uint16_t)s.tensor_active,
	    .dram_active = (uint16_t)s.dram_active,
	    .gpu_util = (uint8_t)s.gpu_util,
	    .mem_util = (uint8_t)s.mem_util,
	    .enc_util = (uint8_t)s.enc_util,
	    .dec_util = (uint8_t)s.dec_util,
	    .jpg_util = (uint8_t)s.jpg_util,
	    .ofa_util = (uint8_t)s.ofa_util,
	    .fan = (uint8_t)(s.fan_permille / 10),
	    .mem_temp_c = (uint8_t)(s.mem_temp_mc / 1000),
	    .throttle = (uint16_t)s.throttle,
	    .pstate = (uint16_t)s.pstate,
	};

	__atomic_store_n(&past->bin, UINT64_MAX, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release);
	gk_words_copy((uint64_t *)past + 1, (const uint64_t *)&now + 1,
		      sizeof now - sizeof(uint64_t));
	__atomic_store_n(&past->bin, now.bin, __ATOMIC_RELEASE);
}

bool gkf_past_read(struct gkf_machine *m, unsigned device, uint64_t bin,
		   struct gkf_past *ret_past)
{
	struct gkf_past *past =
	    &m->file->device[device].past[bin % GKF_PAST_BINS];
	uint64_t found = __atomic_load_n(&past->bin, __ATOMIC_ACQUIRE);

	gk_words_copy(ret_past, past, sizeof *past);
	atomic_thread_fence(memory_order_acquire);
	return found == bin &&
	       __atomic_load_n(&past->bin, __ATOMIC_RELAXED) == bin;
}

/*
 * Sets the members of the drive that change only under the writers' lock. The
 * caller holds the writers' lock.
 */
static void drive_of(struct gkf_machine *m, unsigned device,
		     const struct gkf_demand *wants, struct gkf_drive *drive)
{
	GK_ASSERT(gkf_lock_held(m));
	*drive = (struct gkf_drive){.attached = 0};
	gkf_values_forced(m, device, drive->set);
	gkf_smoothing_floor(m, device, drive->set, &drive->floor_permille,
			    &drive->floor_bins);
	drive->pcie_out = gkf_life_pcie_out(m->boards[device].seed);
	/* MIG instances have no NVLink traffic to other GPUs. */
	drive->links = m->device_count > 1 ? gkf_links_carrying(m, device) : 0;
	for (unsigned i = 0; i < wants->instances; i++)
		if (wants->instance[i].name != GKF_NO_INSTANCE)
			drive->links = 0;
}

/*
 * Returns up to which bin the figures of the last computed bin can be reused:
 * the first bin in which something may change, or the end if the budget is used
 * up.
 */
static uint64_t leap_to(const struct gkf_demand *wants,
			const struct gkf_state *before,
			const struct gkf_state *state, uint64_t budget,
			uint64_t end)
{
	uint64_t until;

	if (!budget)
		return end;
	if (!gkf_physics_is_steady(before, state))
		return state->bin;
	/* Demand must also be the same as in the last bin. */
	until = gkf_demand_quiet_until(wants, state->bin - 1);
	if (until <= state->bin)
		return state->bin;
	return until < end ? until : end;
}

/*
 * The cost of a bin, in bins of the budget. If there are too many processes to
 * collect, each bin reads all slots, up to 8192, and costs as many bins as
 * could be computed in that time. The budget of a copy already includes that
 * cost (copy_bound.c).
 */
static uint64_t bin_cost(const struct gkf_demand *wants)
{
	return wants->all || wants->m->copied
		   ? 1
		   : 1 + gkf_slots_high(wants->m) / GKF_DEMAND_MAX;
}

/*
 * Advances the state to a bin. As far as the budget allows, bins are computed
 * one by one. The last GKF_PAST_BINS bins are always computed one by one,
 * because they are kept. Returns the budget left.
 */
static uint64_t advance_to(struct gkf_machine *m, unsigned device, uint64_t bin,
			   uint64_t budget, struct gkf_state *state)
{
	const struct gkf_profile *profile = &m->boards[device].profile;
	uint64_t end = bin > GKF_PAST_BINS ? bin - GKF_PAST_BINS : 0;
	struct gkf_demand wants;
	struct gkf_drive drive;
	uint64_t cost;

	gkf_demand_collect(m, device, &wants);
	drive_of(m, device, &wants, &drive);
	cost = bin_cost(&wants);
	while (state->bin < bin) {
		struct gkf_state before = *state;

		gkf_demand_drive(&wants, state->bin, &drive);
		gkf_physics_step(profile, &drive, state);
		if (state->bin > end)
			remember_bin(m, device, *state);
		gkf_model_events_step(m, device, &drive, &before, state);
		budget -= cost < budget ? cost : budget;
		if (state->bin < end)
			gkf_physics_repeat(
			    &before, state,
			    leap_to(&wants, &before, state, budget, end) -
				state->bin);
		gkf_life_add(m, device, before.bin, state);
	}
	return budget;
}

void gkf_device_begin(struct gkf_device *dev, struct gkf_board *board)
{
	const struct gkf_profile *p = &board->profile;

	gkf_life_spread(&board->profile, board->seed);
	gkf_physics_rest(p, &dev->state[0]);
	if (p->mig > 0 && gkf_mig_board(p))
		atomic_init(&dev->mig.mode, GKF_MIG_CURRENT | GKF_MIG_PENDING);
}

void gkf_state_advance(struct gkf_machine *m, unsigned device)
{
	struct gkf_device *dev = &m->file->device[device];
	uint64_t bin = gkf_machine_bin(m);
	struct gkf_state state;
	uint64_t first, budget;

	GK_ASSERT(gkf_lock_held(m));
	m->above->scenario_apply(m, bin);
	read_state(dev, &state);
	if (state.bin >= bin || m->scratch)
		return;
	/*
	 * In a copy this is done only once, because finding dead processes is
	 * expensive.
	 */
	if (!m->copied || !gkf_applying(m))
		gkf_reap_busy(m, device);
	budget = m->copied ? m->bins_left[device] : CATCH_UP_BINS;
	first = bin - state.bin > budget ? bin - budget : state.bin;
	budget = advance_to(m, device, bin, budget, &state);
	if (m->copied)
		m->bins_left[device] = budget;
	gk_pair_write(&dev->state_seq, dev->state, &state, sizeof state);
	m->above->fault_bins(m, device, first, bin);
	gkf_account_bins(m, device, first, bin);
	gkf_mig_bins(m, device, first, bin);
}

/* Computes the state up to the last whole bin, if the lock is free. */
void gkf_state_catch_up(struct gkf_machine *m, unsigned device)
{
	uint64_t now = gkf_machine_bin(m), bin = gkf_state_bin(m, device);

	if (bin >= now ||
	    !gkf_trylock(m, now - bin > OLD_BINS ? PATIENCE_NS : 0))
		return;
	gkf_state_advance(m, device);
	gkf_unlock(m);
}

void gkf_state_now(struct gkf_machine *m, unsigned device,
		   struct gkf_state *ret_state)
{
	GK_ASSERT(device < m->device_count);
	gkf_state_catch_up(m, device);
	read_state(&m->file->device[device], ret_state);
}

int64_t gkf_state_word(struct gkf_machine *m, unsigned device, size_t offset)
{
	struct gkf_device *dev = &m->file->device[device];
	int64_t word;

	GK_ASSERT(device < m->device_count);
	gkf_state_catch_up(m, device);
	gk_pair_read_part(&dev->state_seq, dev->state, sizeof(struct gkf_state),
			  offset, &word, sizeof word);
	return word;
}

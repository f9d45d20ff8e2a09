/* SPDX-License-Identifier: Apache-2.0 */
/* computed.c - computes the values that derive from others; see computed.h. */
#include "machine/model/computed.h"
#include "base/units.h"
#include "machine/file/board.h"
#include "machine/file/device.h"
#include "machine/file/ecc_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/forced.h"
#include "machine/model/life.h"
#include "machine/model/link.h"
#include "machine/model/model.h"
#include "machine/model/physics.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/view.h"

/*
 * Reads the state to report. While the board is at rest, its figures vary a
 * little (life.h).
 */
static struct gkf_state shown_state(struct gkf_machine *m, unsigned device)
{
	struct gkf_state s;

	gkf_state_now(m, device, &s);
	gkf_life_wander(m, device, &s);
	return s;
}

int64_t gkf_compute_power(struct gkf_machine *m, unsigned device)
{
	return shown_state(m, device).power_mw;
}

int64_t gkf_compute_pcie_tx(struct gkf_machine *m, unsigned device)
{
	return shown_state(m, device).pcie_tx_kbs;
}

int64_t gkf_compute_pcie_rx(struct gkf_machine *m, unsigned device)
{
	return shown_state(m, device).pcie_rx_kbs;
}

/*
 * Returns the greater of `now` and the value last shown. While the clock is
 * being stopped, a reader may already have shown a slightly later value.
 */
static uint64_t never_less(_Atomic uint64_t *shown, uint64_t now)
{
	uint64_t before = atomic_load(shown);

	while (before < now &&
	       !atomic_compare_exchange_weak(shown, &before, now))
		;
	return before > now ? before : now;
}

/*
 * Energy is shown as growing continuously, although the state changes only once
 * per bin: the energy of the last whole bin is spread over the next bin.
 */
int64_t gkf_compute_energy(struct gkf_machine *m, unsigned device)
{
	_Atomic uint64_t *shown = &m->file->device[device].energy_shown_mj;
	uint64_t ns, passed, left, uj;
	struct gkf_state s = shown_state(m, device);

	ns = gkf_machine_ns(m);
	passed = ns > s.bin * GKF_BIN_NS ? ns - s.bin * GKF_BIN_NS : 0;
	left = s.bin && passed < GKF_BIN_NS ? GKF_BIN_NS - passed : 0;
	/* mW times ns are pJ. */
	uj = s.energy_uj - (uint64_t)s.power_mw * left / 1000000;
	return (int64_t)never_less(shown, uj / 1000);
}

/*
 * The mean power over those bins of the last second that are still kept. A
 * power that was set counts as if it had been set for the whole second.
 */
int64_t gkf_compute_power_average(struct gkf_machine *m, unsigned device)
{
	int64_t sum = 0, bins = 0;
	struct gkf_state s;
	int64_t set = atomic_load_explicit(
	    &m->file->device[device].set[GKF_V_POWER], memory_order_relaxed);

	if (set != GKF_UNSET)
		return set;
	gkf_state_now(m, device, &s);
	for (uint64_t b = 1; b <= GKF_BINS_PER_S && b <= s.bin; b++) {
		struct gkf_past past;

		if (!gkf_past_read(m, device, s.bin - b, &past))
			continue;
		sum += past.power_mw;
		bins++;
	}
	return bins ? sum / bins : s.power_mw;
}

/* The target speed of a fan whose speed was not set. */
int64_t gkf_compute_fan_target(struct gkf_machine *m, unsigned device)
{
	struct gkf_state s;

	gkf_state_now(m, device, &s);
	return gkf_physics_fan(&m->boards[device].profile,
			       s.fan_temp_mc / 1000);
}

int64_t gkf_compute_fan_rpm(struct gkf_machine *m, unsigned device)
{
	int64_t percent = gkf_value_forced(m, device, GKF_V_FAN);
	struct gkf_state s;

	if (percent == GKF_UNSET) {
		gkf_state_now(m, device, &s);
		percent = s.fan_permille / 10;
	}
	return percent * m->boards[device].profile.fan_max_rpm / 100;
}

/* Boards that lower their P-state at rest also slow the link down. */
int64_t gkf_compute_pcie_generation(struct gkf_machine *m, unsigned device)
{
	const struct gkf_profile *p = &m->boards[device].profile;
	struct gkf_state s;

	gkf_state_now(m, device, &s);
	return s.pstate > p->pstate_busy ? 1 : p->pcie_gen;
}

/* A board whose BAR1 covers all memory maps all allocations. */
int64_t gkf_compute_bar1_used(struct gkf_machine *m, unsigned device)
{
	const struct gkf_profile *p = &m->boards[device].profile;
	struct gkf_memory memory;

	if (p->bar1_mib < p->memory_mib)
		return MIB;
	gkf_memory(m, device, &memory);
	return (int64_t)memory.used + MIB;
}

static int64_t dram_errors(struct gkf_machine *m, unsigned device,
			   enum gkf_ecc_kind kind)
{
	uint64_t n = atomic_load_explicit(
	    &m->file->device[device]
		 .ecc.counts[GKF_ECC_VOLATILE][GKF_ECC_DRAM][kind],
	    memory_order_relaxed);

	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

int64_t gkf_compute_ecc_corrected(struct gkf_machine *m, unsigned device)
{
	return dram_errors(m, device, GKF_ECC_CORRECTED);
}

int64_t gkf_compute_ecc_uncorrected(struct gkf_machine *m, unsigned device)
{
	return dram_errors(m, device, GKF_ECC_SECDED);
}

int64_t gkf_compute_fabric_state(struct gkf_machine *m, unsigned device)
{
	return m->topology.seat[device].fabric ? GKF_FABRIC_COMPLETED : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_test.c - checks values computed from bins: remembered figures, garbage
 * in the file, derived values, shares and accounts. The clock is stopped and
 * stepped, so that all of them are exact.
 */
#include "abi/nvml/nvml_abi.h"
#include "base/err.h"
#include "machine/file/board.h"
#include "machine/file/event_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/computed.h"
#include "machine/model/link.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/model/peer.h"
#include "machine/store/process/account.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/store/view.h"

static struct fixture fx;

static int open_of(const struct gkf_profile *profiles, unsigned count)
{
	const struct gkf_machine_spec spec = {.device_count = count,
					      .profiles = profiles,
					      .seed = 7,
					      .frozen = true};

	fixture_open_spec(&fx, &spec);
	gkf_event_interest(fx.m, UINT64_MAX);
	return 0;
}

static int open_two(void **state)
{
	const struct gkf_profile two[] = {gkf_profile_default,
					  gkf_profile_default};

	(void)state;
	return open_of(two, 2);
}

/* A card with fans, P-states and a small BAR1. */
static int open_card(void **state)
{
	struct gkf_profile card = gkf_profile_default;

	(void)state;
	card.fans = 2;
	card.fan_max_rpm = 3000;
	card.fan_min_percent = 30;
	card.pstate_idle = 8;
	card.bar1_mib = 256;
	return open_of(&card, 1);
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static void let_pass(uint64_t bins)
{
	assert_int_equal(gkf_machine_age(fx.m, bins * GKF_BIN_NS), 0);
	assert_int_equal(gkf_machine_settle(fx.m), 0);
}

static unsigned attach(struct gkf_wave wave)
{
	unsigned slot;

	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &wave, &slot), 0);
	return slot;
}

static const struct gkf_wave steady = {.kind = GKF_WAVE_STEADY,
				       .util_permille = 500,
				       .mem_permille = 400,
				       .encoder_permille = 100,
				       .decoder_permille = 200,
				       .jpeg_permille = 300,
				       .ofa_permille = 600};

/* ---- bins ---- */

static struct gkf_state *state_in_file(void)
{
	struct gkf_device *dev = &fx.file->device[0];

	return &dev->state[atomic_load(&dev->state_seq) % 2];
}

static void a_bin_is_remembered_as_it_was(void **state)
{
	struct gkf_state s;
	struct gkf_past p;

	(void)state;
	attach(steady);
	let_pass(300);
	gkf_state_now(fx.m, 0, &s);
	assert_int_equal(s.bin, 300);
	assert_false(gkf_past_read(fx.m, 0, 300, &p));
	assert_true(gkf_past_read(fx.m, 0, 299, &p));
	assert_int_equal(p.power_mw, s.power_mw);
	assert_int_equal(p.mem_power_mw, s.mem_power_mw);
	assert_int_equal(p.pcie_tx_kbs, s.pcie_tx_kbs);
	assert_int_equal(p.pcie_rx_kbs, s.pcie_rx_kbs);
	assert_int_equal(p.nvlink_tx_kbs, s.nvlink_tx_kbs);
	assert_int_equal(p.nvlink_rx_kbs, s.nvlink_rx_kbs);
	assert_int_equal(p.sm_clock_mhz, s.sm_clock_mhz);
	assert_int_equal(p.mem_clock_mhz, s.mem_clock_mhz);
	assert_int_equal(p.video_clock_mhz, s.video_clock_mhz);
	assert_int_equal(p.temp_c, s.temp_mc / 1000);
	assert_int_equal(p.mem_temp_c, s.mem_temp_mc / 1000);
	assert_int_equal(p.sm_active, 475);
	assert_int_equal(p.sm_occupancy, 225);
	assert_int_equal(p.tensor_active, 300);
	assert_int_equal(p.dram_active, 200);
	assert_int_equal(p.gpu_util, 50);
	assert_int_equal(p.mem_util, 20);
	assert_int_equal(p.enc_util, 5);
	assert_int_equal(p.dec_util, 10);
	assert_int_equal(p.jpg_util, 15);
	assert_int_equal(p.ofa_util, 30);
	assert_int_equal(p.throttle, s.throttle);
	assert_int_equal(p.pstate, s.pstate);
	/* The last 128 bins are remembered, none before them. */
	assert_true(gkf_past_read(fx.m, 0, 172, &p));
	assert_int_equal(p.bin, 172);
	assert_int_equal(p.gpu_util, 50);
	assert_false(gkf_past_read(fx.m, 0, 171, &p));
}

static void a_fan_is_remembered_in_percent(void **state)
{
	struct gkf_past p;

	(void)state;
	gkf_value_set(fx.m, 0, GKF_V_FAN, 73);
	gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 60);
	let_pass(2);
	assert_true(gkf_past_read(fx.m, 0, 1, &p));
	assert_int_equal(p.fan, 73);
	assert_int_equal(p.pstate, 8);
	assert_int_equal(p.throttle, 1);
}

/* Whatever is written there, the models use values within bounds. */
static void garbage_in_a_state_is_bounded(void **state)
{
	static const struct {
		size_t at;
		int64_t most;
	} bounds[] = {
	    {offsetof(struct gkf_state, gpu_util), 100},
	    {offsetof(struct gkf_state, power_mw), 4000000},
	    {offsetof(struct gkf_state, mem_power_mw), 4000000},
	    {offsetof(struct gkf_state, temp_mc), 200000},
	    {offsetof(struct gkf_state, mem_temp_mc), 200000},
	    {offsetof(struct gkf_state, fan_temp_mc), 200000},
	    {offsetof(struct gkf_state, fan_permille), 1000},
	    {offsetof(struct gkf_state, rest_bins), 1000000},
	};
	static const int64_t written[] = {INT64_MIN, -1, 0, INT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
		for (int k = 0; k < 4; k++) {
			int64_t expected = k < 3 ? 0 : bounds[i].most, is;
			struct gkf_state s;

			memcpy((char *)state_in_file() + bounds[i].at,
			       &written[k], sizeof written[k]);
			gkf_state_now(fx.m, 0, &s);
			memcpy(&is, (char *)&s + bounds[i].at, sizeof is);
			assert_int_equal(is, expected);
			s = *state_in_file();
			is = bounds[i].most;
			memcpy((char *)state_in_file() + bounds[i].at, &is,
			       sizeof is);
			gkf_state_now(fx.m, 0, &s);
			memcpy(&is, (char *)&s + bounds[i].at, sizeof is);
			assert_int_equal(is, bounds[i].most);
		}
}

/* ---- derived values ---- */

static void average_power_is_that_of_the_last_second(void **state)
{
	struct gkf_past *past = fx.file->device[0].past;

	(void)state;
	let_pass(2);
	for (uint64_t b = 0; b < 2; b++)
		past[b].power_mw = (uint32_t)(b + 1) * 1000;
	assert_int_equal(gkf_compute_power_average(fx.m, 0), 1500);
	let_pass(8);
	for (uint64_t b = 0; b < 10; b++)
		past[b].power_mw = (uint32_t)(b + 1) * 1000;
	/* The mean of bins 4 to 9. */
	assert_int_equal(gkf_compute_power_average(fx.m, 0), 7500);
	past[9].bin = past[4].bin = UINT64_MAX;
	assert_int_equal(gkf_compute_power_average(fx.m, 0), 7500);
	past[8].bin = UINT64_MAX;
	assert_int_equal(gkf_compute_power_average(fx.m, 0), 7000);
	for (uint64_t b = 0; b < 10; b++)
		past[b].bin = UINT64_MAX;
	state_in_file()->power_mw = 123;
	assert_int_equal(gkf_compute_power_average(fx.m, 0), 123);
	gkf_value_set(fx.m, 0, GKF_V_POWER, 0);
	assert_int_equal(gkf_compute_power_average(fx.m, 0), 0);
	gkf_value_set(fx.m, 0, GKF_V_POWER, 99000);
	assert_int_equal(gkf_compute_power_average(fx.m, 0), 99000);
}

static void a_card_follows_its_state(void **state)
{
	struct gkf_memory memory;

	(void)state;
	/*
	 * Linear from 30 % at 50 C to 100 % at the slowdown temperature, 89 C.
	 */
	state_in_file()->fan_temp_mc = 50999;
	assert_int_equal(gkf_compute_fan_target(fx.m, 0), 30);
	state_in_file()->fan_temp_mc = 70000;
	assert_int_equal(gkf_compute_fan_target(fx.m, 0), 65);
	gkf_value_set(fx.m, 0, GKF_V_FAN, 41);
	assert_int_equal(gkf_compute_fan_rpm(fx.m, 0), 1230);
	/* At rest its link rests too: generation 1. */
	assert_int_equal(gkf_compute_pcie_generation(fx.m, 0), 1);
	state_in_file()->pstate = 0;
	assert_int_equal(gkf_compute_pcie_generation(fx.m, 0), 4);
	/* The driver maps as much of a small BAR1 as it needs. */
	assert_int_equal(gkf_compute_bar1_used(fx.m, 0), MIB);
	gkf_value_set(fx.m, 0, GKF_V_EXTRA_MEMORY, 7 * MIB);
	gkf_memory(fx.m, 0, &memory);
	assert_int_equal(memory.used, 7 * MIB);
	assert_int_equal(gkf_compute_bar1_used(fx.m, 0), MIB);
}

static void a_module_maps_all_that_is_allocated(void **state)
{
	int64_t pending;

	(void)state;
	assert_int_equal(gkf_compute_bar1_used(fx.m, 0), MIB);
	gkf_value_set(fx.m, 0, GKF_V_EXTRA_MEMORY, 7 * MIB);
	assert_int_equal(gkf_compute_bar1_used(fx.m, 0), 8 * MIB);
	assert_int_equal(gkf_compute_fabric_state(fx.m, 0),
			 GKF_FABRIC_COMPLETED);
	assert_true(gkf_value_get(fx.m, 0, GKF_V_ECC_PENDING, &pending));
	assert_int_equal(pending, 1);
	gkf_value_set(fx.m, 0, GKF_V_ECC_MODE, 0);
	assert_true(gkf_value_get(fx.m, 0, GKF_V_ECC_PENDING, &pending));
	assert_int_equal(pending, 0);
}

static void a_value_is_found_by_its_name(void **state)
{
	(void)state;
	assert_int_equal(gkf_value_by_name("temperature"), GKF_V_TEMPERATURE);
	assert_int_equal(gkf_value_by_name("fan-rpm"), GKF_V_FAN_RPM);
	assert_int_equal(gkf_value_by_name("accounting"), GKF_V_ACCOUNTING);
	assert_int_equal(gkf_value_by_name("Temperature"), -1);
	assert_int_equal(gkf_value_by_name(""), -1);
	for (int i = 0; i < GKF_V_COUNT; i++)
		assert_int_equal(gkf_value_by_name(gkf_values[i].name), i);
}

static void a_value_is_set_within_its_range(void **state)
{
	int64_t value = 5, min = 0, max = 0;

	(void)state;
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 151),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, -1),
			 GK_ERR_RANGE);
	assert_false(gkf_value_is_asked(fx.m, 0, GKF_V_TEMPERATURE));
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 150), 0);
	assert_true(gkf_value_is_asked(fx.m, 0, GKF_V_TEMPERATURE));
	assert_true(gkf_value_get(fx.m, 0, GKF_V_TEMPERATURE, &value));
	assert_int_equal(value, 150);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 0), 0);
	assert_true(gkf_value_get(fx.m, 0, GKF_V_TEMPERATURE, &value));
	assert_int_equal(value, 0);
	/* A board has a range of its own for its power limit. */
	assert_true(gkf_value_range(fx.m, 0, GKF_V_POWER_LIMIT, &min, &max));
	assert_int_equal(min, 100000);
	assert_int_equal(max, 400000);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_POWER_LIMIT, 99999),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_POWER_LIMIT, 100000), 0);
	value = 5;
	assert_false(gkf_value_get(fx.m, 0, GKF_V_FAN, &value));
	assert_false(gkf_value_range(fx.m, 0, GKF_V_FAN, &min, &max));
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_FAN, 50),
			 GK_ERR_NOT_SUPPORTED);
	assert_int_equal(value, 5);
	assert_int_equal(max, 400000);
}

/* ---- shares and accounts ---- */

static void who_shares_a_device_gets_less(void **state)
{
	struct gkf_share s = gkf_share_at(&steady, 9, 1000);

	(void)state;
	assert_int_equal(s.sm, 50);
	assert_int_equal(s.mem, 20);
	assert_int_equal(s.enc, 5);
	assert_int_equal(s.dec, 10);
	assert_int_equal(s.jpg, 15);
	assert_int_equal(s.ofa, 30);
	s = gkf_share_at(&steady, 9, 2000);
	assert_int_equal(s.sm, 25);
	assert_int_equal(s.mem, 10);
	assert_int_equal(s.enc, 2);
	assert_int_equal(s.dec, 5);
	assert_int_equal(s.jpg, 7);
	assert_int_equal(s.ofa, 15);
	attach(steady);
	attach(steady);
	assert_int_equal(gkf_demand_at(fx.m, 0, 1), 1000);
	assert_int_equal(gkf_demand_at(fx.m, 1, 1), 0);
}

static void real_work_shares_as_it_was_done(void **state)
{
	const struct gkf_wave real = {.kind = GKF_WAVE_REAL};
	unsigned slot = attach(real);
	struct gkf_busy_bin *bin = &fx.file->busy[slot].bin[3];
	struct gkf_share s;

	(void)state;
	atomic_store(&bin->busy, 3ULL << 28 | GKF_BIN_NS / 2);
	/* A tenth of what this memory, with 2039 GB/s, moves in a bin. */
	atomic_store(&bin->moved[GKF_IN], 3ULL << 36 | 33984000000ULL);
	s = gkf_share_of(fx.m, 0, slot, &real, 3, 1000);
	assert_int_equal(s.sm, 50);
	assert_int_equal(s.mem, 10);
	assert_int_equal(s.enc, 0);
	s = gkf_share_of(fx.m, 0, slot, &real, 3, 2000);
	assert_int_equal(s.sm, 25);
	s = gkf_share_of(fx.m, 0, slot, &real, 2, 1000);
	assert_int_equal(s.sm, 0);
	s = gkf_share_of(fx.m, 0, slot, &steady, 3, 1000);
	assert_int_equal(s.sm, 50);
	assert_int_equal(s.mem, 20);
}

static struct gkf_account accounts[4];

static bool keep_account(void *ctx, const struct gkf_account *a)
{
	unsigned *n = ctx;

	accounts[(*n)++] = *a;
	return *n < 4;
}

static unsigned read_accounts(unsigned device)
{
	unsigned n = 0;

	gkf_accounts_each(fx.m, device, keep_account, &n);
	return n;
}

static void a_process_is_accounted_for_bin_by_bin(void **state)
{
	struct gkf_wave full = steady, part = steady;
	unsigned slot;

	(void)state;
	slot = attach(steady);
	let_pass(10); /* nobody counts yet */
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_ACCOUNTING, 1), 0);
	let_pass(5);
	assert_int_equal(read_accounts(0), 1);
	assert_int_equal(accounts[0].pid, getpid());
	assert_true(accounts[0].running);
	assert_int_equal(accounts[0].start_ns, 0);
	assert_int_equal(accounts[0].sums.bins, 5);
	assert_int_equal(accounts[0].sums.sm, 5 * 50);
	assert_int_equal(accounts[0].sums.mem, 5 * 20);
	/*
	 * More bins than are counted at once; two processes want 1.5 of the
	 * device.
	 */
	full.util_permille = 1000;
	attach(full);
	part.start_bin = 20;
	part.stop_bin = 600;
	part.util_permille = 0;
	attach(part);
	let_pass(600);
	assert_int_equal(read_accounts(0), 3);
	assert_int_equal(accounts[0].sums.bins, 605);
	assert_int_equal(accounts[0].sums.sm, 5 * 50 + 600 * 33);
	assert_int_equal(accounts[0].sums.mem, 5 * 20 + 600 * 13);
	assert_int_equal(accounts[1].sums.bins, 600);
	assert_int_equal(accounts[1].start_ns, 15 * GKF_BIN_NS);
	assert_int_equal(accounts[1].sums.sm, 600 * 66);
	assert_int_equal(accounts[1].sums.mem, 600 * 26);
	assert_int_equal(accounts[2].sums.bins, 580);
	assert_int_equal(accounts[2].sums.sm, 0);
	assert_false(accounts[2].running);
	assert_int_equal(accounts[2].start_ns, 20 * GKF_BIN_NS);
	assert_int_equal(accounts[2].end_ns, 600 * GKF_BIN_NS);
	assert_int_equal(read_accounts(1), 0);
	/* Ended processes come last, with their final sums. */
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(read_accounts(0), 3);
	assert_false(accounts[2].running);
	assert_int_equal(accounts[2].sums.bins, 605);
	assert_int_equal(accounts[2].end_ns, 615 * GKF_BIN_NS);
	assert_int_equal(gkf_accounts_clear(fx.m, 0), 0);
	assert_int_equal(read_accounts(0), 1);
	assert_int_equal(accounts[0].sums.bins, 600);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_ACCOUNTING, 0), 0);
	assert_int_equal(read_accounts(0), 1);
	assert_int_equal(accounts[0].sums.bins, 0);
}

/* ---- events of the model ---- */

static uint64_t types_since(uint64_t *number)
{
	struct gkf_event e;
	uint64_t types = 0;

	while (gkf_event_next(fx.m, number, &e)) {
		assert_int_equal(e.device, 0);
		assert_int_equal(e.data, 0);
		assert_int_equal(e.instance, GKF_NO_INSTANCE);
		assert_int_equal(types & e.type, 0);
		types |= e.type;
	}
	return types;
}

static void what_is_set_is_told_when_it_changes(void **state)
{
	static const struct {
		enum gkf_value value;
		int64_t to;
		uint64_t types;
	} steps[] = {
	    {GKF_V_POWER_SOURCE, 0, 0},
	    {GKF_V_POWER_SOURCE, 1, nvmlEventTypePowerSourceChange},
	    {GKF_V_POWER_SOURCE, 1, 0},
	    {GKF_V_POWER_SOURCE, 0, nvmlEventTypePowerSourceChange},
	    {GKF_V_PSTATE, 3, nvmlEventTypePState},
	    {GKF_V_SM_CLOCK, 777, nvmlEventTypeClock},
	    {GKF_V_MEM_CLOCK, 778, nvmlEventTypeClock},
	    {GKF_V_ECC_CORRECTED, 5, nvmlEventTypeSingleBitEccError},
	    {GKF_V_ECC_CORRECTED, 4, 0},
	    {GKF_V_ECC_UNCORRECTED, 1, nvmlEventTypeDoubleBitEccError},
	    {GKF_V_TEMPERATURE, 70, 0},
	    {GKF_V_REMOVED, 1,
	     GKF_EVENT_SYSTEM | nvmlSystemEventTypeGpuDriverUnbind},
	    {GKF_V_REMOVED, 0,
	     GKF_EVENT_SYSTEM | nvmlSystemEventTypeGpuDriverBind},
	};
	uint64_t number = gkf_event_last(fx.m);

	(void)state;
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		gkf_value_set(fx.m, 0, steps[i].value, steps[i].to);
		assert_true(types_since(&number) == steps[i].types);
	}
}

static void what_the_model_changes_is_told_once_a_bin(void **state)
{
	uint64_t number = gkf_event_last(fx.m);
	unsigned slot = attach(steady);

	(void)state;
	let_pass(1);
	assert_true(types_since(&number) ==
		    (nvmlEventTypePState | nvmlEventTypeClock));
	let_pass(3);
	assert_int_equal(types_since(&number), 0);
	/* A set value does not follow the load. */
	gkf_value_set(fx.m, 0, GKF_V_PSTATE, 5);
	types_since(&number);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	let_pass(1);
	assert_int_equal(types_since(&number), 0);
	let_pass(60);
	assert_true(types_since(&number) == nvmlEventTypeClock);
}

/* ---- peers ---- */

static void peers_are_of_one_kind_and_near(void **state)
{
	struct gkf_board *b = fx.m->boards;

	(void)state;
	assert_int_equal(gkf_peer_pcie(fx.m, 0, 1), GKF_PEER_OK);
	assert_true(gkf_peer_nvlink(fx.m, 0, 1));
	fx.m->topology.seat[1].node = 1;
	fx.m->topology.seat[1].pci_switch = 9;
	fx.m->topology.seat[1].host_bridge = 9;
	assert_int_equal(gkf_peer_pcie(fx.m, 0, 1), GKF_PEER_FAR);
	strcpy(b[1].profile.architecture, "HOPPER");
	assert_int_equal(gkf_peer_pcie(fx.m, 0, 1), GKF_PEER_MIXED);
	strcpy(b[1].profile.brand, "GEFORCE");
	assert_int_equal(gkf_peer_pcie(fx.m, 0, 1), GKF_PEER_CONSUMER);
	assert_int_equal(gkf_peer_pcie(fx.m, 1, 0), GKF_PEER_CONSUMER);
	assert_false(gkf_peer_split(fx.m, 0, 1));
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), 0);
	assert_true(gkf_peer_split(fx.m, 0, 1));
	assert_true(gkf_peer_split(fx.m, 1, 0));
}

static void the_fabric_must_be_up_where_it_is_told(void **state)
{
	struct gkf_board *b = fx.m->boards;

	(void)state;
	/* Boards before Hopper report no fabric state. */
	gkf_value_set(fx.m, 1, GKF_V_FABRIC_STATE, 2);
	assert_true(gkf_peer_nvlink(fx.m, 0, 1));
	b[0].profile.nvlink_version = b[1].profile.nvlink_version = 4;
	assert_true(gkf_peer_nvlink(fx.m, 0, 1));
	gkf_value_set(fx.m, 1, GKF_V_FABRIC_STATE, 2);
	assert_false(gkf_peer_nvlink(fx.m, 0, 1));
	assert_false(gkf_peer_nvlink(fx.m, 1, 0));
	gkf_value_set(fx.m, 1, GKF_V_FABRIC_STATE, 3);
	assert_true(gkf_peer_nvlink(fx.m, 0, 1));
}

int main(void)
{
#define T(name)    cmocka_unit_test_setup_teardown(name, open_two, close_it)
#define CARD(name) cmocka_unit_test_setup_teardown(name, open_card, close_it)
	const struct CMUnitTest tests[] = {
	    T(a_bin_is_remembered_as_it_was),
	    CARD(a_fan_is_remembered_in_percent),
	    T(garbage_in_a_state_is_bounded),
	    T(average_power_is_that_of_the_last_second),
	    CARD(a_card_follows_its_state),
	    T(a_module_maps_all_that_is_allocated),
	    T(a_value_is_found_by_its_name),
	    T(a_value_is_set_within_its_range),
	    T(who_shares_a_device_gets_less),
	    T(real_work_shares_as_it_was_done),
	    T(a_process_is_accounted_for_bin_by_bin),
	    CARD(what_is_set_is_told_when_it_changes),
	    CARD(what_the_model_changes_is_told_once_a_bin),
	    T(peers_are_of_one_kind_and_near),
	    T(the_fabric_must_be_up_where_it_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

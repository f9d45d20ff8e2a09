/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life_test.c - checks what makes boards of one model differ: their figures at
 * rest, how these wander, and what twins have in common.
 */
#include "base/clock.h"
#include "base/pair.h"
#include "machine/file/boards.h"
#include "machine/file/clock_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/life.h"
#include "machine/model/model.h"
#include "machine/model/physics.h"
#include "machine/store/clock.h"
#include "machine/store/machine.h"
#include "machine/store/process/ledger.h"

#define BOARDS 8

static struct fixture fx;

/* Eight boards, whose P-state at rest is 0 or 8, with a stopped clock. */
static void open_machine(bool lively, int64_t pstate_idle)
{
	struct gkf_profile profiles[BOARDS];
	struct gkf_machine_spec spec = {.device_count = BOARDS,
					.profiles = profiles,
					.lively = lively,
					.frozen = true};

	for (int i = 0; i < BOARDS; i++) {
		profiles[i] = gkf_profile_default;
		profiles[i].pstate_idle = pstate_idle;
		/* As GeForce boards do. */
		profiles[i].pstate_busy = pstate_idle ? 2 : 0;
	}
	fixture_open_spec(&fx, &spec);
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static int64_t value_of(unsigned device, enum gkf_value value)
{
	int64_t number = -1;

	assert_true(gkf_value_get(fx.m, device, value, &number));
	return number;
}

static void twins_are_as_their_profile_says(void **state)
{
	(void)state;
	open_machine(false, 0);
	for (unsigned i = 0; i < BOARDS; i++) {
		const struct gkf_board *b = gkf_file_board(fx.file, i);

		assert_memory_equal(&b->profile, &gkf_profile_default,
				    sizeof b->profile);
		for (int n = 0; n < 20; n++) {
			assert_int_equal(value_of(i, GKF_V_POWER),
					 gkf_profile_default.power_idle_mw);
			assert_int_equal(gkf_machine_age(fx.m, GKF_BIN_NS), 0);
		}
	}
}

/* Compares the spread of power at rest with that of real machines. */
static void assert_spread(int64_t pstate_idle, int64_t most_permille,
			  int64_t most_c)
{
	const struct gkf_profile *p = &gkf_profile_default;
	int64_t least = INT64_MAX, most = 0;

	open_machine(true, pstate_idle);
	for (unsigned i = 0; i < BOARDS; i++) {
		int64_t mw = value_of(i, GKF_V_POWER);
		int64_t c = value_of(i, GKF_V_TEMPERATURE);

		least = mw < least ? mw : least;
		most = mw > most ? mw : most;
		assert_in_range(
		    mw, p->power_idle_mw * (990 - most_permille) / 1000,
		    p->power_idle_mw * (1010 + most_permille) / 1000);
		assert_in_range(c, p->temp_idle_c - most_c,
				p->temp_idle_c + most_c);
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(mw, value_of(k, GKF_V_POWER));
	}
	/* They use most of the range. */
	assert_true(most - least > p->power_idle_mw * most_permille / 1000);
}

static void data_centre_boards_scatter_by_a_few_percent(void **state)
{
	(void)state;
	assert_spread(0, 40, 2);
}

static void cards_that_rest_scatter_by_a_fifth(void **state)
{
	(void)state;
	assert_spread(8, 200, 1);
}

static void power_at_rest_wanders_by_tenths(void **state)
{
	int64_t rest, changes = 0, before;

	(void)state;
	open_machine(true, 0);
	rest = gkf_file_board(fx.file, 3)->profile.power_idle_mw;
	before = value_of(3, GKF_V_POWER);
	for (int n = 0; n < 600; n++) {
		int64_t mw;

		assert_int_equal(gkf_machine_age(fx.m, GKF_BIN_NS), 0);
		mw = value_of(3, GKF_V_POWER);
		assert_in_range(mw, rest * 995 / 1000, rest * 1005 / 1000);
		changes += mw != before;
		before = mw;
	}
	assert_true(changes > 300);
	/* What is set stands still. */
	assert_int_equal(gkf_value_set(fx.m, 3, GKF_V_POWER, 50000), 0);
	assert_int_equal(gkf_machine_age(fx.m, 9 * GKF_BIN_NS), 0);
	assert_int_equal(value_of(3, GKF_V_POWER), 50000);
	assert_int_equal(value_of(3, GKF_V_POWER_AVERAGE), 50000);
}

static struct gkf_state state_of(unsigned device)
{
	struct gkf_state s;

	gkf_state_now(fx.m, device, &s);
	return s;
}

/* The sums of a GPU's kept bins, and of its counters over the same bins. */
static void sums_of_rest_are_those_of_its_samples(void **state)
{
	struct gkf_state before, after;
	uint64_t mwbins = 0, kbs = 0, still;

	(void)state;
	open_machine(true, 8);
	for (int n = 0; n < 3; n++) {
		before = state_of(3);
		assert_int_equal(
		    gkf_machine_age(fx.m, GKF_PAST_BINS * GKF_BIN_NS), 0);
		after = state_of(3);
		mwbins = kbs = 0;
		for (uint64_t bin = before.bin; bin < after.bin; bin++) {
			struct gkf_past past;

			assert_true(gkf_past_read(fx.m, 3, bin, &past));
			mwbins += past.power_mw;
			kbs += past.pcie_rx_kbs;
		}
		assert_int_equal(after.energy_mwbins - before.energy_mwbins,
				 mwbins);
		assert_in_range(after.pcie_rx_bytes - before.pcie_rx_bytes,
				(kbs - GKF_PAST_BINS) * 1000 / GKF_BINS_PER_S,
				(kbs + GKF_PAST_BINS) * 1000 / GKF_BINS_PER_S);
		/* They differ from those of figures that stand still. */
		still = (uint64_t)after.power_mw * GKF_PAST_BINS;
		assert_int_not_equal(mwbins, still);
	}
}

/*
 * Sampled once a second for three hours at rest, and at work for one, as a
 * monitor would: the integral of power is the counter's, within 2 %.
 */
static void sampled_power_adds_up_to_the_energy_of_hours(void **state)
{
	const struct gkf_wave train = {.kind = GKF_WAVE_TRAIN,
				       .util_permille = 900,
				       .period_ns = 60 * GK_NS_PER_S};
	unsigned slot;

	(void)state;
	open_machine(true, 8);
	for (int hour = 0; hour < 4; hour++) {
		int64_t before, mws = 0, mj;

		if (hour == 3)
			assert_int_equal(
			    gkf_attach(fx.m, 3, GKF_COMPUTE, &train, &slot), 0);
		before = value_of(3, GKF_V_ENERGY);
		for (int second = 0; second < 3600; second++) {
			assert_int_equal(gkf_machine_age(fx.m, GK_NS_PER_S), 0);
			mws += value_of(3, GKF_V_POWER);
		}
		mj = value_of(3, GKF_V_ENERGY) - before;
		assert_in_range(mj, mws / 100 * 98, mws / 100 * 102);
	}
}

static const struct gkf_wave work = {
    .kind = GKF_WAVE_STEADY, .util_permille = 1000, .period_ns = GK_NS_PER_S};

/* Energy in a quarter of a second, which is one and a half bins. */
static void energy_grows_within_a_bin(void **state)
{
	unsigned slot;

	(void)state;
	open_machine(true, 0);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &work, &slot), 0);
	assert_int_equal(gkf_machine_age(fx.m, 5 * GK_NS_PER_S), 0);
	for (int n = 0; n < 20; n++) {
		int64_t before = value_of(0, GKF_V_ENERGY), mj;
		int64_t mw = value_of(0, GKF_V_POWER);

		assert_int_equal(gkf_machine_age(fx.m, GK_NS_PER_S / 4), 0);
		mj = value_of(0, GKF_V_ENERGY) - before;
		assert_in_range(mj * 4, mw * 98 / 100, mw * 102 / 100);
	}
}

static void energy_never_falls(void **state)
{
	int64_t before = 0;
	unsigned slot;

	(void)state;
	open_machine(true, 8);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &work, &slot), 0);
	for (int n = 0; n < 400; n++) {
		int64_t now;

		if (n == 200)
			gkf_detach(fx.m, slot);
		assert_int_equal(gkf_machine_age(fx.m, GKF_BIN_NS / 7), 0);
		now = value_of(0, GKF_V_ENERGY);
		assert_true(now >= before);
		before = now;
	}
}

/* While the clock is being stopped, a reader may be ahead of its last moment.
 */
static void energy_does_not_fall_when_the_clock_stops(void **state)
{
	struct gkf_clock clock;
	int64_t before;
	unsigned slot;

	(void)state;
	open_machine(true, 0);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &work, &slot), 0);
	assert_int_equal(gkf_machine_age(fx.m, 9 * GK_NS_PER_S + 100000000), 0);
	before = value_of(0, GKF_V_ENERGY);
	clock = gkf_clock_get(fx.m);
	clock.machine_ns -= 80000000;
	gk_pair_write(&fx.file->clock_seq, fx.file->clock, &clock,
		      sizeof clock);
	assert_int_equal(value_of(0, GKF_V_ENERGY), before);
	assert_int_equal(gkf_machine_age(fx.m, 160000000), 0);
	assert_true(value_of(0, GKF_V_ENERGY) > before);
}

/* A board that copies is not at rest, though no kernel runs. */
static void copies_do_not_wander(void **state)
{
	struct gkf_state s = {.throttle = GKF_REASON_IDLE,
			      .pcie_rx_kbs = 250000,
			      .power_mw = 70000};

	(void)state;
	open_machine(true, 0);
	for (s.bin = 0; s.bin < 60; s.bin++) {
		struct gkf_state shown = s;

		gkf_life_wander(fx.m, 0, &shown);
		assert_memory_equal(&shown, &s, sizeof s);
	}
}

/* Whatever another process has written, nothing overflows. */
static void any_state_may_wander(void **state)
{
	struct gkf_state s = {.rest_bins = GKF_REST_BINS,
			      .power_mw = INT64_MAX,
			      .pcie_tx_kbs = INT64_MIN,
			      .bin = 5};

	(void)state;
	open_machine(true, 0);
	gkf_life_wander(fx.m, 0, &s);
	assert_in_range(s.power_mw, 0, 2 * (int64_t)INT32_MAX);
	assert_int_equal(s.pcie_tx_kbs, 0);
}

/* A profile of somebody's own may leave no room for differences. */
static void differences_keep_a_profile_whole(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 500; seed++) {
		struct gkf_profile p = gkf_profile_default;

		p.pstate_idle = 8;
		p.power_idle_mw = p.power_busy_mw;
		p.temp_idle_c = p.mem_temp_idle_c = 0;
		gkf_life_spread(&p, seed);
		assert_in_range(p.power_idle_mw, 1, p.power_busy_mw);
		assert_true(p.temp_idle_c >= 0 && p.mem_temp_idle_c >= 0);
		p.mem_temp_idle_c = -1; /* not measured */
		gkf_life_spread(&p, seed);
		assert_int_equal(p.mem_temp_idle_c, -1);
	}
	fixture_open(&fx, 1);
}

/* Boards do not send half of what they receive, each another part. */
static void traffic_out_is_no_fixed_part_of_that_in(void **state)
{
	int64_t ratio[BOARDS], different = 0;
	unsigned slot;
	struct gkf_wave train = work;

	(void)state;
	train.kind = GKF_WAVE_TRAIN;
	train.util_permille = 900;
	train.period_ns = 60 * GK_NS_PER_S;
	open_machine(true, 0);
	for (unsigned i = 0; i < BOARDS; i++)
		assert_int_equal(
		    gkf_attach(fx.m, i, GKF_COMPUTE, &train, &slot), 0);
	assert_int_equal(gkf_machine_age(fx.m, 10 * GK_NS_PER_S), 0);
	for (unsigned i = 0; i < BOARDS; i++) {
		ratio[i] = value_of(i, GKF_V_PCIE_TX) * 1000 /
			   value_of(i, GKF_V_PCIE_RX);
		assert_in_range(ratio[i], 290, 710);
		different += i && ratio[i] != ratio[i - 1];
	}
	assert_int_equal(different, BOARDS - 1);
}

/* A load on one GPU has nobody to talk to over NVLink. */
static void only_loads_on_several_gpus_use_nvlink(void **state)
{
	struct gkf_wave train = work;
	unsigned slot;

	(void)state;
	train.kind = GKF_WAVE_TRAIN;
	train.gpus = 1;
	open_machine(false, 0);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &train, &slot), 0);
	train.gpus = 2;
	assert_int_equal(gkf_attach(fx.m, 1, GKF_COMPUTE, &train, &slot), 0);
	assert_int_equal(gkf_machine_age(fx.m, 10 * GK_NS_PER_S), 0);
	assert_true(value_of(0, GKF_V_GPU_UTIL) > 0);
	assert_int_equal(value_of(0, GKF_V_NVLINK_TX), 0);
	assert_true(value_of(1, GKF_V_NVLINK_TX) > 0);
}

/* A transcoder runs no kernels. */
static void video_engines_can_be_all_that_works(void **state)
{
	struct gkf_wave video = work;
	unsigned slot;

	(void)state;
	video.util_permille = 0;
	video.encoder_permille = 670;
	open_machine(false, 8);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &video, &slot), 0);
	assert_int_equal(gkf_machine_age(fx.m, GK_NS_PER_S), 0);
	assert_int_equal(value_of(0, GKF_V_GPU_UTIL), 0);
	assert_int_equal(value_of(0, GKF_V_ENC_UTIL), 67);
	assert_int_equal(value_of(0, GKF_V_PSTATE), 2);
	assert_int_equal(gkf_share_at(&video, 1, 0).enc, 67);
	/* Before it came there was no work. */
	video.start_bin = 2;
	assert_int_equal(gkf_share_at(&video, 1, 0).enc, 0);
}

static void a_board_stays_awake_for_ten_seconds(void **state)
{
	unsigned slot;

	(void)state;
	open_machine(false, 0);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &work, &slot), 0);
	assert_int_equal(gkf_machine_age(fx.m, GK_NS_PER_S), 0);
	gkf_detach(fx.m, slot);
	assert_int_equal(gkf_machine_age(fx.m, 9 * GK_NS_PER_S), 0);
	assert_int_equal(value_of(0, GKF_V_SM_CLOCK),
			 gkf_profile_default.sm_clock_busy_mhz);
	assert_int_equal(gkf_machine_age(fx.m, 2 * GK_NS_PER_S), 0);
	assert_int_equal(value_of(0, GKF_V_SM_CLOCK),
			 gkf_profile_default.sm_clock_idle_mhz);
}

/* GeForce boards compute in P2; only at rest is the link slow. */
static void the_link_is_fast_whenever_the_board_works(void **state)
{
	unsigned slot;

	(void)state;
	open_machine(false, 8);
	assert_int_equal(value_of(0, GKF_V_PCIE_GEN), 1);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &work, &slot), 0);
	assert_int_equal(gkf_machine_age(fx.m, GK_NS_PER_S), 0);
	assert_int_equal(value_of(0, GKF_V_PSTATE), 2);
	assert_int_equal(value_of(0, GKF_V_PCIE_GEN),
			 gkf_profile_default.pcie_gen);
}

#define ON_A_MACHINE(name) cmocka_unit_test_teardown(name, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    ON_A_MACHINE(twins_are_as_their_profile_says),
	    ON_A_MACHINE(data_centre_boards_scatter_by_a_few_percent),
	    ON_A_MACHINE(cards_that_rest_scatter_by_a_fifth),
	    ON_A_MACHINE(power_at_rest_wanders_by_tenths),
	    ON_A_MACHINE(sums_of_rest_are_those_of_its_samples),
	    ON_A_MACHINE(sampled_power_adds_up_to_the_energy_of_hours),
	    ON_A_MACHINE(energy_grows_within_a_bin),
	    ON_A_MACHINE(energy_never_falls),
	    ON_A_MACHINE(energy_does_not_fall_when_the_clock_stops),
	    ON_A_MACHINE(copies_do_not_wander),
	    ON_A_MACHINE(any_state_may_wander),
	    ON_A_MACHINE(differences_keep_a_profile_whole),
	    ON_A_MACHINE(traffic_out_is_no_fixed_part_of_that_in),
	    ON_A_MACHINE(only_loads_on_several_gpus_use_nvlink),
	    ON_A_MACHINE(video_engines_can_be_all_that_works),
	    ON_A_MACHINE(a_board_stays_awake_for_ten_seconds),
	    ON_A_MACHINE(the_link_is_fast_whenever_the_board_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_busy_test.c - checks the memory of GPU instances, which instance a
 * process joins, and the work counted there.
 */
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/fixture.h"
#include "machine/model/demand.h"
#include "machine/model/mig/mig.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"

static struct fixture fx;

/* Two A100 with 80 GB; the clock is stopped. */
static int open_two(void **state)
{
	const struct gkf_profile profiles[] = {gkf_profile_default,
					       gkf_profile_default};
	const struct gkf_machine_spec spec = {
	    .device_count = 2, .profiles = profiles, .frozen = true};

	(void)state;
	fixture_open_spec(&fx, &spec);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/* ---- memory, and which instance a process joins ---- */

static void an_empty_instance_holds_a_little_for_each_slice(void **state)
{
	struct gkf_memory memory;
	const char *part;
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb+1g.10gb", &part), 0);
	assert_int_equal(gkf_memory_gi(fx.m, 0, 2, &memory), 0);
	assert_int_equal(memory.total, 40192 * MIB);
	assert_int_equal(memory.used, 3 * 8600 * KIB);
	assert_int_equal(memory.free, 40192 * MIB - 3 * 8600 * KIB);
	assert_int_equal(memory.reserved, 0);
	assert_int_equal(gkf_memory_gi(fx.m, 0, 1, &memory), GK_ERR_NOT_FOUND);
	gkf_memory(fx.m, 0, &memory);
	assert_int_equal(memory.used, 4 * 8600 * KIB);
	/* A process joins the first one unless it names another. */
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(fx.file->slot[slot].instance, GKF_INSTANCE(2, 0));
	assert_int_equal(gkf_attach_instance(fx.m, 0, GKF_INSTANCE(8, 0),
					     GKF_COMPUTE, NULL, &slot),
			 GK_ERR_NOT_FOUND);
}

static void without_a_compute_instance_nobody_comes_in(void **state)
{
	unsigned slot = 77;
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb()", &part), 0);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot),
			 GK_ERR_NOT_SUPPORTED);
	assert_int_equal(slot, 77);
}

/* ---- work ---- */

static const struct gkf_wave steady = {.kind = GKF_WAVE_STEADY,
				       .util_permille = 500,
				       .mem_permille = 400,
				       .encoder_permille = 100,
				       .decoder_permille = 200,
				       .jpeg_permille = 300,
				       .ofa_permille = 600};

static void attach(unsigned gi, const struct gkf_wave *wave)
{
	unsigned slot;

	assert_int_equal(gkf_attach_instance(fx.m, 0, GKF_INSTANCE(gi, 0),
					     GKF_COMPUTE, wave, &slot),
			 0);
}

static void let_pass(unsigned bins)
{
	assert_int_equal(gkf_machine_age(fx.m, bins * GKF_BIN_NS), 0);
	assert_int_equal(gkf_machine_settle(fx.m), 0);
}

/* Busy half of the time, of that 95 % on all SMs, and so on; see wave.c. */
static void assert_steady(unsigned gi, uint64_t bins)
{
	struct gkf_mig_sums s;

	gkf_mig_sums(fx.m, 0, gi, &s);
	assert_int_equal(s.gpu, 500 * bins);
	assert_int_equal(s.sm, 475 * bins);
	assert_int_equal(s.occupancy, 225 * bins);
	assert_int_equal(s.tensor, 300 * bins);
	assert_int_equal(s.dram, 200 * bins);
	assert_int_equal(s.enc, 50 * bins);
	assert_int_equal(s.dec, 100 * bins);
	assert_int_equal(s.jpg, 150 * bins);
	assert_int_equal(s.ofa, 300 * bins);
}

static void assert_nothing_done(unsigned gi)
{
	static const struct gkf_mig_sums none;
	struct gkf_mig_sums s;

	gkf_mig_sums(fx.m, 0, gi, &s);
	assert_memory_equal(&s, &none, sizeof s);
}

static void what_is_done_is_summed_by_instance(void **state)
{
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb+2g.20gb", &part), 0);
	attach(2, &steady);
	let_pass(7);
	assert_steady(2, 7);
	attach(3, &steady);
	let_pass(5);
	assert_steady(2, 12);
	assert_steady(3, 5);
	assert_nothing_done(0);
	assert_nothing_done(1);
}

static void an_instance_is_busy_all_of_the_time_at_most(void **state)
{
	struct gkf_wave more = steady;
	struct gkf_mig_sums s;
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb", &part), 0);
	more.util_permille = 1000;
	more.mem_permille = 1000;
	attach(2, &more);
	attach(2, &more);
	let_pass(3);
	gkf_mig_sums(fx.m, 0, 2, &s);
	/*
	 * Each gets half of what it wants; both want all of the memory
	 * bandwidth.
	 */
	assert_int_equal(s.gpu, 3000);
	assert_int_equal(s.sm, 2850);
	assert_int_equal(s.tensor, 1800);
	assert_int_equal(s.dram, 3000);
	assert_int_equal(s.ofa, 1800);
}

/* More processes than are collected for a bin: all slots are read. */
static void a_crowd_is_summed_as_well(void **state)
{
	struct gkf_wave little = {
	    .kind = GKF_WAVE_STEADY, .util_permille = 10, .mem_permille = 500};
	struct gkf_mig_sums s;
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb+2g.20gb", &part), 0);
	for (unsigned i = 0; i < GKF_DEMAND_MAX; i++)
		attach(2, &little);
	attach(3, &steady);
	let_pass(4);
	assert_steady(3, 4);
	gkf_mig_sums(fx.m, 0, 2, &s);
	assert_int_equal(s.gpu, 4 * 10 * GKF_DEMAND_MAX);
	assert_int_equal(s.sm, 4 * 9 * GKF_DEMAND_MAX);
	assert_int_equal(s.dram, 4 * 5 * GKF_DEMAND_MAX);
	assert_nothing_done(0);
}

static void loads_count_while_they_are_there(void **state)
{
	struct gkf_wave wave = steady;
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb", &part), 0);
	wave.start_bin = 4;
	wave.stop_bin = 9;
	attach(2, &wave);
	let_pass(20);
	assert_steady(2, 5);
}

/* Bins as a process with real work writes them: each half busy, with copies. */
static void real_work_counts_as_it_was_done(void **state)
{
	struct gkf_wave real = {.kind = GKF_WAVE_REAL};
	struct gkf_mig_sums s;
	const char *part;
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb", &part), 0);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &real, &slot), 0);
	for (uint64_t bin = 0; bin < 6; bin++)
		atomic_store(&fx.file->busy[slot].bin[bin].busy,
			     bin << 28 | (bin < 4 ? GKF_BIN_NS / 2 : 0));
	let_pass(10);
	gkf_mig_sums(fx.m, 0, 2, &s);
	assert_int_equal(s.gpu, 4 * 500);
	assert_int_equal(s.sm, 4 * 450);
	assert_int_equal(s.occupancy, 4 * 225);
	assert_int_equal(s.tensor, 0);
	assert_int_equal(s.dram, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    T(an_empty_instance_holds_a_little_for_each_slice),
	    T(without_a_compute_instance_nobody_comes_in),
	    T(what_is_done_is_summed_by_instance),
	    T(an_instance_is_busy_all_of_the_time_at_most),
	    T(a_crowd_is_summed_as_well),
	    T(loads_count_while_they_are_there),
	    T(real_work_counts_as_it_was_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

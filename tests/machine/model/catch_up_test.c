/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catch_up_test.c - checks that a machine's values do not depend on how often
 * they are read: a machine that is read in each bin and a twin that is read
 * once are the same.
 */
#include "base/clock.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

#define HOUR_BINS (3600 * GKF_BINS_PER_S)

struct twin {
	char path[96];
	struct gkf_machine *m;
	struct gkf_file *file;
};

static char dir[64];
static struct twin often, once;

/* Opens a machine of the same seed with a stopped clock. */
static void open_twin(struct twin *t, const char *name)
{
	struct gkf_profile profiles[2] = {gkf_profile_default,
					  gkf_profile_default};
	struct gkf_machine_spec spec = {.device_count = 2,
					.profiles = profiles,
					.seed = 5,
					.lively = true,
					.frozen = true};

	/* A board with fans and P-states. */
	profiles[1].fans = 2;
	profiles[1].fan_min_percent = 20;
	profiles[1].fan_max_rpm = 3000;
	profiles[1].pstate_idle = 8;
	snprintf(t->path, sizeof t->path, "%s/%s", dir, name);
	assert_int_equal(gkf_machine_create(t->path, &spec), 0);
	assert_int_equal(gkf_machine_open(t->path, &t->m), 0);
	t->file = gkf_machine_file(t->m);
}

static int open_twins(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/dev/shm/gpukit-test-%d-XXXXXX", getpid());
	assert_non_null(mkdtemp(dir));
	open_twin(&often, "often");
	open_twin(&once, "once");
	return 0;
}

static int close_twins(void **state)
{
	(void)state;
	gkf_machine_close(often.m);
	gkf_machine_close(once.m);
	unlink(often.path);
	unlink(once.path);
	rmdir(dir);
	return 0;
}

static void both_attach(unsigned device, const struct gkf_wave *wave)
{
	unsigned slot;

	assert_int_equal(gkf_attach(often.m, device, GKF_COMPUTE, wave, &slot),
			 0);
	assert_int_equal(gkf_attach(once.m, device, GKF_COMPUTE, wave, &slot),
			 0);
}

/* Both grow older by the same time; the GPUs of one are read in each bin. */
static void pass(uint64_t bins)
{
	struct gkf_state s;

	for (uint64_t i = 0; i < bins; i++) {
		assert_int_equal(gkf_machine_age(often.m, GKF_BIN_NS), 0);
		for (unsigned d = 0; d < 2; d++)
			gkf_state_now(often.m, d, &s);
	}
	assert_int_equal(gkf_machine_age(once.m, bins * GKF_BIN_NS), 0);
}

static void assert_same(void)
{
	for (unsigned d = 0; d < 2; d++) {
		struct gkf_state a, b;

		gkf_state_now(often.m, d, &a);
		gkf_state_now(once.m, d, &b);
		assert_int_equal(a.bin, gkf_machine_bin(often.m));
		assert_int_equal(a.energy_mwbins, b.energy_mwbins);
		assert_memory_equal(&a, &b, sizeof a);
		assert_memory_equal(often.file->device[d].past,
				    once.file->device[d].past,
				    sizeof often.file->device[d].past);
	}
}

static void an_idle_hour_is_an_hour(void **state)
{
	(void)state;
	pass(HOUR_BINS);
	assert_same();
}

static void an_hour_of_work_is_an_hour(void **state)
{
	const struct gkf_wave train = {.kind = GKF_WAVE_TRAIN,
				       .util_permille = 950,
				       .mem_permille = 400,
				       .seed = 3,
				       .period_ns = 20 * GK_NS_PER_S};
	const struct gkf_wave infer = {.kind = GKF_WAVE_INFER,
				       .util_permille = 500,
				       .mem_permille = 300,
				       .decoder_permille = 200,
				       .seed = 4,
				       .period_ns = 60 * GK_NS_PER_S};

	(void)state;
	both_attach(0, &train);
	both_attach(0, &infer);
	both_attach(1, &infer);
	pass(HOUR_BINS);
	assert_same();
}

/* Loads that come and go between two reads, and others that wait. */
static void what_came_and_went_is_seen(void **state)
{
	const struct gkf_wave waiting = {.kind = GKF_WAVE_IDLE};
	const struct gkf_wave visit = {.kind = GKF_WAVE_TRAIN,
				       .util_permille = 900,
				       .seed = 9,
				       .period_ns = 10 * GK_NS_PER_S,
				       .start_bin = 5000,
				       .stop_bin = 5100};
	struct gkf_wave soon = visit, late = visit;

	(void)state;
	soon.start_bin = 2000;
	soon.stop_bin = 2001;
	late.start_bin = HOUR_BINS - 50;
	late.stop_bin = HOUR_BINS + 50;
	both_attach(0, &visit);
	both_attach(0, &soon);
	both_attach(1, &waiting);
	both_attach(1, &late);
	pass(HOUR_BINS);
	assert_same();
}

static void what_is_set_bears_on_all_of_it(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct gkf_machine *m = i ? once.m : often.m;

		assert_int_equal(gkf_value_set(m, 0, GKF_V_GPU_UTIL, 100), 0);
		assert_int_equal(gkf_value_set(m, 0, GKF_V_POWER_LIMIT, 150000),
				 0);
		assert_int_equal(gkf_value_set(m, 1, GKF_V_TEMPERATURE, 95), 0);
		assert_int_equal(gkf_value_set(m, 1, GKF_V_FAN_TARGET, 70), 0);
	}
	pass(HOUR_BINS);
	assert_same();
}

/* Energy is the integral of power, to the last microjoule. */
static void energy_is_the_sum_of_power(void **state)
{
	struct gkf_state s;
	uint64_t sum = 0;

	(void)state;
	gkf_value_set(often.m, 0, GKF_V_GPU_UTIL, 63);
	for (int i = 0; i < 1000; i++) {
		gkf_machine_age(often.m, GKF_BIN_NS);
		gkf_state_now(often.m, 0, &s);
		sum += (uint64_t)s.power_mw;
	}
	assert_int_equal(s.energy_mwbins, sum);
	assert_int_equal(s.energy_uj, sum * 1000 / GKF_BINS_PER_S);
}

/* A second for a day of work on a device would already be too long. */
static void a_day_is_caught_up_with_in_no_time(void **state)
{
	const struct gkf_wave train = {.kind = GKF_WAVE_TRAIN,
				       .util_permille = 950,
				       .seed = 3,
				       .period_ns = 20 * GK_NS_PER_S};
	uint64_t begin, worked, rested = UINT64_MAX;
	struct gkf_state s;
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_attach(once.m, 0, GKF_COMPUTE, &train, &slot), 0);
	gkf_machine_age(once.m, 86400 * GK_NS_PER_S);
	begin = gk_mono_ns();
	gkf_state_now(once.m, 0, &s);
	worked = gk_mono_ns() - begin;
	/* The host may be busy with something else meanwhile: take the best of
	 * a few days. */
	for (int i = 0; i < 5; i++) {
		begin = gk_mono_ns();
		gkf_state_now(once.m, 1, &s);
		begin = gk_mono_ns() - begin;
		rested = begin < rested ? begin : rested;
		if (i < 4)
			gkf_machine_age(once.m, 86400 * GK_NS_PER_S);
	}
	print_message("a day: %.1f ms at work, %.3f ms at rest; %.0f ns a "
		      "bin\n",
		      (double)worked / 1e6, (double)rested / 1e6,
		      (double)worked / 86400 / GKF_BINS_PER_S);
	assert_int_equal(s.bin, gkf_machine_bin(once.m));
	assert_true(worked < 20 * GK_NS_PER_S);
	assert_true(rested < GK_NS_PER_S / 10);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_twins, close_twins)
	const struct CMUnitTest tests[] = {
	    T(an_idle_hour_is_an_hour),
	    T(an_hour_of_work_is_an_hour),
	    T(what_came_and_went_is_seen),
	    T(what_is_set_bears_on_all_of_it),
	    T(energy_is_the_sum_of_power),
	    T(a_day_is_caught_up_with_in_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

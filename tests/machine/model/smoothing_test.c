/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smoothing_test.c - checks power smoothing: presets, and the floor that they
 * hold.
 */
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/smoothing_state.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/forced.h"
#include "machine/model/model.h"
#include "machine/model/smoothing.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/trouble/reset.h"

enum { FLOOR, RAMP_UP, RAMP_DOWN, HYSTERESIS };

/* A frozen machine of one board that supports it, with a process on it. */
static int setup(void **state)
{
	struct gkf_profile board = gkf_profile_default;
	struct gkf_machine_spec spec = {
	    .device_count = 1, .profiles = &board, .seed = 7, .frozen = true};
	struct fixture *fx = calloc(1, sizeof(*fx));
	struct gkf_wave idle = {.kind = GKF_WAVE_IDLE};
	unsigned slot;

	fixture_open(fx, 1);
	gkf_machine_close(fx->m);
	unlink(fx->path);
	board.compute_major = 10;
	assert_int_equal(gkf_machine_create(fx->path, &spec), 0);
	assert_int_equal(gkf_machine_open(NULL, &fx->m), 0);
	fx->file = gkf_machine_file(fx->m);
	assert_int_equal(gkf_attach(fx->m, 0, GKF_COMPUTE, &idle, &slot), 0);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	free(*state);
	return 0;
}

static void set(struct fixture *fx, enum gkf_value value, int64_t to)
{
	assert_int_equal(gkf_value_set(fx->m, 0, value, to), 0);
}

/* The power in milliwatts after this many more seconds. */
static int64_t power_after(struct fixture *fx, unsigned seconds)
{
	int64_t mw = 0;

	assert_int_equal(gkf_machine_age(fx->m, seconds * GK_NS_PER_S), 0);
	assert_true(gkf_value_get(fx->m, 0, GKF_V_POWER, &mw));
	return mw;
}

static void the_floor_is_kept_while_there_is_work(void **state)
{
	struct fixture *fx = *state;
	int64_t without;

	set(fx, GKF_V_GPU_UTIL, 10);
	without = power_after(fx, 2);
	assert_true(without < 200000);
	set(fx, GKF_V_SMOOTHING_PROFILE, 3);
	assert_int_equal(power_after(fx, 2), without);
	set(fx, GKF_V_POWER_SMOOTHING, 1);
	assert_int_equal(power_after(fx, 2), 280000); /* 70 % of 400 W */
	set(fx, GKF_V_POWER_LIMIT, 300000);
	assert_int_equal(power_after(fx, 2), 210000);
}

static void the_floor_outlasts_the_work_by_the_hysteresis(void **state)
{
	struct fixture *fx = *state;

	set(fx, GKF_V_POWER_SMOOTHING, 1);
	set(fx, GKF_V_SMOOTHING_PROFILE, 2);
	assert_int_equal(gkf_smoothing_set(fx->m, 0, 2, FLOOR, 60000), 0);
	assert_int_equal(gkf_smoothing_set(fx->m, 0, 2, HYSTERESIS, 4000000),
			 0);
	set(fx, GKF_V_GPU_UTIL, 10);
	assert_int_equal(power_after(fx, 1), 240000);
	set(fx, GKF_V_GPU_UTIL, GKF_UNSET);
	assert_int_equal(power_after(fx, 3), 240000);
	assert_true(power_after(fx, 3) < 200000);
}

static void a_reset_brings_the_factory_back(void **state)
{
	struct fixture *fx = *state;
	int64_t factory = gkf_smoothing_get(fx->m, 0, 1, RAMP_UP);

	assert_int_equal(gkf_smoothing_set(fx->m, 0, 1, RAMP_UP, 5), 0);
	assert_int_equal(gkf_smoothing_get(fx->m, 0, 1, RAMP_UP), 5);
	assert_int_equal(gkf_device_reset(fx->m, 0), 0);
	assert_int_equal(gkf_smoothing_get(fx->m, 0, 1, RAMP_UP), factory);
}

static void what_cannot_be_is_refused(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(gkf_smoothing_set(fx->m, 0, 1, FLOOR, 100001),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_smoothing_set(fx->m, 0, 1, FLOOR, -1),
			 GK_ERR_RANGE);
	assert_int_equal(
	    gkf_smoothing_set(fx->m, 0, GKF_SMOOTHING_PROFILES, FLOOR, 0),
	    GK_ERR_RANGE);
	assert_int_equal(
	    gkf_smoothing_set(fx->m, 0, 0, GKF_SMOOTHING_PARAMS, 0),
	    GK_ERR_RANGE);
	assert_int_equal(gkf_smoothing_get(fx->m, 0, 1, FLOOR), 25000);
}

static void bounds_are_what_can_be(void **state)
{
	struct fixture *fx = *state;
	_Atomic uint64_t *word = &fx->file->device[0].smoothing.param[1][FLOOR];

	assert_int_equal(gkf_smoothing_set(fx->m, 0, 1, FLOOR, 100000), 0);
	assert_int_equal(gkf_smoothing_get(fx->m, 0, 1, FLOOR), 100000);
	assert_int_equal(gkf_smoothing_set(fx->m, 0, 1, FLOOR, 0), 0);
	assert_int_equal(gkf_smoothing_get(fx->m, 0, 1, FLOOR), 0);
	/*
	 * Another process wrote more than the maximum: the factory's value
	 * applies.
	 */
	atomic_store(word, 100001);
	assert_int_equal(gkf_smoothing_get(fx->m, 0, 1, FLOOR), 100000);
	atomic_store(word, 100002);
	assert_int_equal(gkf_smoothing_get(fx->m, 0, 1, FLOOR), 25000);
	assert_int_equal(
	    gkf_smoothing_get(fx->m, 0, GKF_SMOOTHING_PROFILES, FLOOR), 0);
	assert_int_equal(gkf_smoothing_get(fx->m, 0, 4, GKF_SMOOTHING_PARAMS),
			 0);
}

static void read_floor(struct fixture *fx, int64_t *ret_permille,
		       int64_t *ret_bins)
{
	int64_t values[GKF_VALUES_MAX];

	gkf_values_forced(fx->m, 0, values);
	gkf_smoothing_floor(fx->m, 0, values, ret_permille, ret_bins);
}

/* Times become bins, six a second, for nine seconds at most. */
static void the_floor_is_told_in_bins(void **state)
{
	static const struct {
		int64_t us, bins;
	} cases[] = {{0, 0},          {166666, 0},   {166667, 1},
		     {2500000, 15},   {8999999, 53}, {9000000, 54},
		     {3600000000, 54}};
	struct fixture *fx = *state;
	int64_t permille = 5, bins = 5;

	read_floor(fx, &permille, &bins);
	assert_int_equal(permille, 0);
	assert_int_equal(bins, 0);
	set(fx, GKF_V_POWER_SMOOTHING, 1);
	set(fx, GKF_V_SMOOTHING_PROFILE, 2);
	assert_int_equal(gkf_smoothing_set(fx->m, 0, 2, FLOOR, 37500), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(
		    gkf_smoothing_set(fx->m, 0, 2, HYSTERESIS, cases[i].us), 0);
		read_floor(fx, &permille, &bins);
		assert_int_equal(permille, 375);
		assert_int_equal(bins, cases[i].bins);
	}
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
	    ROW(the_floor_is_kept_while_there_is_work),
	    ROW(the_floor_outlasts_the_work_by_the_hysteresis),
	    ROW(a_reset_brings_the_factory_back),
	    ROW(what_cannot_be_is_refused),
	    ROW(bounds_are_what_can_be),
	    ROW(the_floor_is_told_in_bins),
	};
#undef ROW

	return cmocka_run_group_tests(tests, NULL, NULL);
}

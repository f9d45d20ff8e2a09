/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave_test.c - checks the shapes of load exactly: by hand where there is no
 * jitter, else against figures computed independently of this code.
 */
#include "machine/file/numbers.h"
#include "machine/model/wave.h"
#include "unit.h"

/* A twenty-fifth of so small a load rounds to 0: no jitter. */
static void training_is_a_quarter_then_whole_then_dips(void **state)
{
	static const struct {
		uint64_t bin;
		uint32_t busy;
	} bins[] = {{99, 0},   {100, 5},  {117, 5}, {118, 4}, {119, 4},
		    {120, 20}, {137, 20}, {138, 4}, {139, 4}, {140, 20},
		    {178, 4},  {199, 4},  {200, 0}};
	struct gkf_wave w = {.kind = GKF_WAVE_TRAIN,
			     .util_permille = 20,
			     .period_ns = 20 * GKF_BIN_NS,
			     .start_bin = 100,
			     .stop_bin = 200};

	(void)state;
	for (size_t i = 0; i < COUNT(bins); i++)
		assert_int_equal(gkf_wave_at(&w, bins[i].bin), bins[i].busy);
	/* Without a period there is no dip. */
	w.period_ns = 0;
	for (uint64_t b = 118; b < 200; b++)
		assert_int_equal(gkf_wave_at(&w, b), 20);
}

static void inference_swells_and_goes_down(void **state)
{
	static const uint32_t busy[20] = {1, 1, 1, 1, 1, 2, 2, 2, 2, 2,
					  2, 2, 2, 2, 2, 2, 1, 1, 1, 1};
	const struct gkf_wave w = {.kind = GKF_WAVE_INFER,
				   .util_permille = 2,
				   .period_ns = 20 * GKF_BIN_NS,
				   .start_bin = 7};

	(void)state;
	for (uint64_t b = 0; b < 60; b++)
		assert_int_equal(gkf_wave_at(&w, 7 + b), busy[b % 20]);
}

static void the_jitter_is_the_same_on_every_machine(void **state)
{
	static const struct {
		uint64_t bin;
		uint32_t busy;
	} train[] = {{100, 207}, {117, 195}, {118, 810}, {123, 809},
		     {124, 163}, {126, 163}, {127, 795}, {153, 788},
		     {154, 158}, {156, 161}, {157, 811}, {160, 777}},
	  infer[] = {{50, 439}, {53, 329}, {56, 586}, {59, 876}, {61, 790},
		     {63, 588}, {69, 294}, {71, 263}, {80, 427}},
	  full[] = {{140, 1000}, {141, 997}, {142, 1000}, {147, 964}};
	struct gkf_wave w = {.kind = GKF_WAVE_TRAIN,
			     .util_permille = 800,
			     .period_ns = 30 * GKF_BIN_NS,
			     .seed = 3,
			     .start_bin = 100};

	(void)state;
	for (size_t i = 0; i < COUNT(train); i++)
		assert_int_equal(gkf_wave_at(&w, train[i].bin), train[i].busy);
	w.util_permille = 1000;
	for (size_t i = 0; i < COUNT(full); i++)
		assert_int_equal(gkf_wave_at(&w, full[i].bin), full[i].busy);
	w = (struct gkf_wave){.kind = GKF_WAVE_INFER,
			      .util_permille = 500,
			      .period_ns = 24 * GKF_BIN_NS,
			      .seed = 9,
			      .start_bin = 50};
	for (size_t i = 0; i < COUNT(infer); i++)
		assert_int_equal(gkf_wave_at(&w, infer[i].bin), infer[i].busy);
}

static void a_recording_is_told_as_it_is(void **state)
{
	struct gkf_wave w = {.kind = GKF_WAVE_STEADY,
			     .util_permille = 437,
			     .period_ns = 1,
			     .start_bin = 2,
			     .stop_bin = 4};

	(void)state;
	assert_int_equal(gkf_wave_at(&w, 1), 0);
	assert_int_equal(gkf_wave_at(&w, 2), 437);
	assert_int_equal(gkf_wave_at(&w, 3), 437);
	assert_int_equal(gkf_wave_at(&w, 4), 0);
	w.util_permille = 1001;
	assert_int_equal(gkf_wave_at(&w, 3), 1000);
	w.util_permille = 1;
	assert_int_equal(gkf_wave_at(&w, 3), 1);
	w.util_permille = 437;
	w.kind = GKF_WAVE_NONE;
	assert_int_equal(gkf_wave_at(&w, 3), 0);
	w.kind = GKF_WAVE_IDLE;
	assert_int_equal(gkf_wave_at(&w, 3), 0);
	w.kind = GKF_WAVE_REAL;
	assert_int_equal(gkf_wave_at(&w, 3), 0);
	w.kind = GKF_WAVE_KINDS;
	assert_int_equal(gkf_wave_at(&w, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(training_is_a_quarter_then_whole_then_dips),
	    cmocka_unit_test(inference_swells_and_goes_down),
	    cmocka_unit_test(the_jitter_is_the_same_on_every_machine),
	    cmocka_unit_test(a_recording_is_told_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_test.c - checks the time and memory of a command, summed over
 * samples.
 */
#include "base/units.h"
#include "format/fixture.h"
#include "unit.h"

#include "base/clock.h"
#include "record/summary.h"

#include <string.h>

static struct fixture fx;
static struct gk_summary summary;
static struct gk_process *first, *second;

static int setup(void **state)
{
	(void)state;
	fixture_init(&fx, 3);
	first = fixture_add_process(&fx, 0, 10, "a");
	second = fixture_add_process(&fx, 2, 10, "a");
	for (int i = 0; i < 3; i++) {
		fx.devices[i].m[GK_M_ENERGY] = present(5000000);
		fx.devices[i].m[GK_M_GPU_UTIL] = present(50);
	}
	fx.snap.mono_ns = GK_NS_PER_S;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_summary_free(&summary);
	return 0;
}

static void sample(int64_t mem_first, int64_t mem_second)
{
	first->m[GK_PM_GPU_MEM] = present(mem_first);
	second->m[GK_PM_GPU_MEM] = present(mem_second);
	assert_int_equal(gk_summary_begin(&summary, &fx.snap), 0);
	if (mem_first)
		gk_summary_process(&summary, first);
	if (mem_second)
		gk_summary_process(&summary, second);
	gk_summary_end(&summary, &fx.snap);
	fx.snap.mono_ns += GK_NS_PER_S;
	for (int i = 0; i < 3; i++)
		fx.devices[i].m[GK_M_ENERGY].v += 100000; /* 100 J */
}

static void assert_text(const char *wanted)
{
	struct gk_buf out = {0};

	gk_summary_text(&summary, &out);
	assert_string_equal(out.data, wanted);
	gk_buf_free(&out);
}

static void peaks_are_of_one_moment(void **state)
{
	(void)state;
	first->m[GK_PM_SM_UTIL] = second->m[GK_PM_SM_UTIL] = present(40);
	sample(3 * GIB, GIB);
	fx.devices[0].m[GK_M_GPU_UTIL] = present(100);
	first->m[GK_PM_SM_UTIL] = present(80);
	sample(GIB, 2 * GIB);
	assert_text(
	    "  peak GPU memory   4096MiB (GPU 0: 3072MiB, GPU 2: "
	    "2048MiB)\n"
	    "  mean utilisation  GPU 0: 75.0 % (60.0 % by the command), "
	    "GPU 2: 50.0 % (40.0 % by the command)\n"
	    "  energy            200.0 J (0.0001 kWh) of the whole "
	    "GPUs\n");
}

static void energy_counts_from_the_sample_before_the_first(void **state)
{
	(void)state;
	sample(0, 0);
	sample(0, 0);
	sample(GIB, 0); /* GPU 0 from the second sample on */
	sample(0, 0);
	assert_int_equal(summary.devices[0].millijoules, 200000);
	assert_int_equal(summary.devices[2].millijoules, 0);
}

static void without_a_counter_it_is_power_by_time(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		fx.devices[i].m[GK_M_POWER] = present(300000);
	for (int n = 0; n < 5; n++) {
		for (int i = 0; i < 3; i++)
			fx.devices[i].m[GK_M_ENERGY].why =
			    GK_ABSENT_NOT_SUPPORTED;
		sample(GIB, 0);
	}
	assert_int_equal(summary.devices[0].millijoules, 1200000);
	assert_true(summary.devices[0].energy_from_power);
}

static void nothing_known_is_nothing_said(void **state)
{
	(void)state;
	sample(0, 0);
	assert_text("  on no GPU in any of 1 samples\n");
	for (int i = 0; i < 3; i++) {
		fx.devices[i].m[GK_M_ENERGY].why = GK_ABSENT_LOST;
		fx.devices[i].m[GK_M_POWER].why = GK_ABSENT_LOST;
		fx.devices[i].m[GK_M_GPU_UTIL].why = GK_ABSENT_LOST;
	}
	first->m[GK_PM_SM_UTIL].why = GK_ABSENT_LOST;
	sample(GIB, 0);
	sample(GIB, 0);
	assert_text("  peak GPU memory   1024MiB (GPU 0: 1024MiB)\n"
		    "  mean utilisation  unknown\n"
		    "  energy            unknown\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(peaks_are_of_one_moment),
	    T(energy_counts_from_the_sample_before_the_first),
	    T(without_a_counter_it_is_power_by_time),
	    T(nothing_known_is_nothing_said),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

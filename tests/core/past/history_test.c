/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_test.c - checks the history: means, gaps, resolutions, processes that
 * come and go.
 */
#include "base/clock.h"
#include "core/past/history.h"
#include "core/past/past.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define AT(seconds) (1000 * GK_NS_PER_S + (uint64_t)((seconds)*1e9))

static struct gk_device devices[2];
static struct gk_process processes[4];
static struct gk_snapshot snap;
static struct gk_history *history;

static int begin(void **state)
{
	(void)state;
	memset(devices, 0, sizeof devices);
	memset(processes, 0, sizeof processes);
	memset(&snap, 0, sizeof snap);
	strcpy(devices[0].uuid, "GPU-a");
	strcpy(devices[1].uuid, "GPU-b");
	for (int i = 0; i < 2; i++) {
		devices[i].mig_index = -1;
		for (int m = 0; m < GK_M_COUNT; m++)
			devices[i].m[m].why = GK_ABSENT_NOT_SUPPORTED;
	}
	snap.devices = devices;
	snap.processes = processes;
	snap.device_count = 2;
	history = gk_history_new(2);
	return !history;
}

static int end(void **state)
{
	(void)state;
	gk_history_free(history);
	return 0;
}

static void util(unsigned device, int64_t percent)
{
	devices[device].m[GK_M_GPU_UTIL] = (struct gk_value){.v = percent};
}

/* Adds a frame without new readings. */
static void take_late(double seconds)
{
	snap.mono_ns = AT(seconds);
	gk_history_add(history, &snap);
}

static void take(double seconds)
{
	for (int i = 0; i < 2; i++)
		if (devices[i].health == GK_HEALTH_OK)
			devices[i].read_ns[GK_TIER_FAST] = AT(seconds);
	take_late(seconds);
}

static float one_of(enum gk_history_device what, const char *uuid, double end_s,
		    double step_s)
{
	struct gk_history_span span = {.end_ns = AT(end_s),
				       .step_ns = (uint64_t)(step_s * 1e9),
				       .count = 1};
	float value;

	gk_history_of_device(history, uuid, what, span, &value);
	return value;
}

static float one(const char *uuid, double end_s, double step_s)
{
	return one_of(GK_HD_GPU_UTIL, uuid, end_s, step_s);
}

static void several_within_a_second_are_averaged(void **state)
{
	(void)state;
	util(0, 10);
	take(0.1);
	util(0, 20);
	take(0.5);
	util(0, 60);
	take(0.9);
	assert_near(one("GPU-a", 1, 1), 30, 1e-3);
	assert_true(isnan(one("GPU-b", 1, 1)));
	assert_true(isnan(one("GPU-c", 1, 1)));
}

static void a_gap_is_unknown(void **state)
{
	(void)state;
	util(0, 50);
	take(0.5);
	take(5.5);
	assert_near(one("GPU-a", 1, 1), 50, 1e-3);
	for (int s = 2; s <= 5; s++)
		assert_true(isnan(one("GPU-a", s, 1)));
	assert_near(one("GPU-a", 6, 1), 50, 1e-3);
	assert_near(one("GPU-a", 6, 6), 50, 1e-3);
}

static void what_is_old_is_kept_more_coarsely(void **state)
{
	(void)state;
	for (int s = 0; s < 5000; s++) {
		util(0, s < 2500 ? 20 : 80);
		take(s + 0.5);
	}
	assert_true(isnan(one("GPU-a", 0, 10)));
	assert_near(one("GPU-a", 1000, 600), 20, 1e-3);
	assert_near(one("GPU-a", 4000, 600), 80, 1e-3);
	assert_near(one("GPU-a", 5000, 60), 80, 1e-3);
	assert_near(one("GPU-a", 5000, 5000), 50, 1);
}

static void devices_are_averaged(void **state)
{
	struct gk_history_span span = {
	    .end_ns = AT(2), .step_ns = GK_NS_PER_S, .count = 2};
	float values[2];

	(void)state;
	util(0, 10);
	util(1, 30);
	take(0.5);
	devices[1].health = GK_HEALTH_LOST; /* no values from now on */
	take(1.5);
	gk_history_of_devices(history, GK_HD_GPU_UTIL, span, values);
	assert_near(values[0], 20, 1e-3);
	assert_near(values[1], 10, 1e-3);
	/* Whichever of the two has no values. */
	devices[0].health = GK_HEALTH_LOST;
	devices[1].health = GK_HEALTH_OK;
	take(2.5);
	span.end_ns = AT(3);
	gk_history_of_devices(history, GK_HD_GPU_UTIL, span, values);
	assert_near(values[1], 30, 1e-3);
}

static float traffic(double end_s)
{
	return one_of(GK_HD_PCIE_RX, "GPU-a", end_s, 1);
}

/* PCIe traffic is read only while somebody looks: the rest is a gap. */
static void what_was_not_asked_for_is_a_gap(void **state)
{
	struct gk_device *d = &devices[0];

	(void)state;
	take(0.5);
	d->m[GK_M_PCIE_RX] = (struct gk_value){.v = 3 << 20};
	d->read_ns[GK_TIER_ASKED] = AT(1.4);
	take(1.5);
	take(2.5);
	d->m[GK_M_PCIE_RX].v = 5 << 20;
	d->read_ns[GK_TIER_ASKED] = AT(3.4);
	take(3.5);
	take(4.5);
	assert_true(isnan(traffic(1)));
	assert_near(traffic(2), 3, 1e-3);
	assert_true(isnan(traffic(3)));
	assert_near(traffic(4), 5, 1e-3);
	assert_true(isnan(traffic(5)));
}

/* It hangs, but not yet for long enough to be called stale. */
static void what_hangs_is_a_gap_after_one_late_frame(void **state)
{
	(void)state;
	util(0, 40);
	take(0.5);
	take_late(1.5);
	take_late(2.5);
	take_late(3.5);
	take(4.5);
	assert_near(one("GPU-a", 1, 1), 40, 1e-3);
	assert_near(one("GPU-a", 2, 1), 40, 1e-3);
	assert_true(isnan(one("GPU-a", 3, 1)));
	assert_true(isnan(one("GPU-a", 4, 1)));
	assert_near(one("GPU-a", 5, 1), 40, 1e-3);
}

static void links(double seconds, int64_t mebibytes)
{
	devices[0].m[GK_M_NVLINK_RX] =
	    (struct gk_value){.v = mebibytes * (1 << 20)};
	devices[0].read_ns[GK_TIER_DETAIL] = AT(seconds);
	take(seconds);
}

static float link_rate(double end_s)
{
	return one_of(GK_HD_NVLINK_RX, "GPU-a", end_s, 1);
}

static void a_counter_is_shown_as_its_growth(void **state)
{
	(void)state;
	links(0.5, 1000);
	links(1.5, 1300);
	links(3.5, 1700);  /* two seconds */
	links(4.5, 10);    /* loaded anew */
	links(60.5, 9010); /* nobody read it for a minute */
	links(61.5, 9017);
	assert_true(isnan(link_rate(1)));
	assert_near(link_rate(2), 300, 1e-3);
	assert_true(isnan(link_rate(3)));
	assert_near(link_rate(4), 200, 1e-3);
	assert_true(isnan(link_rate(5)));
	assert_true(isnan(link_rate(61)));
	assert_near(link_rate(62), 7, 1e-3);
}

/* A power cap counts where it takes a tenth of the clock or more. */
static void what_holds_clocks_back_is_remembered(void **state)
{
	static const struct {
		int64_t why, mhz;
		float held;
	} seconds[] = {{0, 1980, 0},    {0x4, 1900, 0},  {0x4, 1700, 1},
		       {0x20, 1980, 1}, {0x80, 1980, 1}, {0x8, 1980, 1},
		       {0x1, 300, 0}};

	(void)state;
	devices[0].m[GK_M_SM_CLOCK_MAX] = (struct gk_value){.v = 1980000000};
	for (int i = 0; i < 7; i++) {
		devices[0].m[GK_M_THROTTLE] =
		    (struct gk_value){.v = seconds[i].why};
		devices[0].m[GK_M_SM_CLOCK] =
		    (struct gk_value){.v = seconds[i].mhz * 1000000};
		take(i + 0.5);
	}
	for (int i = 0; i < 7; i++)
		assert_near(one_of(GK_HD_HELD, "GPU-a", i + 1, 1),
			    seconds[i].held, 1e-3);
	devices[0].m[GK_M_THROTTLE].why = GK_ABSENT_NOT_SUPPORTED;
	take(8.5);
	assert_true(isnan(one_of(GK_HD_HELD, "GPU-a", 9, 1)));
}

/* Every series is the metric that its row names, in its unit. */
static void a_series_is_its_metric(void **state)
{
	(void)state;
	for (int i = 0; i < GK_HD_COUNT; i++) {
		const struct gk_history_info *info = &gk_history_devices[i];

		devices[0].m[info->metric] =
		    (struct gk_value){.v = (int64_t)((10 + i) * info->scale)};
	}
	devices[0].m[GK_M_MEM_TOTAL] = (struct gk_value){.v = 50};
	devices[0].read_ns[GK_TIER_ASKED] = AT(0.5);
	take(0.5);
	for (int i = 0; i < GK_HD_HELD; i++) {
		if (gk_metrics[gk_history_devices[i].metric].kind ==
		    GK_KIND_COUNTER)
			continue;
		assert_near(one_of((enum gk_history_device)i, "GPU-a", 1, 1),
			    i == GK_HD_MEM ? 2 * (10 + i) : 10 + i, 1e-3);
	}
}

/* For up to five seconds a counter's growth is a rate. */
static void a_counter_may_pause_for_five_seconds(void **state)
{
	(void)state;
	links(0, 1000);
	links(5, 1500);
	links(10.5, 2600);
	assert_near(link_rate(6), 100, 1e-3);
	assert_true(isnan(link_rate(11)));
	/* An unchanged count is a rate of 0, not a gap. */
	links(11.5, 2600);
	assert_near(link_rate(12), 0, 1e-3);
}

static float host_value(enum gk_history_host what, double end_s)
{
	struct gk_history_span span = {
	    .end_ns = AT(end_s), .step_ns = GK_NS_PER_S, .count = 1};
	float value;

	gk_history_of_host(history, what, span, &value);
	return value;
}

static void the_host_is_shown_in_percent(void **state)
{
	struct gk_host *host = &snap.host;

	(void)state;
	host->cpu_centipercent.v = 2550;
	host->mem_total.v = 400;
	host->mem_available.v = 100;
	host->swap_total.v = 50;
	host->swap_free.v = 40;
	take(0.5);
	assert_near(host_value(GK_HH_CPU, 1), 25.5, 1e-3);
	assert_near(host_value(GK_HH_MEM, 1), 75, 1e-3);
	assert_near(host_value(GK_HH_SWAP, 1), 20, 1e-3);
	/* Without swap, 0 is used; of no memory, the used part is unknown. */
	host->swap_total.v = host->swap_free.v = host->mem_total.v = 0;
	take(1.5);
	assert_near(host_value(GK_HH_SWAP, 2), 0, 1e-3);
	assert_true(isnan(host_value(GK_HH_MEM, 2)));
	host->cpu_centipercent.why = host->swap_total.why = GK_ABSENT_HIDDEN;
	host->mem_total.v = 400;
	host->mem_available.why = GK_ABSENT_HIDDEN;
	take(2.5);
	assert_true(isnan(host_value(GK_HH_CPU, 3)));
	assert_true(isnan(host_value(GK_HH_MEM, 3)));
	assert_true(isnan(host_value(GK_HH_SWAP, 3)));
	host->swap_total = (struct gk_value){.v = 50};
	host->swap_free.why = GK_ABSENT_HIDDEN;
	take(3.5);
	assert_true(isnan(host_value(GK_HH_SWAP, 4)));
}

static float process_value(enum gk_history_process what, double end_s)
{
	struct gk_history_span span = {
	    .end_ns = AT(end_s), .step_ns = GK_NS_PER_S, .count = 1};
	float value;

	gk_history_of_process(history, 100, 7, "GPU-a", what, span, &value);
	return value;
}

static void a_process_is_shown_in_percent_and_mebibytes(void **state)
{
	struct gk_process *p = &processes[0];

	(void)state;
	snap.process_count = 1;
	p->pid = 100;
	p->start_ticks = 7;
	p->m[GK_PM_CPU].v = 12350;
	p->m[GK_PM_RSS].v = 3 << 20;
	p->m[GK_PM_GPU_MEM].v = 5 << 20;
	p->m[GK_PM_SM_UTIL].v = 42;
	take(0.5);
	assert_near(process_value(GK_HP_CPU, 1), 123.5, 1e-3);
	assert_near(process_value(GK_HP_RSS, 1), 3, 1e-3);
	assert_near(process_value(GK_HP_GPU_MEM, 1), 5, 1e-3);
	assert_near(process_value(GK_HP_SM, 1), 42, 1e-3);
	/* Only /proc has news while a GPU does not answer. */
	devices[0].health = GK_HEALTH_STALE;
	take(1.5);
	assert_near(process_value(GK_HP_CPU, 2), 123.5, 1e-3);
	assert_near(process_value(GK_HP_RSS, 2), 3, 1e-3);
	assert_true(isnan(process_value(GK_HP_GPU_MEM, 2)));
	assert_true(isnan(process_value(GK_HP_SM, 2)));
	devices[0].health = GK_HEALTH_OK;
	p->m[GK_PM_CPU].why = GK_ABSENT_ONE_SNAPSHOT;
	take(2.5);
	assert_true(isnan(process_value(GK_HP_CPU, 3)));
	/* The same process on another device is another series. */
	p->device = 1;
	take(3.5);
	assert_true(isnan(process_value(GK_HP_RSS, 4)));
}

static void a_history_begins_with_its_first_snapshot(void **state)
{
	struct gk_history *none;

	(void)state;
	assert_int_equal(gk_history_begin(history), 0);
	take(3);
	take(5);
	assert_int_equal(gk_history_begin(history), AT(3));
	/* A history may keep no process at all. */
	none = gk_history_new(0);
	snap.process_count = 1;
	gk_history_add(none, &snap);
	gk_history_free(none);
	gk_history_free(NULL);
}

/* The wall clock is 500 s ahead. */
static void what_the_driver_remembers_is_filled_in(void **state)
{
	struct gk_past *past =
	    calloc(1, sizeof *past + 5 * sizeof *past->samples);

	(void)state;
	assert_non_null(past);
	past->count = 5;
	past->samples[0] =
	    (struct gk_sample){GK_M_GPU_UTIL, AT(10) + 500 * GK_NS_PER_S, 70};
	past->samples[1] =
	    (struct gk_sample){GK_M_GPU_UTIL, AT(10.5) + 500 * GK_NS_PER_S, 80};
	past->samples[2] =
	    (struct gk_sample){GK_M_GPU_UTIL, AT(99) + 500 * GK_NS_PER_S,
			       1}; /* still in the future */
	past->samples[3] = (struct gk_sample){GK_M_GPU_UTIL, 0, 1};
	past->samples[4] =
	    (struct gk_sample){GK_M_POWER, AT(11) + 500 * GK_NS_PER_S, 300000};
	util(0, 50);
	devices[0].m[GK_M_POWER] = (struct gk_value){.v = 100000};
	take(30);
	gk_history_fill(history, devices[0].uuid, past, AT(30),
			AT(30) + 500 * GK_NS_PER_S);
	gk_history_fill(history, "nobody", past, AT(30), AT(30));
	assert_float_equal(one(devices[0].uuid, 11, 1), 75, 0.1);
	assert_true(isnan(one(devices[0].uuid, 12, 1)));
	assert_true(isnan(one(devices[1].uuid, 11, 1)));
	assert_float_equal(one_of(GK_HD_POWER, devices[0].uuid, 12, 1), 300,
			   0.1);
	assert_float_equal(one(devices[0].uuid, 31, 1), 50, 0.1);
	assert_true(isnan(one(devices[0].uuid, 31 - 1, 1)));
	assert_int_equal(gk_history_begin(history), AT(10));
	free(past);
}

static float memory_of(pid_t pid, uint64_t start)
{
	struct gk_history_span span = {
	    .end_ns = AT(100), .step_ns = 100 * GK_NS_PER_S, .count = 1};
	float value;

	gk_history_of_process(history, pid, start, "GPU-a", GK_HP_GPU_MEM, span,
			      &value);
	return value;
}

static void processes_make_room(void **state)
{
	(void)state;
	snap.process_count = 1;
	for (int i = 0; i < 3; i++) {
		processes[0].pid = 100 + i;
		processes[0].start_ticks = 7;
		processes[0].m[GK_PM_GPU_MEM].v = (i + 1) << 20;
		take(i + 0.5);
	}
	assert_true(isnan(memory_of(100, 7)));
	assert_near(memory_of(101, 7), 2, 1e-3);
	assert_near(memory_of(102, 7), 3, 1e-3);
	assert_true(
	    isnan(memory_of(102, 8))); /* another process with its pid */
}

/* The second of three has not been seen for the longest time. */
static void who_is_unseen_for_longest_makes_room(void **state)
{
	static const pid_t seen[] = {100, 101, 102, 100, 102, 103};

	(void)state;
	gk_history_free(history);
	history = gk_history_new(3);
	snap.process_count = 1;
	for (int i = 0; i < 6; i++) {
		processes[0].pid = seen[i];
		processes[0].m[GK_PM_GPU_MEM].v = (seen[i] - 99) << 20;
		take(i + 0.5);
	}
	assert_near(memory_of(100, 0), 1, 1e-3);
	assert_true(isnan(memory_of(101, 0)));
	assert_near(memory_of(102, 0), 3, 1e-3);
	assert_near(memory_of(103, 0), 4, 1e-3);
}

static void more_than_fit_are_left_out(void **state)
{
	(void)state;
	snap.process_count = 4;
	for (int i = 0; i < 4; i++) {
		processes[i].pid = 100 + i;
		processes[i].m[GK_PM_GPU_MEM].v = 1 << 20;
	}
	for (int s = 0; s < 10; s++)
		take(s + 0.5);
	assert_near(memory_of(100, 0), 1, 1e-3);
	assert_near(memory_of(101, 0), 1, 1e-3);
	assert_true(isnan(memory_of(102, 0)));
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* The mean is of whole GPUs, whatever devices are between them. */
static void mig_devices_are_no_gpus(void **state)
{
	struct gk_history_span span = {
	    .end_ns = AT(1), .step_ns = GK_NS_PER_S, .count = 1};
	float value;

	(void)state;
	devices[0].mig_index = 0;
	util(0, 10);
	util(1, 30);
	take(0.5);
	gk_history_of_devices(history, GK_HD_GPU_UTIL, span, &value);
	assert_near(value, 30, 1e-3);
}

/* MIG devices get a new name each time they are made. */
static void devices_that_are_gone_make_room(void **state)
{
	(void)state;
	devices[1].mig_index = 0;
	util(0, 10);
	for (int i = 0; i < 200; i++) {
		sprintf(devices[1].uuid, "MIG-%d", i);
		util(1, 20);
		take(i);
	}
	assert_true(isnan(one_of(GK_HD_GPU_UTIL, "MIG-0", 1, 1)));
	assert_true(isnan(one_of(GK_HD_GPU_UTIL, "MIG-100", 101, 1)));
	/*
	 * The latest ones, and the one that was there all the time, are kept.
	 */
	assert_true(one_of(GK_HD_GPU_UTIL, "MIG-180", 181, 1) == 20);
	assert_true(one_of(GK_HD_GPU_UTIL, "MIG-199", 200, 1) == 20);
	assert_true(one_of(GK_HD_GPU_UTIL, "GPU-a", 1, 1) == 10);
	assert_true(one_of(GK_HD_GPU_UTIL, "GPU-a", 200, 1) == 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(several_within_a_second_are_averaged),
	    T(a_gap_is_unknown),
	    T(what_is_old_is_kept_more_coarsely),
	    T(devices_are_averaged),
	    T(what_was_not_asked_for_is_a_gap),
	    T(what_hangs_is_a_gap_after_one_late_frame),
	    T(a_counter_is_shown_as_its_growth),
	    T(a_counter_may_pause_for_five_seconds),
	    T(the_host_is_shown_in_percent),
	    T(a_process_is_shown_in_percent_and_mebibytes),
	    T(a_history_begins_with_its_first_snapshot),
	    T(what_the_driver_remembers_is_filled_in),
	    T(a_series_is_its_metric),
	    T(what_holds_clocks_back_is_remembered),
	    T(processes_make_room),
	    T(who_is_unseen_for_longest_makes_room),
	    T(mig_devices_are_no_gpus),
	    T(devices_that_are_gone_make_room),
	    T(more_than_fit_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

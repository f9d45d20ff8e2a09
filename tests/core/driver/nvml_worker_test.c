/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_worker_test.c - checks what the thread of a GPU reads by the clock. */
#include "core/context.h"
#include "core/scripted.h"
#include "core/driver/worker.h"

#include <sys/eventfd.h>

static int setup(void **state)
{
	scripted_setup(state);
	scripted_reset(1);
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, scripted_teardown)

static unsigned fast_reads(void)
{
	return scripted_calls("nvmlDeviceGetUtilizationRates");
}

/* Waits until all that was asked for or was due is read. */
static void read_tiers(struct gk_worker *w, unsigned tiers)
{
	assert_int_equal(gk_worker_ask(w, tiers), 0);
	assert_true(gk_worker_wait(w, gk_mono_ns() + 30 * GK_NS_PER_S));
}

/* A hundred periods are due at once: they are read once. */
static void missed_periods_are_left_out(void **state)
{
	uint64_t now = gk_mono_ns(), start[GK_TIER_COUNT] = {0};
	uint64_t period[GK_TIER_COUNT] = {[GK_TIER_FAST] = now / 128};
	struct gk_worker *w;
	unsigned before, one;

	(void)state;
	start[GK_TIER_FAST] = now - 100 * period[GK_TIER_FAST];
	scripted_open();
	scripted_take();
	w = t.gk->workers[0];
	before = fast_reads();
	read_tiers(w, 1U << GK_TIER_FAST);
	one = fast_reads() - before;
	assert_true(one > 0);
	before = fast_reads();
	gk_worker_schedule(w, start, period);
	read_tiers(w, 1U << GK_TIER_SLOW);
	/* A loaded host may take some periods to get there. */
	assert_in_range(fast_reads() - before, one, 20 * one);
}

/* ---- a worker of the test's own ---- */

static struct gk_worker *open_worker(unsigned with)
{
	struct gk_gpu_options options = {.with = with};
	struct gk_worker *w;

	scripted_open();
	assert_int_equal(gk_worker_new(t.gk->nvml, 0, &options, &w), 0);
	return w;
}

static void stop_worker(struct gk_worker *w)
{
	assert_true(gk_worker_stop(w, gk_mono_ns() + 30 * GK_NS_PER_S));
	gk_worker_free(w);
}

static void nothing_is_read_before_it_is_asked(void **state)
{
	struct gk_worker *w = open_worker(0);
	struct gk_reading reading;

	(void)state;
	assert_true(gk_worker_wait(w, 0));
	assert_int_equal(gk_worker_copy(w, &reading), 0);
	assert_int_equal(reading.device_count, 1);
	assert_absent(reading.devices[0].m[GK_M_TEMP], NOT_READ);
	assert_int_equal(reading.devices[0].processes_why, GK_ABSENT_NOT_READ);
	assert_int_equal(reading.listed_count, 0);
	assert_null(reading.listed);
	assert_null(reading.detail);
	gk_reading_free(&reading);
	assert_null(reading.devices);
	stop_worker(w);
	assert_int_equal(fast_reads(), 0);
}

static void what_is_asked_is_read_once(void **state)
{
	struct gk_worker *w = open_worker(GK_WITH_PCIE);
	struct gk_reading reading;

	(void)state;
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){70, GIB, SCRIPT_WITHOUT_GI,
						 SCRIPT_WITHOUT_GI});
	read_tiers(w, 1U << GK_TIER_FAST);
	assert_int_equal(fast_reads(), 1);
	/* A newly opened GPU is read completely, except for PCIe. */
	assert_int_equal(scripted_calls("nvmlDeviceGetFanSpeed"), 1);
	assert_int_equal(scripted_calls("nvmlDeviceGetPowerManagementLimit"),
			 1);
	assert_int_equal(scripted_calls("nvmlDeviceGetPcieThroughput"), 0);
	read_tiers(w, 1U << GK_TIER_ASKED);
	assert_int_equal(scripted_calls("nvmlDeviceGetPcieThroughput"), 2);
	read_tiers(w, 1U << GK_TIER_FAST | 1U << GK_TIER_MEDIUM);
	assert_int_equal(fast_reads(), 2);
	assert_int_equal(scripted_calls("nvmlDeviceGetFanSpeed"), 2);
	assert_int_equal(scripted_calls("nvmlDeviceGetPowerManagementLimit"),
			 1);
	assert_int_equal(gk_worker_copy(w, &reading), 0);
	assert_value(reading.devices[0].m[GK_M_TEMP], 70);
	assert_value(reading.devices[0].m[GK_M_PCIE_TX], 500000);
	assert_int_equal(reading.listed_count, 1);
	assert_int_equal(reading.listed[0].pid, 70);
	gk_reading_free(&reading);
	stop_worker(w);
}

/* How many tiers were announced: those that were read for the first time. */
static void check_news(unsigned with, unsigned asked, uint64_t want)
{
	struct gk_worker *w = open_worker(with);
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	uint64_t news = 0;

	gk_worker_tell(w, fd);
	read_tiers(w, asked);
	assert_int_equal(eventfd_read(fd, &news), 0);
	assert_int_equal(news, want);
	/* Each is announced once. */
	read_tiers(w, asked);
	assert_int_equal(eventfd_read(fd, &news), -1);
	gk_worker_end(w);
	stop_worker(w);
	assert_int_equal(eventfd_read(fd, &news), -1);
	close(fd);
	assert_int_equal(gk_close(t.gk), 0);
	t.gk = NULL;
}

static void tiers_read_for_the_first_time_are_news(void **state)
{
	(void)state;
	check_news(0, 1U << GK_TIER_FAST, 3);
	check_news(GK_WITHOUT_SLOW, 1U << GK_TIER_FAST, 2);
	check_news(GK_WITHOUT_SLOW, 1U << GK_TIER_FAST | 1U << GK_TIER_SLOW, 3);
	check_news(GK_WITH_DETAIL, 1U << GK_TIER_FAST, 4);
	check_news(0, 1U << GK_TIER_FAST | 1U << GK_TIER_ASKED, 4);
}

static void who_hangs_is_not_waited_for_long(void **state)
{
	struct gk_worker *w = open_worker(0);
	struct gk_reading reading;
	uint64_t until;

	(void)state;
	read_tiers(w, 1U << GK_TIER_FAST);
	SCRIPT(t.s->gpu[0].hang = true; t.s->gpu[0].util = 88);
	assert_int_equal(gk_worker_ask(w, 1U << GK_TIER_FAST), 0);
	until = gk_mono_ns() + 20 * GK_NS_PER_MS;
	assert_false(gk_worker_wait(w, until));
	assert_true(gk_mono_ns() >= until);
	/* Values that it read before are available. */
	assert_int_equal(gk_worker_copy(w, &reading), 0);
	assert_value(reading.devices[0].m[GK_M_GPU_UTIL], 0);
	gk_reading_free(&reading);
	SCRIPT(t.s->gpu[0].hang = false);
	assert_true(gk_worker_wait(w, gk_mono_ns() + 30 * GK_NS_PER_S));
	assert_int_equal(gk_worker_copy(w, &reading), 0);
	assert_value(reading.devices[0].m[GK_M_GPU_UTIL], 88);
	gk_reading_free(&reading);
	stop_worker(w);
}

/* It ends after its current call, without reading what else was asked for. */
static void who_is_to_end_reads_no_further(void **state)
{
	struct gk_worker *w = open_worker(0);

	(void)state;
	read_tiers(w, 1U << GK_TIER_FAST);
	SCRIPT(t.s->gpu[0].hang = true);
	assert_int_equal(
	    gk_worker_ask(w, 1U << GK_TIER_FAST | 1U << GK_TIER_ASKED), 0);
	scripted_await_hang(0);
	gk_worker_end(w);
	SCRIPT(t.s->gpu[0].hang = false);
	stop_worker(w);
	assert_int_equal(scripted_calls("nvmlDeviceGetPcieThroughput"), 0);
}

/* A period of an hour that has already begun: the next one is far away. */
static void a_period_is_read_at_its_start(void **state)
{
	const uint64_t hour = 3600 * GK_NS_PER_S;
	uint64_t now = gk_mono_ns(), start[GK_TIER_COUNT] = {0};
	uint64_t period[GK_TIER_COUNT] = {[GK_TIER_FAST] = hour};
	struct gk_worker *w = open_worker(GK_WITHOUT_SLOW);

	(void)state;
	read_tiers(w, 1U << GK_TIER_FAST);
	assert_int_equal(fast_reads(), 1);
	start[GK_TIER_FAST] = now + hour;
	gk_worker_schedule(w, start, period);
	read_tiers(w, 1U << GK_TIER_MEDIUM);
	assert_int_equal(fast_reads(), 1);
	start[GK_TIER_FAST] = now;
	gk_worker_schedule(w, start, period);
	read_tiers(w, 1U << GK_TIER_MEDIUM);
	assert_int_equal(fast_reads(), 2);
	read_tiers(w, 1U << GK_TIER_MEDIUM);
	assert_int_equal(fast_reads(), 2);
	assert_int_equal(scripted_calls("nvmlDeviceGetPcieThroughput"), 0);
	stop_worker(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(missed_periods_are_left_out),
	    T(nothing_is_read_before_it_is_asked),
	    T(what_is_asked_is_read_once),
	    T(tiers_read_for_the_first_time_are_news),
	    T(who_hangs_is_not_waited_for_long),
	    T(who_is_to_end_reads_no_further),
	    T(a_period_is_read_at_its_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

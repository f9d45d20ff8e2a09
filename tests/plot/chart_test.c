/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chart_test.c - checks what recordings add up to: sums at a moment, peaks,
 * weights, gaps, filters.
 */
#include "unit.h"

#include "base/err.h"
#include "plot/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct gk_plot_chart chart;

static int set_up(void **state)
{
	(void)state;
	if (gk_plot_chart_init(&chart))
		return -1;
	chart.process_lines = true;
	gk_plot_chart_begin(&chart, "file");
	chart.file->processes = true;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	gk_plot_chart_free(&chart);
	return 0;
}

static struct gk_csv_field field(const char *text)
{
	return (struct gk_csv_field){text, strlen(text)};
}

static struct gk_plot_row row_at(int64_t ms, const char *gpu, const char *pid)
{
	struct gk_plot_row row;

	gk_plot_row_clear(&row);
	row.time_ms = ms;
	row.gpu = field(gpu);
	row.pid = field(pid);
	return row;
}

static void add(int64_t ms, const char *gpu, const char *pid, double memory)
{
	struct gk_plot_row row = row_at(ms, gpu, pid);

	gk_plot_row_set(&row, GK_PLOT_MEMORY, memory);
	assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
}

/* Adds a row of a device recording. */
static void add_gpu(int64_t ms, double busy, double power, unsigned reasons)
{
	struct gk_plot_row row = row_at(ms, "0", "");

	gk_plot_row_set(&row, GK_PLOT_BUSY, busy);
	gk_plot_row_set(&row, GK_PLOT_POWER, power);
	gk_plot_row_set(&row, GK_PLOT_REASONS, reasons);
	gk_plot_row_set(&row, GK_PLOT_MEMORY, 4096);
	assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
}

static const struct gk_plot_subject *find(const char *label)
{
	for (size_t i = 0; i < chart.subject_count; i++)
		if (!strcmp(chart.subjects[i].label, label))
			return &chart.subjects[i];
	fail_msg("no %s", label);
	return NULL;
}

static const struct gk_plot_track *memory_of(const char *label)
{
	return find(label)->tracks[GK_PLOT_MEMORY];
}

static void rows_of_a_moment_are_added_up(void **state)
{
	(void)state;
	for (int s = 0; s < 3; s++) {
		add(s * 1000, "0", "7", 100);
		add(s * 1000, "0", "8", 20);
		add(s * 1000, "1", "7", 3);
	}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_int_equal(chart.subject_count, 5);
	assert_int_equal(memory_of("GPU 0")->series.count, 3);
	assert_near(memory_of("GPU 0")->series.bins[2].max, 120, 1e-9);
	assert_near(memory_of("GPU 1")->series.bins[2].max, 3, 1e-9);
	assert_near(memory_of("8")->series.bins[2].max, 20, 1e-9);
	assert_ptr_equal(find("8")->gpu, find("GPU 0"));
}

static void a_peak_outlives_many_rows(void **state)
{
	enum { ROWS = 1000000, PEAK = 765432 };
	const struct gk_plot_series *series;
	bool seen = false;

	(void)state;
	for (int i = 0; i < ROWS; i++)
		add((int64_t)i * 1000, "0", "", i == PEAK ? 5000 : i % 10);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	series = &memory_of("GPU 0")->series;
	assert_in_range(series->count, 500, 2048);
	for (size_t i = 0; i < series->count; i++) {
		assert_near(series->bins[i].min, 0, 1e-9);
		if (series->bins[i].max > 100) {
			assert_int_equal(series->bins[i].max_ms, PEAK * 1000LL);
			seen = true;
		}
	}
	assert_true(seen);
	assert_near(memory_of("GPU 0")->max, 5000, 1e-9);
}

static void times_may_go_back(void **state)
{
	const struct gk_plot_series *series;

	(void)state;
	for (int i = 0; i < 5000; i++)
		add((int64_t)(i * 37 % 5000) * 60000, "0", "", i);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	series = &memory_of("GPU 0")->series;
	for (size_t i = 1; i < series->count; i++)
		assert_true(series->bins[i - 1].column <
			    series->bins[i].column);
	assert_near(memory_of("GPU 0")->max, 4999, 1e-9);
}

/* A value is for the time before it; a pause is not recorded time. */
static void values_weigh_by_time(void **state)
{
	static const int at_s[] = {0, 1, 2, 3, 5, 605, 606};
	static const double busy[] = {50, 10, 20, 30, 90, 60, 0};
	const struct gk_plot_subject *gpu;

	(void)state;
	chart.file->processes = false;
	for (size_t i = 0; i < sizeof at_s / sizeof *at_s; i++)
		add_gpu(at_s[i] * 1000, busy[i], 100, i == 4 ? 0x4 | 0x40 : 1);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	gpu = find("GPU 0");
	/*
	 * 1 s of each value but 2 s of 90; after the pause 2 s of 60, as
	 * before.
	 */
	assert_near(gpu->seconds, 8, 1e-9);
	assert_near(gk_plot_track_mean(gpu->tracks[GK_PLOT_BUSY]),
		    (10 + 20 + 30 + 2 * 90 + 2 * 60 + 0) / 8.0, 1e-9);
	assert_near(gk_plot_subject_energy(gpu), 8 * 100 / 3600.0, 1e-9);
	assert_near(gpu->throttled, 2, 1e-9);
	assert_near(gpu->by_reason[0], 2, 1e-9);
	assert_near(gpu->by_reason[4], 2, 1e-9);
	assert_near(gpu->idle, 1, 1e-9);
	assert_int_equal(gpu->run_count, 2);
}

static void a_process_has_its_part_of_the_energy(void **state)
{
	(void)state;
	for (int s = 0; s < 3; s++) {
		struct gk_plot_row row;

		add_gpu(s * 1000, 80, 300, 0);
		for (int p = 0; p < 2; p++) {
			row = row_at(s * 1000, "0", p ? "8" : "7");
			row.alone = true;
			gk_plot_row_set(&row, GK_PLOT_BUSY, p ? 20 : 60);
			assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
		}
	}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_near(find("GPU 0")->tracks[GK_PLOT_BUSY]->last, 80, 0);
	assert_near(gk_plot_subject_energy(find("7")), 2 * 225 / 3600.0, 1e-9);
	assert_near(gk_plot_subject_energy(find("8")), 2 * 75 / 3600.0, 1e-9);
}

static void a_counter_of_energy_goes_before_power(void **state)
{
	static const double joules[] = {500, 800, 100, 400};
	struct gk_plot_row row;

	(void)state;
	for (int s = 0; s < 4; s++) {
		row = row_at(s * 1000, "0", "");
		gk_plot_row_set(&row, GK_PLOT_ENERGY, joules[s]);
		gk_plot_row_set(&row, GK_PLOT_POWER, 1);
		assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
	}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_near(gk_plot_subject_energy(find("GPU 0")), 600 / 3600.0, 1e-9);
}

static void what_happened_is_kept_as_runs(void **state)
{
	static const int reasons[] = {0, 0x40, 0x40, 0, 0, 0, 0x4, 0};
	const struct gk_plot_subject *gpu;
	struct gk_plot_row row;

	(void)state;
	for (int s = 0; s < 8; s++) {
		row = row_at(s * 10000, "0", "");
		gk_plot_row_set(&row, GK_PLOT_REASONS, reasons[s]);
		gk_plot_row_set(&row, GK_PLOT_XIDS, s >= 5);
		gk_plot_row_set(&row, GK_PLOT_XID, s >= 5 ? 79 : 0);
		gk_plot_row_set(&row, GK_PLOT_ECC, s >= 3 ? 9 : 7);
		row.lost = s >= 6;
		assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
	}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	gpu = find("GPU 0");
	assert_true(gpu->lost);
	assert_int_equal(gpu->run_count, 5);
	assert_int_equal(gpu->runs[0].event, GK_PLOT_BY_HEAT);
	assert_int_equal(gpu->runs[0].from_ms, 0);
	assert_int_equal(gpu->runs[0].to_ms, 20000);
	assert_int_equal(gpu->runs[1].event, GK_PLOT_ECC_CAME);
	assert_int_equal(gpu->runs[1].from_ms, 30000);
	assert_int_equal(gpu->runs[2].event, GK_PLOT_XID_CAME);
	assert_int_equal(gpu->runs[2].number, 79);
	assert_int_equal(gpu->runs[3].event, GK_PLOT_BY_POWER);
	assert_int_equal(gpu->runs[4].event, GK_PLOT_LOST);
	assert_int_equal(gpu->runs[4].from_ms, 60000);
	assert_int_equal(gpu->runs[4].to_ms, 70000);
}

/* At nearly full clocks a power cap holds nothing back. */
static void a_power_cap_alone_is_no_event(void **state)
{
	struct gk_plot_row row;

	(void)state;
	for (int s = 0; s < 2; s++) {
		row = row_at(s * 1000, s ? "1" : "0", "");
		gk_plot_row_set(&row, GK_PLOT_REASONS, 4);
		gk_plot_row_set(&row, GK_PLOT_CLOCK, s ? 1781 : 1783);
		gk_plot_row_set(&row, GK_PLOT_CLOCK_MAX, 1980);
		assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
	}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_int_equal(find("GPU 0")->run_count, 0);
	assert_int_equal(find("GPU 1")->run_count, 1);
}

static void too_many_are_counted(void **state)
{
	(void)state;
	for (int i = 0; i < GK_PLOT_SUBJECTS_MAX + 5; i++) {
		char pid[16];

		snprintf(pid, sizeof pid, "%d", i);
		add(0, "0", pid, i);
	}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_int_equal(chart.subject_count, GK_PLOT_SUBJECTS_MAX);
	assert_int_equal(chart.left_out, 6);
}

static void rows_are_chosen_by_gpu_and_pid(void **state)
{
	static const char *const gpus[] = {"1", "2"}, *const pids[] = {"7"};

	(void)state;
	chart.filter = (struct gk_plot_filter){
	    .gpus = gpus, .gpu_count = 2, .pids = pids, .pid_count = 1};
	add(0, "0", "7", 1);
	add(0, "1", "8", 2);
	add(0, "1:0", "7", 4);
	add(0, "10", "7", 8);
	add(0, "2", "7", 16);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_int_equal(chart.rows, 2);
	assert_near(memory_of("GPU 1:0")->last, 4, 0);
	assert_near(memory_of("GPU 2")->last, 16, 0);
}

#define AT(text) ((text)*60 * 1000LL) /* minutes */

static void rows_are_chosen_by_time(void **state)
{
	static const struct {
		const char *from, *to;
		int first, last; /* minutes since 23:00 */
	} cases[] = {
	    {"10m", "20m", 10, 20},           {"23:30", "00:15", 30, 75},
	    {"22:00", "23:01:00", 0, 1},      {"00:30", "", 90, 119},
	    {"", "1970-01-02T00:59", 0, 119}, {"1970-01-02", "", 60, 119},
	    {"-30m", "-10m", 89, 109},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gk_plot_filter filter = {.gpu_count = 0};

		if (*cases[i].from)
			assert_int_equal(
			    gk_plot_parse_when(cases[i].from, &filter.from), 0);
		if (*cases[i].to)
			assert_int_equal(
			    gk_plot_parse_when(cases[i].to, &filter.to), 0);
		tear_down(NULL);
		set_up(NULL);
		chart.filter = filter;
		chart.end_ms = AT(23 * 60 + 119);
		for (int m = 0; m < 120; m++)
			add(AT(23 * 60 + m), "0", "", m);
		assert_int_equal(gk_plot_chart_end(&chart), 0);
		assert_near(memory_of("GPU 0")->first, cases[i].first, 0);
		assert_near(memory_of("GPU 0")->last, cases[i].last, 0);
	}
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const words[] = {"",      "now",   "25:00",
					    "12",    "1:2:3", "2026-13-01",
					    "--10m", "10x",   "2026-11-21T9"};
	struct gk_plot_when when;

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], "12") != 0 &&
		    !gk_plot_parse_when(words[i], &when))
			fail_msg("taken: %s", words[i]);
	assert_int_equal(gk_plot_parse_when("12", &when), 0);
	assert_int_equal(when.ms, 12000);
}

/* The longest one has nanoseconds and an offset, which is not applied. */
static void a_time_of_day_may_have_all_its_parts(void **state)
{
	struct gk_plot_when when;

	(void)state;
	assert_int_equal(gk_plot_parse_when("12:34", &when), 0);
	assert_int_equal(when.kind, GK_PLOT_TIME_OF_DAY);
	assert_int_equal(when.ms, (12 * 60 + 34) * 60000);
	assert_int_equal(gk_plot_parse_when("12:34:56.123456789+01:00", &when),
			 0);
	assert_int_equal(when.kind, GK_PLOT_TIME_OF_DAY);
	assert_int_equal(when.ms, ((12 * 60 + 34) * 60 + 56) * 1000 + 123);
	assert_int_not_equal(
	    gk_plot_parse_when("12:34:56.1234567890+01:00", &when), 0);
}

/* A counter that was read once has counted nothing yet. */
static void one_reading_of_a_counter_is_no_energy(void **state)
{
	struct gk_plot_track counter = {.count = 1}, power = {.count = 1};
	struct gk_plot_subject gpu = {.tracks[GK_PLOT_ENERGY] = &counter};

	(void)state;
	assert_true(isnan(gk_plot_subject_energy(&gpu)));
	gpu.tracks[GK_PLOT_POWER] = &power;
	gpu.watt_seconds = 7200;
	assert_near(gk_plot_subject_energy(&gpu), 2, 1e-9);
	counter.count = 2;
	counter.grown = 3600;
	assert_near(gk_plot_subject_energy(&gpu), 1, 1e-9);
}

static void aligned_files_begin_together(void **state)
{
	(void)state;
	chart.aligned = true;
	add(5000, "0", "", 1);
	add(6000, "0", "", 2);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	gk_plot_chart_begin(&chart, "other");
	add(777000, "0", "", 3);
	add(779000, "0", "", 4);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_int_equal(chart.subject_count, 2);
	assert_int_equal(chart.first_ms, 0);
	assert_int_equal(chart.last_ms, 2000);
	assert_int_equal(chart.subjects[1].file, 1);
}

static size_t bins_of_all(void)
{
	size_t bins = 0;

	for (size_t i = 0; i < chart.subject_count; i++) {
		const struct gk_plot_track *track =
		    chart.subjects[i].tracks[GK_PLOT_MEMORY];

		bins += track ? track->series.count : 0;
	}
	return bins;
}

/* 600 processes at 2048 moments would be 1.2 million bins. */
static void many_lines_have_wider_bins(void **state)
{
	char pid[16];

	(void)state;
	for (int64_t t = 0; t < 2048; t++)
		for (int i = 0; i < 600; i++) {
			snprintf(pid, sizeof pid, "%d", i + 1);
			add(t * 1000, "0", pid, 1);
		}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_true(bins_of_all() > 600 * 100);
	assert_true(bins_of_all() < 600 * 600);
}

static void a_subject_has_so_many_events_at_most(void **state)
{
	(void)state;
	for (int i = 0; i < 5000; i++) {
		struct gk_plot_row row = row_at(i * 1000, "0", "");

		gk_plot_row_set(&row, GK_PLOT_XIDS, i + 1);
		gk_plot_row_set(&row, GK_PLOT_XID, i % 100 + 1);
		assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
	}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_in_range(find("GPU 0")->run_count, 100, 600);
}

static void add_xids(int64_t ms, const int *xids, unsigned count, unsigned last)
{
	struct gk_plot_row row = row_at(ms, "0", "");

	gk_plot_row_set(&row, GK_PLOT_XIDS, count);
	gk_plot_row_set(&row, GK_PLOT_XID, last);
	for (unsigned i = 0; xids && i < count; i++)
		row.xids[row.xid_count++] = xids[i];
	assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
}

/* Those since the previous moment; the last one where there is no list. */
static void each_xid_of_a_burst_is_an_event(void **state)
{
	static const int xids[] = {48, 94, 63, 79};
	const struct gk_plot_subject *gpu;

	(void)state;
	add_xids(0, xids, 0, 0);
	add_xids(1000, xids, 3, 63);
	add_xids(2000, xids, 3, 63);
	add_xids(60000, xids, 4, 79);
	add_xids(120000, NULL, 7, 31);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	gpu = find("GPU 0");
	assert_int_equal(gpu->run_count, 5);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(gpu->runs[i].event, GK_PLOT_XID_CAME);
		assert_int_equal(gpu->runs[i].number, i < 4 ? xids[i] : 31);
	}
	assert_int_equal(gpu->runs[2].from_ms, 1000);
	assert_int_equal(gpu->runs[3].from_ms, 60000);
}

static void a_label_has_no_more_than_a_few_words(void **state)
{
	static char text[100000];
	struct gk_plot_row row = row_at(0, "0", "7");

	(void)state;
	memset(text, 'x', sizeof text - 1);
	row.command = row.model = field(text);
	gk_plot_row_set(&row, GK_PLOT_MEMORY, 1);
	assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_int_equal(chart.subject_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_in_range(strlen(chart.subjects[i].label), 1, 2000);
	assert_in_range(strlen(chart.subjects[0].model), 100, 2000);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(rows_of_a_moment_are_added_up),
	    TEST(a_peak_outlives_many_rows),
	    TEST(times_may_go_back),
	    TEST(values_weigh_by_time),
	    TEST(a_process_has_its_part_of_the_energy),
	    TEST(a_counter_of_energy_goes_before_power),
	    TEST(what_happened_is_kept_as_runs),
	    TEST(a_power_cap_alone_is_no_event),
	    TEST(too_many_are_counted),
	    TEST(rows_are_chosen_by_gpu_and_pid),
	    TEST(rows_are_chosen_by_time),
	    TEST(what_is_no_time_is_refused),
	    TEST(a_time_of_day_may_have_all_its_parts),
	    TEST(one_reading_of_a_counter_is_no_energy),
	    TEST(aligned_files_begin_together),
	    TEST(many_lines_have_wider_bins),
	    TEST(a_subject_has_so_many_events_at_most),
	    TEST(a_label_has_no_more_than_a_few_words),
	    TEST(each_xid_of_a_burst_is_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

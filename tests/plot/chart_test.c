/* Lines of a picture: sums of a moment, peaks that are kept, gaps. */
#include "unit.h"

#include "plot/script.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct gk_plot_chart chart;

static int set_up(void **state)
{
	(void)state;
	if (gk_plot_chart_init(&chart))
		return -1;
	chart.wanted[GK_PLOT_MEMORY] = true;
	gk_plot_chart_begin(&chart, "file");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	gk_plot_chart_free(&chart);
	return 0;
}

static void add(int64_t ms, const char *gpu, const char *pid, double memory)
{
	char of_gpu[64], of_pid[64];
	struct gk_plot_row row = {
	    .time_ms = ms,
	    .gpu = {of_gpu, strlen(gpu)},
	    .pid = {of_pid, strlen(pid)},
	};

	strcpy(of_gpu, gpu);
	strcpy(of_pid, pid);
	for (int q = 0; q < GK_PLOT_QUANTITIES; q++)
		row.value[q] = (double)NAN;
	row.value[GK_PLOT_MEMORY] = memory;
	assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
}

static void rows_of_a_moment_are_added_up(void **state)
{
	(void)state;
	chart.group[GK_PLOT_MEMORY] = GK_PLOT_PER_GPU;
	for (int s = 0; s < 3; s++) {
		add(s * 1000, "0", "7", 100);
		add(s * 1000, "0", "8", 20);
		add(s * 1000, "1", "7", 3);
	}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_int_equal(chart.line_count, 2);
	assert_string_equal(chart.lines[0].label, "GPU 0");
	assert_string_equal(chart.lines[1].label, "GPU 1");
	assert_int_equal(chart.lines[0].series.count, 3);
	assert_near(chart.lines[0].series.bins[2].max, 120, 1e-9);
	assert_near(chart.lines[1].series.bins[2].max, 3, 1e-9);
}

static void a_peak_outlives_many_rows(void **state)
{
	enum { ROWS = 1000000, PEAK = 765432 };
	const struct gk_plot_series *series;
	bool seen = false;

	(void)state;
	for (int i = 0; i < ROWS; i++)
		add((int64_t)i * 1000, "0", "7", i == PEAK ? 5000 : i % 10);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	series = &chart.lines[0].series;
	assert_in_range(series->count, 500, 2048);
	for (size_t i = 0; i < series->count; i++) {
		assert_near(series->bins[i].min, 0, 1e-9);
		if (series->bins[i].max > 100) {
			assert_int_equal(series->bins[i].max_ms, PEAK * 1000LL);
			seen = true;
		}
	}
	assert_true(seen);
	assert_near(series->peak, 5000, 1e-9);
}

static void times_may_go_back(void **state)
{
	const struct gk_plot_series *series;

	(void)state;
	for (int i = 0; i < 5000; i++)
		add((int64_t)(i * 37 % 5000) * 60000, "0", "7", i);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	series = &chart.lines[0].series;
	for (size_t i = 1; i < series->count; i++)
		assert_true(series->bins[i - 1].column <
			    series->bins[i].column);
	assert_near(series->peak, 4999, 1e-9);
}

static const char *draw(const char *title)
{
	static struct gk_buf script;
	struct gk_plot_look look = {
	    .form = GK_PLOT_SVG, .width = 600, .height = 400, .title = title};

	gk_buf_free(&script);
	gk_plot_script(&chart, &look, &script);
	assert_false(script.failed);
	return script.data;
}

static void a_gap_breaks_the_line(void **state)
{
	const char *data;

	(void)state;
	for (int i = 0; i < 10; i++)
		add(i * 1000 + (i > 4 ? 600000 : 0), "0", "7", 5);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	data = strstr(draw("x"), "$line0 << END\n");
	assert_non_null(data);
	assert_non_null(strstr(data, "4.000 5\n\n605.000 5\n"));
	assert_null(strstr(data, "3.000 5\n\n"));
}

static void names_are_data(void **state)
{
	const char *script;

	(void)state;
	chart.group[GK_PLOT_MEMORY] = GK_PLOT_PER_PID;
	add(0, "0", "7'\n!touch x; \"`id`\" $x", 1);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	script = draw("it's\n'; system('id')");
	assert_non_null(strstr(script, "title '7''?!touch x; \"`id`\" $x'"));
	assert_non_null(strstr(script, "title 'it''s?''; system(''id'')' "));
}

static void too_many_lines_are_counted(void **state)
{
	(void)state;
	chart.group[GK_PLOT_MEMORY] = GK_PLOT_PER_PID;
	for (int i = 0; i < GK_PLOT_LINES_MAX + 5; i++) {
		char pid[16];

		snprintf(pid, sizeof pid, "%d", i);
		add(0, "0", pid, i);
	}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_int_equal(chart.line_count, GK_PLOT_LINES_MAX);
	assert_int_equal(chart.lines_left_out, 5);
	assert_non_null(strstr(draw("x"), "(the 12 highest of 2000)"));
}

static void what_no_file_has_is_said(void **state)
{
	(void)state;
	chart.wanted[GK_PLOT_POWER] = true;
	add(0, "0", "7", 1);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_non_null(strstr(draw("x"), "set label 'no power "));
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(rows_of_a_moment_are_added_up),
	    TEST(a_peak_outlives_many_rows),
	    TEST(times_may_go_back),
	    TEST(a_gap_breaks_the_line),
	    TEST(names_are_data),
	    TEST(too_many_lines_are_counted),
	    TEST(what_no_file_has_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_test.c - checks scripts of pictures: what is drawn, and that texts are
 * data.
 */
#include "unit.h"

#include "base/err.h"
#include "plot/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gk_plot_chart chart;
static struct gk_plot_wish wish;

static int set_up(void **state)
{
	(void)state;
	wish = (struct gk_plot_wish){.more = true};
	if (gk_plot_chart_init(&chart))
		return -1;
	chart.process_lines = true;
	gk_plot_chart_begin(&chart, "file");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	gk_plot_chart_free(&chart);
	return 0;
}

static void add(int64_t ms, const char *gpu, const char *pid, double busy,
		double memory)
{
	struct gk_plot_row row;

	gk_plot_row_clear(&row);
	row.time_ms = ms;
	row.gpu = (struct gk_csv_field){gpu, strlen(gpu)};
	row.pid = (struct gk_csv_field){pid, strlen(pid)};
	gk_plot_row_set(&row, GK_PLOT_MEMORY, memory);
	gk_plot_row_set(&row, GK_PLOT_BUSY, busy);
	assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
}

/* Adds GPUs from 0 on, later ones busier. */
static void add_gpus(int count)
{
	for (int s = 0; s < 3; s++)
		for (int g = 0; g < count; g++) {
			char gpu[16];

			snprintf(gpu, sizeof gpu, "%d", g);
			add(s * 1000, gpu, "", g, 100);
		}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
}

static unsigned width, height; /* as requested; 0: not requested */

static const char *draw_page(const char *title, bool all, size_t page,
			     size_t *ret_pages)
{
	static struct gk_buf script;
	struct gk_plot_look look = {.form = GK_PLOT_SVG,
				    .width = width,
				    .height = height,
				    .title = title,
				    .command = "gpukit plot"};
	struct gk_plot_picture picture;

	wish.all = all;
	gk_buf_free(&script);
	assert_int_equal(gk_plot_picture_new(&chart, &wish, &picture), 0);
	*ret_pages = gk_plot_pages(&picture, all);
	gk_plot_script(&picture, &look, all, page, &script);
	gk_plot_picture_free(&picture);
	assert_false(script.failed);
	return script.data;
}

static const char *draw(const char *title)
{
	size_t pages;

	return draw_page(title, false, 0, &pages);
}

static unsigned count_of(const char *text, const char *word)
{
	unsigned count = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		count++;
	return count;
}

static void a_gap_breaks_the_line(void **state)
{
	const char *data;

	(void)state;
	for (int i = 0; i < 10; i++)
		add(i * 1000 + (i > 4 ? 600000 : 0), "0", "", 5, 5);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	data = strstr(draw("x"), "$d0 << END\n");
	assert_non_null(data);
	assert_non_null(strstr(data, "4.000 5\n\n605.000 5\n"));
	assert_null(strstr(data, "3.000 5\n\n"));
}

/* A value each second that rises to 100 and falls again. */
static double hill(double s)
{
	return s < 10000 ? s / 100 : (20000 - s) / 100;
}

/* Many values share a pixel: its extremes are in the order of time, each at its
 * own moment. */
static void extremes_are_drawn_in_the_order_of_time(void **state)
{
	const char *line;
	double s, value, before = -1;
	unsigned points = 0;

	(void)state;
	for (int i = 0; i < 20000; i++)
		add(i * 1000, "0", "", hill(i), 5);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	line = strstr(draw("x"), "$d0 << END\n");
	assert_non_null(line);
	for (line = strchr(line, '\n') + 1; strncmp(line, "END", 3);
	     line = strchr(line, '\n') + 1) {
		assert_int_equal(sscanf(line, "%lf %lf", &s, &value), 2);
		assert_true(s > before);
		assert_near(value, hill(s), 0.001);
		before = s;
		points++;
	}
	assert_in_range(points, 1000, 5000);
}

static void names_are_data(void **state)
{
	const char *script;

	(void)state;
	wish.by_owner = true;
	add(0, "it's\n`0`", "7'\n!touch x; \"`id`\" $x", 1, 5000);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	script = draw("it's\n'; system('id')");
	assert_non_null(strstr(script, "'4.9  7''?!touch x; \"`id`\" $x'"));
	assert_non_null(
	    strstr(script, "set label 'it''s?''; system(''id'')' "));
	assert_null(strstr(script, "it's\n`0`"));
}

/* Adds an Xid of a GPU; count is how many it has had by then. */
static void add_xid(int64_t ms, int gpu, int count, int number)
{
	struct gk_plot_row row;
	char text[16];

	gk_plot_row_clear(&row);
	row.time_ms = ms;
	row.gpu = (struct gk_csv_field){
	    text, (size_t)snprintf(text, sizeof text, "%d", gpu)};
	gk_plot_row_set(&row, GK_PLOT_BUSY, 50);
	gk_plot_row_set(&row, GK_PLOT_XIDS, count);
	gk_plot_row_set(&row, GK_PLOT_XID, number);
	assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
}

/* Numbers that would overlap are written together, also those of two GPUs that
 * share a strip. */
static void numbers_of_xids_stand_beside_each_other(void **state)
{
	static const struct {
		int s, gpu, number;
	} xids[] = {{100, 0, 48}, {101, 0, 94}, {101, 1, 48}, {102, 0, 63},
		    {103, 0, 13}, {104, 1, 31}, {300, 1, 79}, {590, 0, 74}};
	int count[2] = {0}, last[2] = {0};
	const char *script;
	double at, behind = -1;
	char label[64];

	(void)state;
	for (int s = 0, k = 0; s <= 600; s++)
		for (int gpu = 0; gpu < 2; gpu++) {
			for (int i = k; i < 8 && xids[i].s == s; i++)
				if (xids[i].gpu == gpu) {
					count[gpu]++;
					last[gpu] = xids[i].number;
				}
			add_xid(s * 1000, gpu, count[gpu], last[gpu]);
			while (gpu && k < 8 && xids[k].s == s)
				k++;
		}
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	script = strstr(draw("x"), "_3 << END\n");
	assert_non_null(script);
	assert_non_null(strstr(script, "\"48 94 63 +2\"\n"));
	assert_non_null(strstr(script, "\"79\"\n"));
	assert_non_null(strstr(script, "\"74\"\n"));
	/* A digit takes 6 of at most 1200 pixels, which are 600 seconds. */
	for (script = strchr(script, '\n') + 1; strncmp(script, "END", 3);
	     script = strchr(script, '\n') + 1) {
		assert_int_equal(sscanf(script, "%*f %lf %*f %*f \"%63[^\"\n]",
					&at, label) > 0,
				 1);
		if (strstr(script, "\"\"") == strchr(script, '"'))
			continue;
		assert_true(at > behind);
		behind = at + (double)strlen(label) * 6 * 600 / 1200;
	}
}

static void few_gpus_share_strips(void **state)
{
	const char *script;

	(void)state;
	add_gpus(3);
	script = draw("x");
	assert_int_equal(count_of(script, "\nplot ["), 4);
	assert_non_null(strstr(script, "size 1200,800 "));
	assert_null(strstr(script, "filledcurves"));
	assert_non_null(strstr(script, "'GPU 2  2'"));
	assert_int_equal(count_of(script, "\nset grid ytics "), 2);
	assert_null(strstr(script, "unset grid"));
}

static void add_host(int64_t ms)
{
	struct gk_plot_row row;

	gk_plot_row_clear(&row);
	row.time_ms = ms;
	row.alone = true;
	gk_plot_row_set(&row, GK_PLOT_HOST_MEMORY, 1000);
	assert_int_equal(gk_plot_chart_add(&chart, &row), 0);
}

/* Whether one GPU in this many files is drawn in strips; the last file also
 * describes its host. */
static bool has_strips_of(int files)
{
	struct gk_plot_picture picture;
	bool strips;

	for (int i = 0; i < files; i++) {
		if (i)
			gk_plot_chart_begin(&chart, "file");
		for (int s = 0; s < 3; s++)
			add(s * 1000, "0", "", 5, 100);
	}
	add_host(3000);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	wish.panels[0] = GK_PLOT_HOST_MEMORY;
	wish.panel_count = 1;
	assert_int_equal(gk_plot_picture_new(&chart, &wish, &picture), 0);
	strips = picture.strips;
	assert_int_equal(picture.subjects[files]->kind, GK_PLOT_HOST);
	gk_plot_picture_free(&picture);
	return strips;
}

static void three_runs_of_a_gpu_share_strips_beside_the_host(void **state)
{
	(void)state;
	assert_true(has_strips_of(3));
}

static void four_runs_of_a_gpu_do_not(void **state)
{
	(void)state;
	assert_false(has_strips_of(4));
}

/* Reads the margin with this name from where the last one was; false at the
 * end. */
static bool next_margin(const char **at, const char *name, double *ret_place)
{
	char words[64];

	snprintf(words, sizeof words, "\nset %s at screen ", name);
	*at = strstr(*at, words);
	if (!*at)
		return false;
	*at += strlen(words);
	assert_int_equal(sscanf(*at, "%lf", ret_place), 1);
	return true;
}

/* Each has a plot, and one for the pointer, which goes on behind its edge. */
static void cells_lie_beside_each_other(void **state)
{
	const char *at;
	double left, right, behind;
	double edge = 0;
	unsigned cells = 0;

	(void)state;
	add_gpus(4);
	for (at = draw("x"); next_margin(&at, "lmargin", &left); cells++) {
		if (cells % 2 == 0)
			edge = 0;
		assert_true(left > edge);
		assert_true(next_margin(&at, "rmargin", &right));
		assert_true(right > left + 0.3 && right < 1);
		assert_true(next_margin(&at, "rmargin", &behind));
		assert_true(behind > right && behind < right + 0.05);
		edge = right;
	}
	assert_int_equal(cells, 4 * 2);
}

/* Of values that rise by 1 a second. */
static void the_pointer_finds_the_values_of_its_time(void **state)
{
	const char *line;
	double x, before = -1;
	int minute, second, value, marks = 0, last = 0;

	(void)state;
	for (int s = 0; s <= 100; s++)
		add(s * 1000, "0", "", s, 100);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	line = strstr(draw("x"), "\n$h");
	assert_non_null(line);
	for (line = strchr(line + 1, '\n') + 1; strncmp(line, "END", 3);
	     line = strchr(line, '\n') + 1) {
		assert_int_equal(sscanf(line, "%lf \"00:%d:%d GPU 0 %d %%\"",
					&x, &minute, &second, &value),
				 4);
		assert_true(x > before);
		assert_near(value, minute * 60 + second, 1.5);
		before = x;
		last = minute * 60 + second;
		marks++;
	}
	assert_int_equal(last, 99);
	assert_true(marks > 50);
}

static void more_gpus_have_rows_of_their_own(void **state)
{
	const char *script;

	(void)state;
	add_gpus(4);
	script = draw("x");
	assert_non_null(strstr(script, "size 1600,574 "));
	/* Each has a place for values under the pointer. */
	assert_int_equal(count_of(script, "\nplot ["), 2 * 4 * 2);
	assert_int_equal(count_of(script, "hypertext"), 4 * 2);
	assert_int_equal(count_of(script, "filledcurves"), 4 * 2);
	assert_null(strstr(script, "set grid ytics"));
	assert_non_null(strstr(script, "unset grid"));
}

static void of_many_gpus_the_busiest_are_shown(void **state)
{
	const char *script;
	size_t pages;

	(void)state;
	add_gpus(40);
	chart.subjects[3].lost = true;
	chart.subjects[3].runs = calloc(1, sizeof *chart.subjects[3].runs);
	chart.subjects[3].runs[0].event = GK_PLOT_LOST;
	chart.subjects[3].run_count = 1;
	script = draw("x");
	assert_non_null(strstr(script, "GPUs: 17 of 40"));
	assert_non_null(strstr(script, "set label 'GPU 3' "));
	assert_null(strstr(script, "set label 'GPU 23' "));
	assert_non_null(strstr(script, "set label 'GPU 24' "));
	script = draw_page("x", true, 2, &pages);
	assert_int_equal(pages, 3);
	assert_null(strstr(script, "set label 'GPU 31' "));
	assert_non_null(strstr(script, "set label 'GPU 32' "));
	assert_non_null(strstr(script, "set label 'GPU 39' "));
}

/* Times are counted as in UTC: a day has 86400 seconds. */
static void the_days_are_told(void **state)
{
	(void)state;
	add(0, "0", "", 5, 5);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_non_null(strstr(draw("x"), "1970-01-01"));
	assert_null(strstr(draw("x"), "1970-01-01 to"));
	add(86400000, "0", "", 5, 5);
	assert_int_equal(gk_plot_chart_end(&chart), 0);
	assert_non_null(strstr(draw("x"), "1970-01-01 to 1970-01-02"));
}

static void nothing_empty_is_drawn(void **state)
{
	const char *script;

	(void)state;
	add_gpus(1);
	assert_null(strstr(draw("x"), "power"));
	wish.panels[0] = GK_PLOT_POWER;
	wish.panel_count = 1;
	script = draw("x");
	assert_non_null(strstr(script, "'not recorded: power'"));
	assert_int_equal(count_of(script, "\nplot ["), 4);
}

static void small_pictures_stay_readable(void **state)
{
	const char *script;

	(void)state;
	add_gpus(1);
	width = 900;
	height = 300;
	script = draw("x");
	assert_non_null(strstr(script, "size 900,300 font 'sans-serif,10.2'"));
	/*
	 * At twice the size it is the same picture, with texts twice as large.
	 */
	width = 2400;
	height = 1600;
	script = draw("x");
	assert_non_null(strstr(script, "size 2400,1600 font 'sans-serif,24'"));
	assert_non_null(strstr(script, "font 'sans-serif Bold,26.6667'"));
	width = height = 0;
}

static void without_a_column_there_is_nothing(void **state)
{
	struct gk_plot_picture picture;

	(void)state;
	add_gpus(1);
	wish =
	    (struct gk_plot_wish){.panels = {GK_PLOT_POWER}, .panel_count = 1};
	assert_int_equal(gk_plot_picture_new(&chart, &wish, &picture),
			 GK_ERR_NOT_FOUND);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_gap_breaks_the_line),
	    TEST(extremes_are_drawn_in_the_order_of_time),
	    TEST(names_are_data),
	    TEST(numbers_of_xids_stand_beside_each_other),
	    TEST(few_gpus_share_strips),
	    TEST(three_runs_of_a_gpu_share_strips_beside_the_host),
	    TEST(four_runs_of_a_gpu_do_not),
	    TEST(cells_lie_beside_each_other),
	    TEST(the_pointer_finds_the_values_of_its_time),
	    TEST(more_gpus_have_rows_of_their_own),
	    TEST(of_many_gpus_the_busiest_are_shown),
	    TEST(the_days_are_told),
	    TEST(nothing_empty_is_drawn),
	    TEST(small_pictures_stay_readable),
	    TEST(without_a_column_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

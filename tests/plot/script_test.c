/* Scripts of pictures: what is drawn, and that texts are data. */
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

/* GPUs from 0 on, the later the busier. */
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

static unsigned width, height; /* that are asked for; 0: none */

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
}

static void more_gpus_have_rows_of_their_own(void **state)
{
	const char *script;

	(void)state;
	add_gpus(4);
	script = draw("x");
	assert_non_null(strstr(script, "size 1600,574 "));
	/* Each with a place for values under the pointer. */
	assert_int_equal(count_of(script, "\nplot ["), 2 * 4 * 2);
	assert_int_equal(count_of(script, "hypertext"), 4 * 2);
	assert_int_equal(count_of(script, "filledcurves"), 4 * 2);
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
	/* Twice as large is the same picture, with twice as large texts. */
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
	    TEST(names_are_data),
	    TEST(few_gpus_share_strips),
	    TEST(more_gpus_have_rows_of_their_own),
	    TEST(of_many_gpus_the_busiest_are_shown),
	    TEST(nothing_empty_is_drawn),
	    TEST(small_pictures_stay_readable),
	    TEST(without_a_column_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

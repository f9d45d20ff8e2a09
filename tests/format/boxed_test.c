/* SPDX-License-Identifier: Apache-2.0 */
/* boxed_test.c - compares the report in boxes with golden files. */
#include "format/bar.h"
#include "format/boxed/boxed.h"
#include "format/boxed/table.h"
#include "format/fixture.h"
#include "format/width.h"

#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct fixture fixture;

static void format(struct gk_buf *out, int width, bool color)
{
	struct gk_boxed_options options = {.color = color,
					   .processes = true,
					   .width = width,
					   .uid = 1000,
					   .user = "alice"};

	gk_format_boxed(out, &fixture.snap, &options);
}

static void golden(int width, bool color, const char *name)
{
	struct gk_buf out = {0};

	format(&out, width, color);
	assert_golden(&out, name);
}

static void every_width(void **state)
{
	static const int widths[] = {79, 100, 123, 200};
	char name[32];

	(void)state;
	fixture_everything(&fixture);
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof name, "boxed-%d", widths[i]);
		golden(widths[i], false, name);
	}
	golden(123, true, "boxed-123-color");
}

/* All lines of a table are equally wide from its header on. */
/* A metric that the report does not show need not be read. */
static void it_says_what_it_shows(void **state)
{
	static const int widths[] = {79, 100, 160};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct gk_metric_set set = {0};
		struct gk_buf whole = {0}, part = {0};

		fixture_everything(&fixture);
		format(&whole, widths[i], true);
		gk_boxed_metrics(&set);
		fixture_read_only(&fixture, &set);
		format(&part, widths[i], true);
		assert_same_text(&whole, &part);
	}
}

static void lines_are_of_one_width(void **state)
{
	(void)state;
	fixture_everything(&fixture);
	for (int width = 60; width < 220; width++) {
		struct gk_buf out = {0};
		size_t wanted = 0;

		format(&out, width, false);
		for (char *line = strstr(out.data, "╒"), *end; line && *line;
		     line = end + 1) {
			size_t columns;

			end = strchr(line, '\n');
			columns = gk_columns(line, (size_t)(end - line));
			if (strstr(line, "╞") == line)
				wanted = columns;
			if (*line == '[' || line == end)
				wanted = 0;
			if (wanted)
				assert_int_equal(columns, wanted);
		}
		gk_buf_free(&out);
	}
}

/* As in a small terminal: fewer fields, and none of another's width. */
static void narrow_tables_have_what_fits(void **state)
{
	static const struct gk_boxed_options options = {.dense = true};
	static const int widths[] = {45, 70};

	(void)state;
	fixture_everything(&fixture);
	for (int i = 0; i < 2; i++) {
		struct gk_buf out = {0};
		struct gk_box box = {.out = &out,
				     .snap = &fixture.snap,
				     .o = &options,
				     .width = widths[i]};
		char name[32];

		gk_box_devices(&box);
		for (char *line = out.data, *end; *line; line = end + 1) {
			end = strchr(line, '\n');
			assert_int_equal(gk_columns(line, (size_t)(end - line)),
					 widths[i]);
		}
		snprintf(name, sizeof name, "boxed-narrow-%d", widths[i]);
		assert_golden(&out, name);
	}
}

static void nothing_is_said_in_words(void **state)
{
	(void)state;
	fixture_init(&fixture, 0);
	golden(79, false, "boxed-no-gpus");
	fixture_init(&fixture, 2);
	golden(100, false, "boxed-no-processes");
}

static void many_gpus(void **state)
{
	(void)state;
	fixture_init(&fixture, 64);
	golden(79, false, "boxed-64");
}

static void extremes_do_not_break_the_table(void **state)
{
	struct gk_process *p;

	(void)state;
	fixture_init(&fixture, 2);
	p = fixture_add_process(&fixture, 0, 7,
				"\x1b]0;title\x07 \xff\xfe end");
	for (int i = 0; i < GK_M_COUNT; i++) {
		fixture.devices[0].m[i] = present(INT64_MAX);
		fixture.devices[1].m[i] = present(INT64_MIN);
	}
	for (int i = 0; i < GK_PM_COUNT; i++)
		p->m[i] = present(INT64_MAX);
	golden(140, false, "boxed-extremes");
	strcpy(fixture.snap.driver_version,
	       "\x1b[2J\xc3\xa9\xc3\xa9\xc3\xa9 and so on and so on");
	golden(140, false, "boxed-foreign-driver");
}

static void ascii(void **state)
{
	struct gk_buf out = {0}, plain = {0};

	(void)state;
	fixture_everything(&fixture);
	format(&out, 123, false);
	gk_add_ascii(&plain, out.data, out.len);
	gk_buf_free(&out);
	assert_golden(&plain, "boxed-123-ascii");
}

static void bars_fill_their_width(void **state)
{
	(void)state;
	for (int width = 12; width < 60; width++) {
		for (int v = 0; v <= 1100; v += 10) {
			struct gk_bar bar = {.title = "MEM: ",
					     .tenths = present(v),
					     .text = "15000MiB",
					     .text_first = v % 20 != 0};
			struct gk_buf out = {0};

			gk_format_bar(&out, &bar, width);
			assert_int_equal(gk_columns(out.data, out.len), width);
			gk_buf_free(&out);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_width),
	    cmocka_unit_test(narrow_tables_have_what_fits),
	    cmocka_unit_test(it_says_what_it_shows),
	    cmocka_unit_test(lines_are_of_one_width),
	    cmocka_unit_test(nothing_is_said_in_words),
	    cmocka_unit_test(many_gpus),
	    cmocka_unit_test(extremes_do_not_break_the_table),
	    cmocka_unit_test(ascii),
	    cmocka_unit_test(bars_fill_their_width),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

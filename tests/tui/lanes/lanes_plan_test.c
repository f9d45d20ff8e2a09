/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_plan_test.c - checks which form lanes have on a screen of 24 rows and
 * 80 columns. Titles, the host and four rows of processes leave 14 rows. A
 * panel has 4 rows, a pair 2, a line 1, a gap 1.
 */
#include "lanes_machines.h"
#include "tui/lanes/plan.h"

enum { ROWS = 24, COLUMNS = 80 };

static struct lanes_plan plan_of(size_t gpus, enum tui_mode mode)
{
	struct lanes_plan plan;

	begin(gpus, ROWS, COLUMNS);
	s.t.options.mode = mode;
	plan = lanes_plan(&s.t, 0);
	screen_end(&s);
	return plan;
}

static void the_largest_form_that_fits_is_taken(void **state)
{
	static const struct {
		size_t gpus;
		enum lanes_form form;
		bool gap, migs;
		int pages;
	} rows[] = {
	    {3, FORM_PANEL, true, true, 1},   /* 3 * 4 + 2: all 14 */
	    {4, FORM_PAIR, true, true, 1},    /* panels would take 16 */
	    {5, FORM_PAIR, true, true, 1},    /* 5 * 2 + 4: all 14 */
	    {6, FORM_PAIR, false, true, 1},   /* 17 with gaps */
	    {7, FORM_PAIR, false, true, 1},   /* 7 * 2: all 14 */
	    {8, FORM_LINE, false, true, 1},   /* pairs would take 16 */
	    {14, FORM_LINE, false, true, 1},  /* all 14 */
	    {15, FORM_LINE, false, false, 2}, /* too many, so there are pages */
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct lanes_plan plan = plan_of(rows[i].gpus, MODE_AUTO);

		assert_int_equal(plan.form, rows[i].form);
		assert_int_equal(plan.gap, rows[i].gap);
		assert_int_equal(plan.migs, rows[i].migs);
		assert_int_equal(plan.pages, rows[i].pages);
	}
}

/* Always panels, without gaps where they do not fit: three a page. */
static void the_full_mode_has_panels(void **state)
{
	struct lanes_plan plan = plan_of(8, MODE_FULL);

	(void)state;
	assert_int_equal(plan.form, FORM_PANEL);
	assert_false(plan.gap);
	assert_int_equal(plan.count, 3);
	assert_int_equal(plan.pages, 3);
	plan = plan_of(3, MODE_FULL);
	assert_int_equal(plan.form, FORM_PANEL);
	assert_true(plan.gap);
}

static void the_compact_mode_has_lines(void **state)
{
	(void)state;
	assert_int_equal(plan_of(2, MODE_COMPACT).form, FORM_LINE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_largest_form_that_fits_is_taken),
	    cmocka_unit_test(the_full_mode_has_panels),
	    cmocka_unit_test(the_compact_mode_has_lines),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order_test.c - checks the order of the processes: by every column, both ways,
 * by two.
 */
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define LAST 4

static struct screen s;

/*
 * Pids 1 to 3 have everything, with higher values for higher pids; 4 has
 * nothing.
 */
static int begin(void **state)
{
	static const char *const words[] = {"a", "b", "c"};

	(void)state;
	screen_begin(&s, 60, 200);
	fixture_init(&s.f, 3);
	for (unsigned i = 0; i < 3; i++) {
		struct gk_process *p =
		    fixture_add_process(&s.f, i, (pid_t)i + 1, words[i]);

		p->user = p->container = p->pod = p->cwd = p->name = words[i];
		p->parent = (pid_t)(i + 10);
		p->types = 1U << i;
		p->stat = (char)('A' + i);
		for (int m = 0; m < GK_PM_COUNT; m++)
			p->m[m] = present((int64_t)i * 7);
	}
	s.f.snap.processes[1].types = GK_PROCESS_GRAPHICS;
	s.t.snap = &s.f.snap;
	tui_list_update(&s.t);
	return 0;
}

static void add_one_without(void)
{
	struct gk_process *p = fixture_add_process(&s.f, 2, LAST, "");

	p->user = p->container = p->pod = p->cwd = p->name = "";
	p->parent = 0;
	p->stat = 0;
	for (int m = 0; m < GK_PM_COUNT; m++)
		p->m[m].why = GK_ABSENT_PERMISSION;
	tui_list_update(&s.t);
}

static int end(void **state)
{
	(void)state;
	screen_end(&s);
	return 0;
}

/* The pids in their order: "123". */
static const char *listed(void)
{
	static char text[64];

	*text = '\0';
	for (size_t i = 0; i < s.t.list_count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%d",
			 (int)s.f.snap.processes[s.t.list[i]].pid);
	return text;
}

static void each_column_orders_both_ways(void **state)
{
	(void)state;
	for (int c = 0; c < GK_COLUMN_COUNT; c++) {
		bool down = gk_column_infos[c].descending;

		tui_order_by(&s.t, (enum gk_column)c, false);
		if (strcmp(listed(), down ? "321" : "123") != 0)
			fail_msg("%s: %s", gk_column_infos[c].name, listed());
		tui_order_by(&s.t, (enum gk_column)c, true);
		if (strcmp(listed(), down ? "123" : "321") != 0)
			fail_msg("%s reversed: %s", gk_column_infos[c].name,
				 listed());
	}
}

/* Loads sort the large ones first, words and ranks the small ones. */
static void the_usual_direction_is_that_of_the_column(void **state)
{
	static const enum gk_column down[] = {
	    GK_COLUMN_GPU_MEM,       GK_COLUMN_SM,
	    GK_COLUMN_GMBW,          GK_COLUMN_ENC,
	    GK_COLUMN_DEC,           GK_COLUMN_CPU,
	    GK_COLUMN_MEM,           GK_COLUMN_RSS,
	    GK_COLUMN_THREADS,       GK_COLUMN_IO_READ_RATE,
	    GK_COLUMN_IO_WRITE_RATE, GK_COLUMN_IO_READ,
	    GK_COLUMN_IO_WRITTEN,    GK_COLUMN_TIME,
	};
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < sizeof down / sizeof *down; i++)
		assert_true(gk_column_infos[down[i]].descending);
	for (int c = 0; c < GK_COLUMN_COUNT; c++)
		found += gk_column_infos[c].descending;
	assert_int_equal(found, sizeof down / sizeof *down);
}

static void what_is_absent_comes_last_both_ways(void **state)
{
	(void)state;
	add_one_without();
	for (int c = 0; c < GK_COLUMN_COUNT; c++) {
		if (c == GK_COLUMN_GPU || c == GK_COLUMN_PID ||
		    c == GK_COLUMN_TYPE)
			continue; /* never absent */
		for (int reversed = 0; reversed < 2; reversed++) {
			tui_order_by(&s.t, (enum gk_column)c, reversed);
			if (listed()[3] != '0' + LAST)
				fail_msg("%s: %s", gk_column_infos[c].name,
					 listed());
		}
	}
}

static void who_is_gone_comes_last_in_every_order(void **state)
{
	(void)state;
	s.f.snap.processes[0].state = GK_PROCESS_GONE;
	for (int c = GK_COLUMN_GPU + 1; c < GK_COLUMN_COUNT; c++) {
		tui_order_by(&s.t, (enum gk_column)c, false);
		assert_int_equal(listed()[2], '1');
		tui_order_by(&s.t, (enum gk_column)c, true);
		assert_int_equal(listed()[2], '1');
	}
	/* In the natural order it is with its GPU. */
	tui_order_by(&s.t, GK_COLUMN_GPU, false);
	assert_string_equal(listed(), "123");
}

/* ---- two columns ---- */

/* 1 and 3 belong to the same user; so do 2 and 4, which comes after. */
static void two_users(void)
{
	struct gk_process *p = fixture_add_process(&s.f, 2, LAST, "d");

	p->m[GK_PM_GPU_MEM] = present(100);
	s.f.snap.processes[0].user = s.f.snap.processes[2].user = "ana";
	s.f.snap.processes[1].user = p->user = "bob";
	tui_list_update(&s.t);
}

static void the_order_before_is_that_of_ties(void **state)
{
	(void)state;
	two_users();
	screen_press(&s, "o g");
	assert_string_equal(listed(), "4321");
	screen_press(&s, "o u");
	assert_string_equal(listed(), "3142");
	screen_press(&s, "o G");
	assert_string_equal(listed(), "1234");
	screen_press(&s, "o u");
	assert_string_equal(listed(), "1324");
	screen_press(&s, "/");
	assert_string_equal(listed(), "2413");
	/* The same key again changes nothing: the second column stays. */
	screen_press(&s, "o u");
	assert_string_equal(listed(), "1324");
}

/* Including users and pids of one GPU. */
static void the_natural_order_turns_as_a_whole(void **state)
{
	(void)state;
	two_users();
	for (size_t i = 0; i < s.f.snap.process_count; i++)
		s.f.snap.processes[i].device = 1;
	screen_press(&s, "o n");
	assert_string_equal(listed(), "1324");
	screen_press(&s, "o N");
	assert_string_equal(listed(), "4231");
}

static void the_header_marks_both(void **state)
{
	(void)state;
	two_users();
	screen_press(&s, "o g o u");
	screen_draw(&s);
	assert_true(screen_find(&s, "USER▲", NULL) >= 0);
	assert_true(screen_find(&s, "GPU-MEM▽", NULL) >= 0);
	screen_press(&s, "o G o u /");
	screen_draw(&s);
	assert_true(screen_find(&s, "USER▼", NULL) >= 0);
	assert_true(screen_find(&s, "GPU-MEM△", NULL) >= 0);
	/* Ties sorted by GPU need no mark. */
	screen_press(&s, "o n o u");
	screen_draw(&s);
	assert_true(screen_find(&s, "USER▲", NULL) >= 0);
	assert_int_equal(screen_find(&s, "△", NULL), -1);
	assert_int_equal(screen_find(&s, "▽", NULL), -1);
}

/* ---- keys ---- */

static void the_keys_go_through_the_columns_shown(void **state)
{
	const char *bad;

	(void)state;
	assert_true(gk_columns_parse("gpu pid encoder threads cwd command",
				     &s.t.options.columns, &bad));
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < s.t.options.columns.count; i++) {
			assert_int_equal(s.t.order.first.column,
					 s.t.options.columns.id[i]);
			assert_false(s.t.order.first.reversed);
			screen_press(&s, i % 2 ? "." : ">");
		}
	screen_press(&s, ",");
	assert_int_equal(s.t.order.first.column, GK_COLUMN_COMMAND);
	screen_press(&s, "<");
	assert_int_equal(s.t.order.first.column, GK_COLUMN_CWD);
	/* From a hidden column it goes to the first or the last. */
	screen_press(&s, "o t .");
	assert_int_equal(s.t.order.first.column, GK_COLUMN_GPU);
	screen_press(&s, "o t ,");
	assert_int_equal(s.t.order.first.column, GK_COLUMN_COMMAND);
}

static void letters_are_those_of_nvitop(void **state)
{
	static const struct {
		const char *keys, *reversed;
		enum gk_column column;
	} rows[] = {
	    {"o n", "o N", GK_COLUMN_GPU},  {"o p", "o P", GK_COLUMN_PID},
	    {"o u", "o U", GK_COLUMN_USER}, {"o g", "o G", GK_COLUMN_GPU_MEM},
	    {"o s", "o S", GK_COLUMN_SM},   {"o b", "o B", GK_COLUMN_GMBW},
	    {"o c", "o C", GK_COLUMN_CPU},  {"o m", "o M", GK_COLUMN_MEM},
	    {"o t", "o T", GK_COLUMN_TIME},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		screen_press(&s, rows[i].keys);
		assert_int_equal(s.t.order.first.column, rows[i].column);
		assert_false(s.t.order.first.reversed);
		screen_press(&s, rows[i].reversed);
		assert_int_equal(s.t.order.first.column, rows[i].column);
		assert_true(s.t.order.first.reversed);
	}
}

static void what_the_order_needs_is_read(void **state)
{
	(void)state;
	assert_int_equal(tui_with(&s.t), 0);
	tui_order_by(&s.t, GK_COLUMN_RANK, false);
	assert_int_equal(tui_with(&s.t), GK_WITH_RANK);
	tui_order_by(&s.t, GK_COLUMN_IO_READ, false);
	assert_int_equal(tui_with(&s.t), GK_WITH_RANK | GK_WITH_IO);
	s.t.options.columns =
	    (struct gk_columns){.id = {GK_COLUMN_CWD}, .count = 1};
	assert_int_equal(tui_with(&s.t),
			 GK_WITH_RANK | GK_WITH_IO | GK_WITH_CWD);
}

/* ---- as words ---- */

static void words_say_it(void **state)
{
	static const struct {
		const char *words[3], *text; /* NULL: they are none */
	} rows[] = {
	    {{"natural"}, "natural"},
	    {{"gpu"}, "natural"},
	    {{"user"}, "user"},
	    {{"-user"}, "-user"},
	    {{"user", "gpu-memory"}, "[user, gpu-memory]"},
	    {{"-io-read", "-rank"}, "[-io-read, -rank]"},
	    {{"user", "natural"}, "user"},
	    {{"user", "-natural"}, "[user, -natural]"},
	    {{"size"}, NULL},
	    {{"user", "size"}, NULL},
	    {{""}, NULL},
	    {{"-"}, NULL},
	    {{"user", "pid", "cpu"}, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tui_order order = {.first.column = GK_COLUMN_SM};
		char text[TUI_ORDER_TEXT];
		size_t count = 0;
		bool good;

		while (count < 3 && rows[i].words[count])
			count++;
		good = tui_order_parse(rows[i].words, count, &order);
		assert_int_equal(good, rows[i].text != NULL);
		if (good)
			assert_string_equal(tui_order_text(&order, text),
					    rows[i].text);
		else
			assert_int_equal(order.first.column, GK_COLUMN_SM);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	    T(each_column_orders_both_ways),
	    T(the_usual_direction_is_that_of_the_column),
	    T(what_is_absent_comes_last_both_ways),
	    T(who_is_gone_comes_last_in_every_order),
	    T(the_order_before_is_that_of_ties),
	    T(the_natural_order_turns_as_a_whole),
	    T(the_header_marks_both),
	    T(the_keys_go_through_the_columns_shown),
	    T(letters_are_those_of_nvitop),
	    T(what_the_order_needs_is_read),
	    T(words_say_it),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_test.c - checks the columns of processes: names, texts, what must be
 * read for them.
 */
#include "format/columns.h"
#include "format/fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

static struct fixture fixture;

static void lists_are_read_and_written(void **state)
{
	struct gk_columns columns = {0}, again = {0};
	char text[GK_COLUMNS_TEXT];
	const char *bad = NULL;

	(void)state;
	assert_true(
	    gk_columns_parse("command,io-read pid\trank, cwd", &columns, &bad));
	/* The driver's columns stay on the left, and the command is last. */
	assert_string_equal(gk_columns_text(text, &columns),
			    "pid, rank, io-read, cwd, command");
	assert_true(gk_columns_parse(text, &again, &bad));
	assert_memory_equal(&again, &columns, sizeof columns);
	assert_true(gk_columns_have(&columns, GK_COLUMN_RANK));
	assert_false(gk_columns_have(&columns, GK_COLUMN_GPU));
}

static void all_columns_fit_in_a_list(void **state)
{
	struct gk_columns columns = {0}, again = {0};
	char text[GK_COLUMNS_TEXT];
	const char *bad;

	(void)state;
	for (int c = 0; c < GK_COLUMN_COUNT; c++)
		columns.id[columns.count++] = (unsigned char)c;
	gk_columns_text(text, &columns);
	assert_true(gk_columns_parse(text, &again, &bad));
	assert_int_equal(again.count, GK_COLUMN_COUNT);
}

static void every_column_is_found_and_explained(void **state)
{
	(void)state;
	for (int c = 0; c < GK_COLUMN_COUNT; c++) {
		const struct gk_column_info *info = &gk_column_infos[c];

		assert_int_equal(gk_column_find(info->name, strlen(info->name)),
				 c);
		assert_string_not_equal(info->help, "");
		assert_true(c == GK_COLUMN_COMMAND || info->width > 0);
		assert_true((int)strlen(info->title) <= info->width ||
			    c == GK_COLUMN_COMMAND);
	}
	assert_int_equal(gk_column_find("cp", 2), GK_COLUMN_COUNT);
	assert_int_equal(gk_column_find("cpux", 3), GK_COLUMN_CPU);
}

static void only_some_cost_more(void **state)
{
	static const enum gk_column threads[] = {
	    GK_COLUMN_THREADS, GK_COLUMN_PRIORITY, GK_COLUMN_NICE};

	(void)state;
	for (int i = 0; i < gk_columns_default.count; i++)
		assert_int_equal(gk_column_with(gk_columns_default.id[i]), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(gk_column_with(threads[i]), GK_WITH_THREADS);
	assert_int_equal(gk_column_with(GK_COLUMN_IO_WRITTEN), GK_WITH_IO);
	assert_int_equal(gk_column_with(GK_COLUMN_RANK), GK_WITH_RANK);
	assert_int_equal(gk_column_with(GK_COLUMN_CWD), GK_WITH_CWD);
	assert_int_equal(gk_column_with(GK_COLUMN_POD), 0);
}

static const struct {
	enum gk_column column;
	const char *known, *unknown;
} texts[] = {
    {GK_COLUMN_RANK, "12", "N/A"},
    {GK_COLUMN_STATE, "D", "?"},
    {GK_COLUMN_THREADS, "64", "N/A"},
    {GK_COLUMN_PRIORITY, "-51", "N/A"},
    {GK_COLUMN_NICE, "-20", "N/A"},
    {GK_COLUMN_IO_READ_RATE, "2.00MiB", "N/A"},
    {GK_COLUMN_IO_WRITE_RATE, "0B", "N/A"},
    {GK_COLUMN_IO_READ, "1024MiB", "N/A"},
    {GK_COLUMN_IO_WRITTEN, "300B", "N/A"},
    {GK_COLUMN_POD, "8dc9e1a4-5c0b", "-"},
    {GK_COLUMN_CWD, "/srv", "N/A"},
    {GK_COLUMN_NAME, "python3", "N/A"},
};

static void texts_of_what_is_known_and_what_is_not(void **state)
{
	struct gk_process *p;
	char text[GK_NAME_MAX];

	(void)state;
	fixture_init(&fixture, 1);
	p = fixture_add_process(&fixture, 0, 7, "x");
	p->name = "";
	p->stat = 0;
	for (int i = 0; i < GK_PM_COUNT; i++)
		p->m[i].why = GK_ABSENT_PERMISSION;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_string_equal(
		    gk_column_text(texts[i].column, text, &fixture.snap, p),
		    texts[i].unknown);
	p->m[GK_PM_RANK].why = GK_ABSENT_NONE;
	assert_string_equal(
	    gk_column_text(GK_COLUMN_RANK, text, &fixture.snap, p), "-");
	p->m[GK_PM_RANK] = present(12);
	p->m[GK_PM_THREADS] = present(64);
	p->m[GK_PM_PRIORITY] = present(-51);
	p->m[GK_PM_NICE] = present(-20);
	p->m[GK_PM_IO_READ_RATE] = present(2 << 20);
	p->m[GK_PM_IO_WRITE_RATE] = present(0);
	p->m[GK_PM_IO_READ] = present(1 << 30);
	p->m[GK_PM_IO_WRITTEN] = present(300);
	p->pod = "8dc9e1a4-5c0b";
	p->cwd = "/srv";
	p->cwd_why = GK_PRESENT;
	p->name = "python3";
	p->stat = 'D';
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_string_equal(
		    gk_column_text(texts[i].column, text, &fixture.snap, p),
		    texts[i].known);
}

static int order(enum gk_column column, bool descending)
{
	return gk_column_order(column, descending, &fixture.processes[0],
			       &fixture.processes[1]);
}

/* What is unknown comes last in either direction. */
static void processes_are_sorted_by_a_column(void **state)
{
	struct gk_process *p = fixture.processes;

	(void)state;
	fixture_init(&fixture, 2);
	fixture_add_process(&fixture, 0, 7, "a");
	fixture_add_process(&fixture, 1, 8, "b");
	p[0].m[GK_PM_RSS] = present(100);
	p[1].m[GK_PM_RSS] = present(99);
	p[1].user = "bob";
	assert_true(order(GK_COLUMN_PID, false) < 0);
	assert_true(order(GK_COLUMN_PID, true) > 0);
	assert_true(order(GK_COLUMN_USER, false) < 0);
	assert_true(order(GK_COLUMN_USER, true) > 0);
	assert_true(order(GK_COLUMN_COMMAND, false) < 0);
	assert_true(order(GK_COLUMN_COMMAND, true) > 0);
	assert_int_equal(order(GK_COLUMN_NAME, false), 0);
	assert_int_equal(order(GK_COLUMN_PPID, true), 0);
	p[0].user = "";
	p[0].parent = 0;
	for (int descending = 0; descending < 2; descending++) {
		assert_true(order(GK_COLUMN_USER, descending) > 0);
		assert_true(order(GK_COLUMN_PPID, descending) > 0);
	}
	p[1].user = "";
	assert_int_equal(order(GK_COLUMN_USER, true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lists_are_read_and_written),
	    cmocka_unit_test(all_columns_fit_in_a_list),
	    cmocka_unit_test(every_column_is_found_and_explained),
	    cmocka_unit_test(only_some_cost_more),
	    cmocka_unit_test(texts_of_what_is_known_and_what_is_not),
	    cmocka_unit_test(processes_are_sorted_by_a_column),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

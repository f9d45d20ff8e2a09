/* SPDX-License-Identifier: Apache-2.0 */
/* sheet_test.c - checks the contents of a row of a recording. */
#include "unit.h"

#include "base/err.h"
#include "plot/sheet.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static char text[256];
static struct gk_csv_field fields[16];
static struct gk_plot_asked asked;

/* A row of words separated by commas. */
static struct gk_csv_row row_of(const char *line)
{
	struct gk_csv_row row = {.fields = fields, .line = 1};

	strcpy(text, line);
	for (char *p = text;; p += fields[row.count++].len + 1) {
		fields[row.count] = (struct gk_csv_field){p, strcspn(p, ",")};
		if (!p[fields[row.count].len])
			break;
	}
	row.count++;
	return row;
}

static int read_row(const char *header, const char *line,
		    struct gk_plot_row *ret)
{
	struct gk_plot_sheet sheet;
	struct gk_csv_row row = row_of(header);

	assert_true(gk_plot_header(&row, &asked, &sheet));
	row = row_of(line);
	return gk_plot_read(&sheet, &row, ret);
}

static void columns_are_found_by_name(void **state)
{
	struct gk_plot_row row;

	(void)state;
	assert_int_equal(
	    read_row("power_watts,other,timestamp,memory_used_bytes,pid",
		     "250.5,x,2026-11-21T09:30:01.250,3145728,77", &row),
	    0);
	assert_int_equal(row.time_ms, 1795253401250);
	assert_near(row.value[GK_PLOT_POWER], 250.5, 1e-9);
	assert_near(row.value[GK_PLOT_MEMORY], 3, 1e-9);
	assert_false(gk_plot_row_has(&row, GK_PLOT_CPU));
	assert_int_equal(row.pid.len, 2);
	assert_int_equal(row.gpu.len, 0);
}

static void any_column_can_be_asked_for(void **state)
{
	static const char header[] = "timestamp,sm_clock_hertz,threads";
	struct gk_plot_row row;

	(void)state;
	asked = (struct gk_plot_asked){{"threads", "sm_clock_hertz"}, 2};
	assert_int_equal(read_row(header, "2026-11-21T09:30:00,1e0,7", &row),
			 GK_ERR_CORRUPT);
	assert_int_equal(read_row(header, "2026-11-21T09:30:00,1980,7", &row),
			 0);
	asked.count = 0;
	assert_near(row.value[GK_PLOT_ASKED], 7, 0);
	assert_near(row.value[GK_PLOT_ASKED + 1], 1980, 0);
	assert_near(row.value[GK_PLOT_CLOCK], 1980, 0);
}

static void the_first_of_two_limits_counts(void **state)
{
	static const char header[] =
	    "timestamp,power_limit_watts,power_limit_enforced_watts";
	struct gk_plot_row row;

	(void)state;
	assert_int_equal(read_row(header, "2026-11-21T09:30:00,400,300", &row),
			 0);
	assert_near(row.value[GK_PLOT_POWER_LIMIT], 300, 0);
	assert_int_equal(read_row(header, "2026-11-21T09:30:00,400,", &row), 0);
	assert_near(row.value[GK_PLOT_POWER_LIMIT], 400, 0);
}

static void files_of_something_else_are_refused(void **state)
{
	static const char *const headers[] = {"", "timestamp", "a,b,c",
					      "gpu_mem_mib,pid",
					      "Timestamp,gpu_mem_mib"};
	struct gk_plot_sheet sheet;

	(void)state;
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		struct gk_csv_row row = row_of(headers[i]);

		assert_false(gk_plot_header(&row, &asked, &sheet));
	}
}

static void an_empty_value_is_absent(void **state)
{
	struct gk_plot_row row;

	(void)state;
	assert_int_equal(read_row("timestamp,gpu_mem_mib,cpu_pct",
				  "2026-11-21 09:30:00,,1.5", &row),
			 0);
	assert_false(gk_plot_row_has(&row, GK_PLOT_MEMORY));
	assert_near(row.value[GK_PLOT_CPU], 1.5, 1e-9);
}

/* By the range of the metric, in the unit of the column. */
static void what_cannot_be_is_left_out_and_counted(void **state)
{
	static const char header[] =
	    "timestamp,gpu_index,gpu_utilization_percent,power_watts,"
	    "gpu_mem_mib,strange";
	struct gk_plot_row row;

	(void)state;
	asked = (struct gk_plot_asked){{"strange"}, 1};
	assert_int_equal(read_row(header,
				  "2026-11-21T09:30:00,0,2000000000,-1,"
				  "95400000,1000000000000000000000",
				  &row),
			 0);
	assert_int_equal(row.given, 0);
	assert_int_equal(row.nonsense.count, 4);
	assert_string_equal(row.nonsense.name, "gpu_mem_mib");
	assert_near(row.nonsense.value, 95400000, 0);
	assert_int_equal(read_row(header,
				  "2026-11-21T09:30:00,0,100,99999.5,95300000,"
				  "-1000",
				  &row),
			 0);
	asked.count = 0;
	assert_int_equal(row.nonsense.count, 0);
	assert_near(row.value[GK_PLOT_BUSY], 100, 0);
	assert_near(row.value[GK_PLOT_POWER], 99999.5, 0);
	assert_near(row.value[GK_PLOT_MEMORY], 95300000, 0);
	assert_near(row.value[GK_PLOT_ASKED], -1000, 0);
}

static void values_of_a_gpu_that_hangs_are_absent(void **state)
{
	static const char header[] = "timestamp,gpu_index,health,power_watts";
	struct gk_plot_row row;

	(void)state;
	assert_int_equal(
	    read_row(header, "2026-11-21T09:30:00,0,stale,70", &row), 0);
	assert_false(gk_plot_row_has(&row, GK_PLOT_POWER));
	assert_int_equal(read_row(header, "2026-11-21T09:30:00,0,ok,70", &row),
			 0);
	assert_near(row.value[GK_PLOT_POWER], 70, 0);
}

static void broken_rows_are_told(void **state)
{
	static const char *const lines[] = {
	    "2026-11-21T09:30:00",      "2026-11-21T09:30:00,1,2",
	    "2026-13-21T09:30:00,1",    "2026-11-21T25:30:00,1",
	    "26-11-21T09:30:00,1",      ",1",
	    "2026-11-21T09:30:00,one",  "2026-11-21T09:30:00,1e5",
	    "2026-11-21T09:30:00,-",    "2026-11-21T09:30:00,nan",
	    "2026-11-21T09:30:00,0x10", "2026-11-21T09:30:00, 1",
	    "2026-02-29T09:30:00,1",    "2100-02-29T09:30:00,1",
	    "2026-04-31T09:30:00,1",    "2026-09-31T09:30:00,1",
	};
	struct gk_plot_row row;

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (read_row("timestamp,used_mib", lines[i], &row) !=
		    GK_ERR_CORRUPT)
			fail_msg("taken: %s", lines[i]);
}

/*
 * Leap years, centuries and the turn of the year, compared with the C library.
 */
static void dates_are_counted_right(void **state)
{
	static const char *const days[] = {
	    "1970-01-01", "1999-12-31", "2000-02-29", "2026-03-01",
	    "2100-03-01", "2400-12-31", "2026-07-31", "2026-08-31",
	    "2026-10-31", "2024-02-29"};
	struct gk_plot_row row;

	(void)state;
	for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
		struct tm tm = {0};
		char line[64];

		assert_non_null(strptime(days[i], "%Y-%m-%d", &tm));
		snprintf(line, sizeof line, "%sT00:00:00,1", days[i]);
		assert_int_equal(read_row("timestamp,used_mib", line, &row), 0);
		assert_int_equal(row.time_ms, (int64_t)timegm(&tm) * 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(columns_are_found_by_name),
	    cmocka_unit_test(any_column_can_be_asked_for),
	    cmocka_unit_test(the_first_of_two_limits_counts),
	    cmocka_unit_test(files_of_something_else_are_refused),
	    cmocka_unit_test(an_empty_value_is_absent),
	    cmocka_unit_test(what_cannot_be_is_left_out_and_counted),
	    cmocka_unit_test(values_of_a_gpu_that_hangs_are_absent),
	    cmocka_unit_test(broken_rows_are_told),
	    cmocka_unit_test(dates_are_counted_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

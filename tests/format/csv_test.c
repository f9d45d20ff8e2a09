/* SPDX-License-Identifier: Apache-2.0 */
/* csv_test.c - checks CSV rows with quotes where needed. */
#include "format/csv.h"
#include "format/fixture.h"

#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct fixture fixture;

/*
 * Counts the fields of the line at text by RFC 4180; *ret_end is after its CR
 * LF.
 */
static int fields(const char *text, const char **ret_end)
{
	bool quoted = false;
	int count = 1;

	for (; *text && (quoted || strncmp(text, "\r\n", 2)); text++) {
		if (*text == '"')
			quoted = !quoted;
		else if (*text == ',' && !quoted)
			count++;
	}
	assert_false(quoted);
	assert_int_equal(strncmp(text, "\r\n", 2), 0);
	*ret_end = text + 2;
	return count;
}

static void check(struct gk_buf *out, int rows)
{
	const char *end = out->data;
	int columns = fields(end, &end);

	for (int i = 1; i < rows; i++)
		assert_int_equal(fields(end, &end), columns);
	assert_ptr_equal(end, out->data + out->len);
}

static void a_row_a_device(void **state)
{
	struct gk_buf out = {0};

	(void)state;
	fixture_everything(&fixture);
	gk_format_csv_devices(&out, &fixture.snap, GK_CSV_HEADER);
	check(&out, 8);
	assert_golden(&out, "csv-devices");
}

static void a_row_a_process(void **state)
{
	struct gk_buf out = {0};

	(void)state;
	fixture_everything(&fixture);
	gk_format_csv_processes(&out, &fixture.snap, GK_CSV_HEADER);
	check(&out, 6);
	assert_non_null(strstr(out.data, ",\"python3 serve.py --model a,b "
					 "--name \"\"x\"\"\","));
	assert_golden(&out, "csv-processes");
}

static void only_the_first_frame_has_a_header(void **state)
{
	struct gk_buf out = {0};

	(void)state;
	fixture_init(&fixture, 2);
	gk_format_csv_devices(&out, &fixture.snap, 0);
	check(&out, 2);
	assert_int_equal(strncmp(out.data, "2026-", 5), 0);
	gk_buf_free(&out);
}

static void an_unknown_count_of_processes_is_empty(void **state)
{
	static const char none[] = ",lost,,", zero[] = ",ok,0,";
	struct gk_buf out = {0};

	(void)state;
	fixture_init(&fixture, 2);
	fixture.devices[1].health = GK_HEALTH_LOST;
	gk_format_csv_devices(&out, &fixture.snap, 0);
	assert_non_null(strstr(out.data, zero));
	assert_non_null(strstr(out.data, none));
	out.len = 0;
	gk_format_csv_devices(&out, &fixture.snap, GK_CSV_NO_PROCESSES);
	assert_null(strstr(out.data, zero));
	gk_buf_free(&out);
}

static void foreign_bytes_stay_in_their_row(void **state)
{
	struct gk_buf out = {0};
	struct gk_process *p;

	(void)state;
	fixture_init(&fixture, 1);
	p = fixture_add_process(&fixture, 0, 7, "x");
	p->command = " a\r\nb\"\xff";
	gk_format_csv_processes(&out, &fixture.snap, 0);
	check(&out, 1);
	assert_non_null(strstr(out.data, "\" a??b\"\"\xef\xbf\xbd\""));
	out.len = 0;
	p->command = "=cmd|'/C calc'!A0";
	gk_format_csv_processes(&out, &fixture.snap, 0);
	assert_non_null(strstr(out.data, ",'=cmd|'/C calc'!A0,"));
	gk_buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_row_a_device),
	    cmocka_unit_test(a_row_a_process),
	    cmocka_unit_test(only_the_first_frame_has_a_header),
	    cmocka_unit_test(an_unknown_count_of_processes_is_empty),
	    cmocka_unit_test(foreign_bytes_stay_in_their_row),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

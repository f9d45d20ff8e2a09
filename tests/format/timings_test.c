/* SPDX-License-Identifier: Apache-2.0 */
/* timings_test.c - checks the profiler's table and the Chrome trace. */
#include "format/fixture.h"
#include "format/timings.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void the_table_is_sorted(void **state)
{
	struct gk_trace_row rows[] = {
	    {"format", 1, 500000, 500000, 500000},
	    {"snapshot", 2, 1000000, 60000000, 40000000},
	    {"wait for the GPUs", 1, 60000000, 60000000, 60000000},
	    {"nvmlDeviceGetFanSpeed", 8, 50400000, 50400000, 50100000},
	};
	struct gk_buf out = {0};

	(void)state;
	gk_format_timings(&out, rows, 4, GK_TIMINGS_SELF);
	assert_golden(&out, "timings-self");
	gk_format_timings(&out, rows, 4, GK_TIMINGS_CUMULATIVE);
	assert_golden(&out, "timings-cumulative");
}

static void the_trace_is_json(void **state)
{
	static const struct gk_trace_event events[] = {
	    {"open", 1000000007, 1500, 41},
	    {"quote\"d", UINT64_MAX, 0, 42},
	};
	struct gk_buf out = {0};
	json_t *root, *list, *event;

	(void)state;
	gk_format_chrome_trace(&out, events, 2, 40);
	root = json_loads(out.data, 0, NULL);
	assert_non_null(root);
	list = json_object_get(root, "traceEvents");
	assert_int_equal(json_array_size(list), 2);
	event = json_array_get(list, 0);
	assert_string_equal(json_string_value(json_object_get(event, "ph")),
			    "X");
	assert_true(json_real_value(json_object_get(event, "ts")) ==
		    1000000.007);
	assert_true(json_real_value(json_object_get(event, "dur")) == 1.5);
	assert_int_equal(json_integer_value(json_object_get(event, "tid")), 41);
	json_decref(root);
	gk_buf_free(&out);
	gk_format_chrome_trace(&out, NULL, 0, 40);
	root = json_loads(out.data, 0, NULL);
	assert_non_null(root);
	json_decref(root);
	gk_buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_table_is_sorted),
	    cmocka_unit_test(the_trace_is_json),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

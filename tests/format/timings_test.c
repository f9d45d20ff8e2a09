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

static void the_drivers_part_is_told_apart(void **state)
{
	const struct gk_trace_row rows[] = {
	    {"open", 1, 500000, 2000000, 2000000},
	    {GK_SPAN_LOAD, 1, 300000, 300000, 300000},
	    {"nvmlInit_v2", 1, 226000, 226000, 226000},
	    {"nvmlDeviceGetFanSpeed", 8, 50400000, 50400000, 50100000},
	};
	struct gk_timings_sum sum = {.startup_ns = 610000,
				     .total_ns = 61000000};
	struct gk_buf out = {0};

	(void)state;
	gk_timings_sum(&sum, rows, 4);
	assert_int_equal(sum.load_ns, 300000);
	assert_int_equal(sum.init_ns, 226000);
	assert_int_equal(sum.nvml_ns, 50626000);
	assert_int_equal(sum.nvml_calls, 9);
	gk_format_timings_sum(&out, &sum);
	assert_string_equal(
	    out.data,
	    "start-up 0.610 ms of CPU time, then 61.000 ms; NVML: loaded in "
	    "0.300 ms, initialised in 0.226 ms, 9 calls in 50.626 ms\n");
	gk_buf_free(&out);
}

static void assert_member(json_t *object, const char *name, double value)
{
	assert_true(json_number_value(json_object_get(object, name)) == value);
}

static void the_trace_is_json(void **state)
{
	const struct gk_timings_sum sum = {610000, 61000000, 300000,
					   226000, 50626000, 9};
	static const struct gk_trace_event events[] = {
	    {"open", 1000000007, 1500, 41},
	    {"quote\"d", UINT64_MAX, 0, 42},
	};
	struct gk_buf out = {0};
	json_t *root, *list, *event;

	(void)state;
	gk_format_chrome_trace(&out, events, 2, 40, &sum);
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
	list = json_object_get(root, "otherData");
	assert_member(list, "startup_cpu_ms", 0.61);
	assert_member(list, "total_ms", 61);
	assert_member(list, "load_ms", 0.3);
	assert_member(list, "init_ms", 0.226);
	assert_member(list, "nvml_ms", 50.626);
	assert_member(list, "nvml_calls", 9);
	json_decref(root);
	gk_buf_free(&out);
	gk_format_chrome_trace(&out, NULL, 0, 40, &sum);
	root = json_loads(out.data, 0, NULL);
	assert_non_null(root);
	json_decref(root);
	gk_buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_table_is_sorted),
	    cmocka_unit_test(the_drivers_part_is_told_apart),
	    cmocka_unit_test(the_trace_is_json),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

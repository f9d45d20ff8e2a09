/* SPDX-License-Identifier: Apache-2.0 */
/* json_test.c - reads the JSON back with an independent parser. */
#include "format/fixture.h"
#include "format/json.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct fixture fixture;

static json_t *parsed(unsigned flags)
{
	struct gk_buf out = {0};
	json_error_t error;
	json_t *root;

	gk_format_json(&out, &fixture.snap, flags);
	assert_false(out.failed);
	root = json_loads(out.data, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("%s at %d:%d", error.text, error.line, error.column);
	gk_buf_free(&out);
	return root;
}

static json_t *device(json_t *root, size_t at)
{
	return json_array_get(json_object_get(root, "devices"), at);
}

static json_t *process(json_t *root, size_t at, size_t i)
{
	return json_array_get(json_object_get(device(root, at), "processes"),
			      i);
}

static const char *text_of(json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void a_golden_object(void **state)
{
	struct gk_buf out = {0};

	(void)state;
	fixture_everything(&fixture);
	gk_format_json(&out, &fixture.snap, GK_JSON_INDENT | GK_JSON_WHY);
	assert_golden(&out, "json-everything");
}

static void lines_are_lines(void **state)
{
	struct gk_buf out = {0};

	(void)state;
	fixture_everything(&fixture);
	gk_format_json(&out, &fixture.snap, 0);
	assert_ptr_equal(strchr(out.data, '\n'), out.data + out.len - 1);
	gk_buf_free(&out);
}

static void both_shapes_say_the_same(void **state)
{
	json_t *one, *many;

	(void)state;
	fixture_everything(&fixture);
	one = parsed(GK_JSON_WHY);
	many = parsed(GK_JSON_WHY | GK_JSON_INDENT);
	assert_true(json_equal(one, many));
	assert_int_equal(json_array_size(json_object_get(one, "devices")), 7);
	assert_int_equal(
	    json_integer_value(json_object_get(process(one, 0, 0), "pid")),
	    15699);
	assert_string_equal(text_of(device(one, 5), "health"), "lost");
	json_decref(one);
	json_decref(many);
}

static void every_metric_is_a_key(void **state)
{
	json_t *root;

	(void)state;
	fixture_everything(&fixture);
	root = parsed(0);
	for (int i = 0; i < GK_M_COUNT; i++)
		assert_true(
		    !json_object_get(device(root, 0), gk_metrics[i].name) ==
		    (gk_metrics[i].tier >= GK_TIER_DETAIL));
	for (int i = 0; i < GK_PM_COUNT; i++)
		assert_true(gk_process_metrics[i].tier == GK_TIER_HOST_ASKED ||
			    json_object_get(process(root, 0, 0),
					    gk_process_metrics[i].name));
	assert_null(json_object_get(process(root, 0, 0), "threads"));
	assert_null(json_object_get(device(root, 0), "why"));
	json_decref(root);
}

static const struct gk_detail detail = {
    .facts = {[GK_T_BRAND] = {"Made \"up\"", GK_PRESENT},
	      [GK_T_GSP_VERSION] = {"", GK_ABSENT_NO_FUNCTION}},
    .link_count = 2,
    .links = {{.index = 0,
	       .end = GK_LINK_END_SWITCH,
	       .remote_bus_id = "00000000:05:00.0",
	       .m = {[GK_L_TX] = {1LL << 60, GK_PRESENT}}},
	      {.index = 4, .m = {[GK_L_TX] = {0, GK_ABSENT_NOT_SUPPORTED}}}},
};
static const struct gk_place places[] = {{"0-3", "0", -1}, {"", "", 7}};
static const struct gk_peer peers[] = {{GK_PATH_SELF, 0},
				       {GK_PATH_SYSTEM, 12},
				       {GK_PATH_SYSTEM, 12},
				       {GK_PATH_SELF, 0}};
static const struct gk_topology topology = {2, places, peers};

/* None of it is there unless it was read. */
static void details_are_shown_where_they_were_read(void **state)
{
	json_t *root, *links, *facts;

	(void)state;
	fixture_everything(&fixture);
	fixture.devices[0].detail = &detail;
	fixture.devices[0].m[GK_M_XID_COUNT] = present(3);
	fixture.devices[1].m[GK_M_XID_COUNT].why = GK_ABSENT_NOT_READ;
	fixture.devices[0].read_ns[GK_TIER_DETAIL] = fixture.snap.mono_ns;
	root = parsed(GK_JSON_WHY);
	facts = json_object_get(device(root, 0), "facts");
	assert_string_equal(text_of(facts, "brand"), "Made \"up\"");
	assert_true(
	    json_is_null(json_object_get(facts, "gsp_firmware_version")));
	assert_string_equal(
	    text_of(json_object_get(facts, "why"), "gsp_firmware_version"),
	    gk_absence_text(GK_ABSENT_NO_FUNCTION));
	links = json_object_get(device(root, 0), "links");
	assert_int_equal(json_array_size(links), 2);
	assert_string_equal(text_of(json_array_get(links, 0), "end"), "switch");
	assert_true(json_integer_value(json_object_get(
			json_array_get(links, 0), "transmit_bytes_total")) ==
		    1LL << 60);
	assert_true(json_is_null(
	    json_object_get(json_array_get(links, 1), "transmit_bytes_total")));
	assert_int_equal(json_integer_value(json_object_get(
			     device(root, 0), "xid_errors_total")),
			 3);
	assert_null(json_object_get(device(root, 1), "xid_errors_total"));
	assert_null(json_object_get(device(root, 1), "facts"));
	assert_null(json_object_get(device(root, 1), "links"));
	assert_null(json_object_get(
	    json_object_get(device(root, 1), "age_seconds"), "detail"));
	assert_null(json_object_get(root, "topology"));
	json_decref(root);
}

static void the_topology_is_a_table(void **state)
{
	json_t *root, *places_of, *peer;

	(void)state;
	fixture_everything(&fixture);
	fixture.snap.topology = &topology;
	root = parsed(0);
	places_of = json_object_get(root, "topology");
	assert_int_equal(json_array_size(places_of), 2);
	assert_string_equal(text_of(json_array_get(places_of, 0), "cpus"),
			    "0-3");
	assert_true(json_is_null(
	    json_object_get(json_array_get(places_of, 0), "numa_node")));
	assert_true(json_is_null(
	    json_object_get(json_array_get(places_of, 1), "cpus")));
	peer = json_array_get(
	    json_object_get(json_array_get(places_of, 0), "peers"), 1);
	assert_string_equal(text_of(peer, "path"), "between NUMA nodes");
	assert_int_equal(json_integer_value(json_object_get(peer, "nvlinks")),
			 12);
	json_decref(root);
}

static void absent_is_null_with_a_reason(void **state)
{
	json_t *root, *why;

	(void)state;
	fixture_everything(&fixture);
	root = parsed(GK_JSON_WHY);
	why = json_object_get(device(root, 0), "why");
	assert_true(json_is_null(
	    json_object_get(device(root, 0), "fan_speed_percent")));
	assert_string_equal(text_of(why, "fan_speed_percent"),
			    gk_absence_text(GK_ABSENT_NOT_SUPPORTED));
	assert_null(json_object_get(why, "temperature_celsius"));
	json_decref(root);
}

static void unknown_processes_are_null(void **state)
{
	json_t *root;

	(void)state;
	fixture_everything(&fixture);
	root = parsed(0);
	assert_true(
	    json_is_array(json_object_get(device(root, 0), "processes")));
	assert_true(
	    json_is_null(json_object_get(device(root, 5), "processes")));
	json_decref(root);
	root = parsed(GK_JSON_NO_PROCESSES);
	assert_true(
	    json_is_null(json_object_get(device(root, 0), "processes")));
	json_decref(root);
}

static void integers_stay_exact(void **state)
{
	json_t *root;

	(void)state;
	fixture_init(&fixture, 2);
	for (int i = 0; i < GK_M_COUNT; i++) {
		fixture.devices[0].m[i] = present(INT64_MAX);
		fixture.devices[1].m[i] = present(INT64_MIN);
	}
	root = parsed(0);
	assert_true(json_integer_value(json_object_get(
			device(root, 0), "memory_used_bytes")) == INT64_MAX);
	assert_true(json_integer_value(json_object_get(
			device(root, 1), "memory_used_bytes")) == INT64_MIN);
	json_decref(root);
}

static void foreign_bytes_give_valid_json(void **state)
{
	static char every[2 * 255 + 1];
	struct gk_process *p;
	json_t *root, *args;
	size_t n = 0;

	(void)state;
	for (int c = 1; c < 256; c++)
		every[n++] = (char)c;
	fixture_init(&fixture, 1);
	strcpy(fixture.devices[0].name, "a\"b\\c\t\xf0\x9f");
	p = fixture_add_process(&fixture, 0, 7, every);
	p->args = every;
	p->args_len = n;
	p = fixture_add_process(&fixture, 0, 8, "");
	SET_ARGS(p, "a\0\0b \\\0");
	root = parsed(0);
	assert_string_equal(text_of(device(root, 0), "name"),
			    "a\"b\\c\t\xef\xbf\xbd\xef\xbf\xbd");
	args = json_object_get(process(root, 0, 1), "args");
	assert_int_equal(json_array_size(args), 3);
	assert_string_equal(json_string_value(json_array_get(args, 1)), "");
	assert_string_equal(json_string_value(json_array_get(args, 2)), "b \\");
	json_decref(root);
}

/*
 * Programs that print the JSON show escapes; programs that parse it get the
 * value.
 */
static void what_cannot_be_seen_is_escaped(void **state)
{
	static const char text[] =
	    "a\033[2J\u202e\u2066\u200b\U000e0041\u00e4\x7f";
	struct gk_buf out = {0};

	(void)state;
	gk_json_string(&out, text, strlen(text));
	assert_string_equal(out.data,
			    "\"a\\u001b[2J\\u202e\\u2066\\u200b\\udb40\\udc41"
			    "\u00e4\\u007f\"");
	gk_buf_free(&out);
}

static void no_gpus_is_an_empty_array(void **state)
{
	json_t *root;

	(void)state;
	fixture_init(&fixture, 0);
	root = parsed(0);
	assert_int_equal(json_array_size(json_object_get(root, "devices")), 0);
	json_decref(root);
	fixture_init(&fixture, 64);
	root = parsed(0);
	assert_int_equal(json_array_size(json_object_get(root, "devices")), 64);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_golden_object),
	    cmocka_unit_test(lines_are_lines),
	    cmocka_unit_test(both_shapes_say_the_same),
	    cmocka_unit_test(every_metric_is_a_key),
	    cmocka_unit_test(details_are_shown_where_they_were_read),
	    cmocka_unit_test(the_topology_is_a_table),
	    cmocka_unit_test(absent_is_null_with_a_reason),
	    cmocka_unit_test(unknown_processes_are_null),
	    cmocka_unit_test(integers_stay_exact),
	    cmocka_unit_test(foreign_bytes_give_valid_json),
	    cmocka_unit_test(what_cannot_be_seen_is_escaped),
	    cmocka_unit_test(no_gpus_is_an_empty_array),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* check_test.c - checks which events of strangers are taken, and as what. */
#include "web/check.h"

#include "base/str.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool changed;

static json_t *read_event(enum gk_event_kind kind, const char *json, bool own)
{
	changed = false;
	return gk_event_read(kind, json, strlen(json), own, &changed);
}

static bool takes(enum gk_event_kind kind, const char *json)
{
	json_t *event = read_event(kind, json, false);

	json_decref(event);
	return event;
}

#define GPU "\"devices\":[{\"uuid\":\"a\"}]"

static void an_event_has_what_its_kind_needs(void **state)
{
	static const struct {
		enum gk_event_kind kind;
		const char *good, *bad[5];
	} rows[] = {
	    {GK_EVENT_HELLO,
	     "{\"hostname\":\"a\",\"interval_seconds\":0.5," GPU "}",
	     {"{\"hostname\":\"a\",\"interval_seconds\":0," GPU "}",
	      "{\"hostname\":\"\",\"interval_seconds\":1," GPU "}",
	      "{\"interval_seconds\":1," GPU "}",
	      "{\"hostname\":\"a\"," GPU "}",
	      "{\"hostname\":\"a\",\"interval_seconds\":1}"}},
	    {GK_EVENT_FRAME,
	     "{\"time\":0.5," GPU "}",
	     {"{\"time\":0," GPU "}", "{" GPU "}", "{\"time\":1}",
	      "{\"time\":1,\"devices\":{}}",
	      "{\"time\":1,\"devices\":[{\"uuid\":\"\"}]}"}},
	    {GK_EVENT_DETAILS,
	     "{\"devices\":[]}",
	     {"{}", "[]", "{\"devices\":7}",
	      "{\"devices\":[{\"uuid\":\"a\"},7]}",
	      "{\"devices\":[],\"devices\":[]}"}},
	    {GK_EVENT_PROCESSES,
	     "{\"processes\":[]}",
	     {"{}", "{\"processes\":{}}", "{\"alerts\":[]}", "", "7"}},
	    {GK_EVENT_ALERT,
	     "{\"alerts\":[]}",
	     {"{}", "{\"alerts\":7}", "{\"processes\":[]}", "\"x\"",
	      "{\n\"alerts\":[]}"}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(takes(rows[i].kind, rows[i].good));
		for (size_t k = 0; k < COUNT(rows[i].bad); k++)
			if (takes(rows[i].kind, rows[i].bad[k]))
				fail_msg("taken: %s", rows[i].bad[k]);
	}
	assert_false(takes(GK_EVENT_HOSTS, "{\"hosts\":[]}"));
	assert_false(takes(GK_EVENT_ALERT, "{\"alerts\":[]\r}"));
}

static void what_cannot_be_is_taken_out(void **state)
{
	static const char text[] =
	    "{\"time\":1,\"other\":2e19,\"less\":-2e19,\"fine\":1e18,"
	    "\"devices\":[{\"uuid\":\"a\",\"gpu_utilization_percent\":101,"
	    "\"temperature_celsius\":55,\"power_watts\":-7},"
	    "{\"uuid\":\"b\",\"gpu_utilization_percent\":100}]}";
	json_t *event = read_event(GK_EVENT_FRAME, text, false);
	const json_t *gpu;

	(void)state;
	assert_non_null(event);
	assert_true(changed);
	assert_null(json_object_get(event, "other"));
	assert_null(json_object_get(event, "less"));
	assert_near(gk_member_number(event, "fine"), 1e18, 0);
	gpu = json_array_get(json_object_get(event, "devices"), 0);
	assert_true(isnan(gk_member_number(gpu, "gpu_utilization_percent")));
	assert_true(isnan(gk_member_number(gpu, "power_watts")));
	assert_near(gk_member_number(gpu, "temperature_celsius"), 55, 0);
	gpu = json_array_get(json_object_get(event, "devices"), 1);
	assert_near(gk_member_number(gpu, "gpu_utilization_percent"), 100, 0);
	json_decref(event);
}

static void what_can_be_stays_as_it_is(void **state)
{
	json_t *event = read_event(
	    GK_EVENT_PROCESSES,
	    "{\"processes\":[{\"pid\":7,\"sm_utilization_percent\":16}]}",
	    false);

	(void)state;
	assert_non_null(event);
	assert_false(changed);
	json_decref(event);
	/* Our own events are not checked. */
	event =
	    read_event(GK_EVENT_FRAME, "{\"time\":1,\"x\":2e19," GPU "}", true);
	assert_non_null(event);
	assert_false(changed);
	assert_near(gk_member_number(event, "x"), 2e19, 0);
	json_decref(event);
}

/* An array of this many devices. */
static bool takes_devices(size_t count)
{
	struct gk_buf text = {0};
	bool taken;

	gk_buf_puts(&text, "{\"devices\":[");
	for (size_t i = 0; i < count; i++)
		gk_buf_puts(&text,
			    i ? ",{\"uuid\":\"a\"}" : "{\"uuid\":\"a\"}");
	gk_buf_puts(&text, "]}");
	taken = takes(GK_EVENT_DETAILS, text.data);
	gk_buf_free(&text);
	return taken;
}

/* A text that would take 256 bytes for each of its brackets. */
static bool takes_brackets(size_t count)
{
	struct gk_buf text = {0};
	bool taken;

	gk_buf_puts(&text, "{\"alerts\":[\"");
	gk_buf_pad(&text, '[', count);
	gk_buf_puts(&text, "\"]}");
	taken = takes(GK_EVENT_ALERT, text.data);
	gk_buf_free(&text);
	return taken;
}

static void an_event_has_a_size(void **state)
{
	(void)state;
	assert_true(takes_devices(GK_WEB_DEVICES));
	assert_false(takes_devices(GK_WEB_DEVICES + 1));
	assert_true(takes_brackets(65536 - 2));
	assert_false(takes_brackets(65536 - 1));
}

static void members_have_a_type(void **state)
{
	json_t *object =
	    json_pack("{s:s,s:f,s:i}", "text", "x", "real", 0.5, "whole", 7);

	(void)state;
	assert_string_equal(gk_member_text(object, "text"), "x");
	assert_string_equal(gk_member_text(object, "real"), "");
	assert_string_equal(gk_member_text(object, "none"), "");
	assert_near(gk_member_number(object, "real"), 0.5, 0);
	assert_near(gk_member_number(object, "whole"), 7, 0);
	assert_true(isnan(gk_member_number(object, "text")));
	assert_true(isnan(gk_member_number(object, "none")));
	json_decref(object);
}

/* As browsers read it; only hellos and frames have an id. */
static void an_event_is_sent_as_lines(void **state)
{
	static const struct {
		enum gk_event_kind kind;
		const char *text;
	} rows[] = {
	    {GK_EVENT_HELLO,
	     "retry: 2000\nid: tok-7\nevent: hello\ndata: {}\n\n"},
	    {GK_EVENT_FRAME, "id: tok-7\nevent: frame\ndata: {}\n\n"},
	    {GK_EVENT_DETAILS, "event: details\ndata: {}\n\n"},
	    {GK_EVENT_PROCESSES, "event: processes\ndata: {}\n\n"},
	    {GK_EVENT_ALERT, "event: alert\ndata: {}\n\n"},
	    {GK_EVENT_HOSTS, "event: hosts\ndata: {}\n\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct gk_event *e = gk_event_new(rows[i].kind, "tok", 7, "{}");

		assert_non_null(e);
		assert_int_equal(e->len, strlen(rows[i].text));
		assert_memory_equal(e->text, rows[i].text, e->len);
		assert_int_equal(e->id, 7);
		assert_int_equal(gk_event_kind(gk_event_name(rows[i].kind)),
				 rows[i].kind);
		assert_ptr_equal(gk_event_use(e), e);
		gk_event_drop(e);
		assert_int_equal(e->users, 1);
		gk_event_drop(e);
	}
	assert_int_equal(gk_event_kind("message"), GK_EVENT_KINDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_event_has_what_its_kind_needs),
	    cmocka_unit_test(what_cannot_be_is_taken_out),
	    cmocka_unit_test(what_can_be_stays_as_it_is),
	    cmocka_unit_test(an_event_has_a_size),
	    cmocka_unit_test(members_have_a_type),
	    cmocka_unit_test(an_event_is_sent_as_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

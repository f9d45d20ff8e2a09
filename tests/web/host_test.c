/* SPDX-License-Identifier: Apache-2.0 */
/* host_test.c - checks what is kept of a host, and what is not believed. */
#include "web/host.h"

#include "base/array.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HELLO                                                                  \
	"{\"hostname\":\"atlas\",\"interval_seconds\":1,"                      \
	"\"devices\":[{\"uuid\":\"a\",\"label\":\"0\"}]}"

static struct gk_web_host h;
static uint64_t id;

static void begin(void)
{
	gk_web_host_init(&h, "atlas", false);
	id = 0;
}

static int take(enum gk_event_kind kind, const char *json)
{
	return gk_web_host_take(&h, kind, json, strlen(json), "t", ++id);
}

static void frame(double time, int busy)
{
	char json[256];

	snprintf(json, sizeof json,
		 "{\"time\":%.3f,\"devices\":[{\"uuid\":\"a\",\"state\":"
		 "\"busy\",\"gpu_utilization_percent\":%d,"
		 "\"memory_used_bytes\":1,\"memory_total_bytes\":4}]}",
		 time, busy);
	assert_int_equal(take(GK_EVENT_FRAME, json), 0);
}

/* Checks the history of the only device in the hello. */
static void assert_history(const char *busy)
{
	struct gk_event *hello = gk_web_host_hello(&h, "t", id);
	char wanted[512], *text;

	assert_non_null(hello);
	text = strndup(hello->text, hello->len);
	snprintf(wanted, sizeof wanted, "\"gpu_utilization_percent\":%s,",
		 busy);
	if (!strstr(text, wanted))
		fail_msg("no %s in %s", wanted, text);
	free(text);
	gk_event_drop(hello);
}

static void frames_become_history(void **state)
{
	(void)state;
	begin();
	assert_null(gk_web_host_hello(&h, "t", 1));
	assert_int_equal(take(GK_EVENT_HELLO, HELLO), 0);
	frame(100, 10);
	frame(101.2, 20);
	assert_history("[10,20]");
	gk_web_host_free(&h);
}

static void what_is_not_known_is_a_gap(void **state)
{
	(void)state;
	begin();
	assert_int_equal(take(GK_EVENT_HELLO, HELLO), 0);
	frame(100, 10);
	frame(103, 20);
	assert_history("[10,null,null,20]");
	assert_int_equal(take(GK_EVENT_FRAME,
			      "{\"time\":104,\"devices\":[{\"uuid\":\"a\","
			      "\"state\":\"lost\","
			      "\"gpu_utilization_percent\":90}]}"),
			 0);
	assert_history("[10,null,null,20,null]");
	frame(104 + 10 * GK_WEB_STEPS, 30);
	assert_int_equal(h.steps, GK_WEB_STEPS);
	assert_true(isnan(h.traces[0].values[0][0]) ||
		    isnan(h.traces[0].values[0][1]));
	gk_web_host_free(&h);
}

static void a_gap_is_as_many_intervals_as_passed(void **state)
{
	(void)state;
	begin();
	assert_int_equal(take(GK_EVENT_HELLO, "{\"hostname\":\"atlas\","
					      "\"interval_seconds\":2,"
					      "\"devices\":[{\"uuid\":\"a\","
					      "\"label\":\"0\"}]}"),
			 0);
	frame(100, 10);
	frame(102, 20);
	assert_history("[10,20]");
	frame(108, 30);
	assert_history("[10,20,null,null,30]");
	gk_web_host_free(&h);
}

/* The hub keeps a peer's history unchanged. */
static void a_hello_brings_its_history(void **state)
{
	struct gk_web_host other;
	struct gk_event *hello;
	const char *data;
	char *text;

	(void)state;
	begin();
	assert_int_equal(take(GK_EVENT_HELLO, HELLO), 0);
	for (int i = 0; i < GK_WEB_STEPS + 50; i++)
		frame(100 + i, i % 100);
	hello = gk_web_host_hello(&h, "t", id);
	text = strndup(hello->text, hello->len - 2);
	data = strstr(text, "data: ") + 6;
	gk_web_host_init(&other, "other", false);
	assert_int_equal(gk_web_host_take(&other, GK_EVENT_HELLO, data,
					  strlen(data), "t", 1),
			 0);
	assert_int_equal(other.steps, GK_WEB_STEPS);
	assert_true(other.time == h.time);
	for (int i = 0; i < GK_WEB_STEPS; i++)
		assert_true(
		    other.traces[0].values[0][(other.end + i) % GK_WEB_STEPS] ==
		    h.traces[0].values[0][(h.end + i) % GK_WEB_STEPS]);
	free(text);
	gk_event_drop(hello);
	gk_web_host_free(&other);
	gk_web_host_free(&h);
}

static void what_was_held_back_is_remembered(void **state)
{
	static const struct {
		const char *members;
		float held;
	} rows[] = {
	    {"\"clocks_event_reasons\":4", 1},
	    {"\"clocks_event_reasons\":4,\"slight\":1", 0},
	    {"\"clocks_event_reasons\":68,\"slight\":1", 1},
	    {"\"clocks_event_reasons\":1", 0},
	    {"\"clocks_event_reasons\":1e99", 0},
	    {"\"state\":\"busy\"", 0},
	};

	(void)state;
	begin();
	assert_int_equal(take(GK_EVENT_HELLO, HELLO), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char json[256];

		snprintf(json, sizeof json,
			 "{\"time\":%zu,\"devices\":[{\"uuid\":\"a\",%s}]}",
			 i + 1, rows[i].members);
		assert_int_equal(take(GK_EVENT_FRAME, json), 0);
		assert_true(h.traces[0].values[4][i] == rows[i].held);
	}
	gk_web_host_free(&h);
}

static void strangers_are_not_believed(void **state)
{
	static const struct {
		enum gk_event_kind kind;
		const char *json;
	} lies[] = {
	    {GK_EVENT_HELLO, ""},
	    {GK_EVENT_HELLO, "nonsense"},
	    {GK_EVENT_HELLO, "[]"},
	    {GK_EVENT_HELLO, "{\"hostname\":\"x\",\"interval_seconds\":1}"},
	    {GK_EVENT_HELLO, "{\"hostname\":7,\"interval_seconds\":1,"
			     "\"devices\":[]}"},
	    {GK_EVENT_HELLO, "{\"hostname\":\"x\",\"interval_seconds\":0,"
			     "\"devices\":[]}"},
	    {GK_EVENT_HELLO, "{\"hostname\":\"x\",\"interval_seconds\":1,"
			     "\"devices\":[{}]}"},
	    {GK_EVENT_HELLO, "{\"hostname\":\"x\",\n\"interval_seconds\":1,"
			     "\"devices\":[]}"},
	    {GK_EVENT_FRAME, "{\"time\":1}"},
	    {GK_EVENT_FRAME, "{\"time\":-1,\"devices\":[]}"},
	    {GK_EVENT_FRAME, "{\"time\":\"1\",\"devices\":[]}"},
	    {GK_EVENT_DETAILS, "{}"},
	    {GK_EVENT_PROCESSES, "{\"processes\":{}}"},
	    {GK_EVENT_ALERT, "{\"alerts\":1}"},
	    {GK_EVENT_KINDS, "{}"},
	};

	(void)state;
	begin();
	/* Nothing may come before a hello. */
	assert_int_equal(take(GK_EVENT_ALERT, "{\"alerts\":[]}"),
			 GK_ERR_INVALID);
	assert_int_equal(take(GK_EVENT_HELLO, HELLO), 0);
	frame(100, 10);
	for (size_t i = 0; i < COUNT(lies); i++)
		assert_int_equal(take(lies[i].kind, lies[i].json),
				 GK_ERR_INVALID);
	assert_int_equal(h.count, 1);
	assert_history("[10]");
	assert_int_equal(take(GK_EVENT_FRAME,
			      "{\"time\":101,\"devices\":[{\"uuid\":\"b\"}]}"),
			 0);
	gk_web_host_free(&h);
}

static void odd_histories_do_no_harm(void **state)
{
	static const char *const odd[] = {
	    "{\"steps\":1e9}",
	    "{\"steps\":-1}",
	    "{\"steps\":3}",
	    "{\"steps\":3,\"devices\":[]}",
	    ("{\"steps\":2,\"time\":5,\"devices\":{\"a\":"
	     "{\"gpu_utilization_percent\":[1,2,3,4,5],\"power_watts\":7}}}"),
	    "{\"steps\":\"x\"}",
	    "[]",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(odd); i++) {
		char json[512];

		begin();
		snprintf(json, sizeof json, "%.*s,\"history\":%s}",
			 (int)strlen(HELLO) - 1, HELLO, odd[i]);
		assert_int_equal(take(GK_EVENT_HELLO, json), 0);
		frame(100, 50);
		assert_true(h.steps <= GK_WEB_STEPS);
		gk_web_host_free(&h);
	}
}

static void names_are_quoted(void **state)
{
	struct gk_buf out = {0};
	json_t *read;

	(void)state;
	gk_web_host_init(&h, "a\"b\\", false);
	gk_web_host_summary(&h, &out);
	read = json_loadb(out.data, out.len, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(read, "name")),
			    "a\"b\\");
	assert_string_equal(json_string_value(json_object_get(read, "why")),
			    "connecting");
	json_decref(read);
	gk_buf_free(&out);
	gk_web_host_free(&h);
}

static void feed(const char *uuid, const char *json)
{
	char text[1024];

	snprintf(text, sizeof text,
		 "{\"time\":5,\"devices\":[{\"uuid\":\"%s\"%s}]}", uuid, json);
	assert_int_equal(take(GK_EVENT_FRAME, text), 0);
}

/* The newest frame as it is passed on. */
static char *sent(void)
{
	const struct gk_event *event = h.latest[GK_EVENT_FRAME];

	assert_non_null(event);
	return strndup(event->text, event->len);
}

static void numbers_of_a_peer_are_those_of_a_gpu(void **state)
{
	static const char *const odd[] = {",\"power_watts\":3e38",
					  ",\"power_watts\":-1",
					  ",\"temperature_celsius\":1e9",
					  ",\"memory_used_bytes\":1e300",
					  ",\"gpu_utilization_percent\":250",
					  ",\"owners\":[{\"bytes\":1e200}]"};

	(void)state;
	for (size_t i = 0; i < COUNT(odd); i++) {
		char *text;

		begin();
		assert_int_equal(take(GK_EVENT_HELLO, HELLO), 0);
		feed("a", odd[i]);
		text = sent();
		assert_null(strstr(text, "3e"));
		assert_null(strstr(text, "e9"));
		assert_null(strstr(text, "250"));
		assert_null(strstr(text, "e+"));
		assert_null(strstr(text, "-1"));
		assert_true(strlen(text) < 200);
		free(text);
		assert_history("[null]");
		gk_web_host_free(&h);
	}
	begin();
	assert_int_equal(take(GK_EVENT_HELLO, HELLO), 0);
	feed("a", ",\"gpu_utilization_percent\":25");
	assert_history("[25]");
	gk_web_host_free(&h);
}

static void a_history_of_nonsense_is_none(void **state)
{
	char json[512];

	(void)state;
	begin();
	snprintf(json, sizeof json,
		 "%.*s,\"history\":{\"steps\":3,\"time\":5,\"devices\":{\"a\":"
		 "{\"gpu_utilization_percent\":[3e38,-7,50]}}}}",
		 (int)strlen(HELLO) - 1, HELLO);
	assert_int_equal(take(GK_EVENT_HELLO, json), 0);
	assert_history("[null,null,50]");
	gk_web_host_free(&h);
}

/* It would be passed on as a number that no browser can read. */
static void a_history_without_a_time_is_none(void **state)
{
	static const char *const histories[] = {
	    "{\"steps\":1}", "{\"steps\":1,\"time\":null}",
	    "{\"steps\":1,\"time\":\"5\"}", "{\"steps\":1,\"time\":-5}"};

	(void)state;
	for (size_t i = 0; i < COUNT(histories); i++) {
		char json[512];

		begin();
		snprintf(json, sizeof json, "%.*s,\"history\":%s}",
			 (int)strlen(HELLO) - 1, HELLO, histories[i]);
		assert_int_equal(take(GK_EVENT_HELLO, json), 0);
		assert_int_equal(h.steps, 0);
		assert_history("[]");
		assert_true(h.time == 0);
		gk_web_host_free(&h);
	}
}

/* Browsers take either for the end of a line. */
static void line_ends_in_an_event_are_refused(void **state)
{
	(void)state;
	begin();
	assert_int_equal(take(GK_EVENT_HELLO, HELLO), 0);
	assert_int_equal(
	    take(GK_EVENT_FRAME, "{\"time\":5,\r\r\"devices\":[]}"),
	    GK_ERR_INVALID);
	assert_int_equal(take(GK_EVENT_FRAME, "{\"time\":5,\n\"devices\":[]}"),
			 GK_ERR_INVALID);
	assert_int_equal(take(GK_EVENT_ALERT, "{\"alerts\":[]\r}"),
			 GK_ERR_INVALID);
	gk_web_host_free(&h);
}

static void events_that_take_much_memory_are_refused(void **state)
{
	enum { COUNT_OF = 200000 };
	struct gk_buf text = {0};

	(void)state;
	begin();
	assert_int_equal(take(GK_EVENT_HELLO, HELLO), 0);
	gk_buf_puts(&text, "{\"alerts\":[0");
	for (int i = 0; i < COUNT_OF; i++)
		gk_buf_puts(&text, ",{}");
	gk_buf_puts(&text, "]}");
	assert_int_equal(take(GK_EVENT_ALERT, text.data), GK_ERR_INVALID);
	gk_buf_free(&text);
	gk_web_host_free(&h);
}

/* The newest event is kept, however large it is. */
static void the_ring_has_so_many_bytes(void **state)
{
	char *pad = malloc(400001), *json = malloc(500000);

	(void)state;
	begin();
	assert_int_equal(take(GK_EVENT_HELLO, HELLO), 0);
	memset(pad, 'x', 400000);
	pad[400000] = '\0';
	for (int i = 0; i < 100; i++) {
		snprintf(json, 500000,
			 "{\"time\":%d,\"pad\":\"%s\",\"devices\":[]}", i + 1,
			 pad);
		assert_int_equal(take(GK_EVENT_FRAME, json), 0);
		assert_true(h.count >= 1);
		assert_true(h.ring_bytes <= GK_WEB_RING_BYTES);
		assert_ptr_equal(h.ring[(h.first + h.count - 1) % GK_WEB_RING],
				 h.latest[GK_EVENT_FRAME]);
	}
	assert_int_equal(h.count, 5);
	gk_web_host_free(&h);
	free(pad);
	free(json);
}

static json_t *summary(void)
{
	struct gk_buf out = {0};
	json_t *read;

	gk_web_host_summary(&h, &out);
	read = json_loadb(out.data, out.len, 0, NULL);
	assert_non_null(read);
	gk_buf_free(&out);
	return read;
}

/* A MIG device has its GPU's values. */
static void sums_count_each_gpu_once(void **state)
{
	json_t *told;

	(void)state;
	begin();
	assert_int_equal(
	    take(GK_EVENT_HELLO,
		 "{\"hostname\":\"atlas\",\"interval_seconds\":1,\"devices\":["
		 "{\"uuid\":\"a\",\"label\":\"0\"},"
		 "{\"uuid\":\"b\",\"label\":\"0:0\",\"mig_index\":0},"
		 "{\"uuid\":\"c\",\"label\":\"1\"}]}"),
	    0);
	assert_int_equal(take(GK_EVENT_FRAME,
			      "{\"time\":5,\"devices\":["
			      "{\"uuid\":\"a\",\"memory_total_bytes\":80,"
			      "\"memory_used_bytes\":30},"
			      "{\"uuid\":\"b\",\"memory_total_bytes\":20,"
			      "\"memory_used_bytes\":10,\"power_watts\":7},"
			      "{\"uuid\":\"c\",\"memory_total_bytes\":80,"
			      "\"memory_used_bytes\":1}]}"),
			 0);
	told = summary();
	assert_int_equal(json_array_size(json_object_get(told, "gpus")), 2);
	assert_int_equal(
	    json_integer_value(json_object_get(told, "memory_total_bytes")),
	    160);
	assert_int_equal(
	    json_integer_value(json_object_get(told, "memory_used_bytes")), 31);
	/* An unknown value is not 0. */
	assert_null(json_object_get(told, "power_watts"));
	json_decref(told);
	gk_web_host_free(&h);
}

/* 256 GPUs would have 384,000 values, more than a peer accepts. */
static void a_hello_of_many_devices_has_fewer_steps(void **state)
{
	struct gk_buf text = {0};
	struct gk_event *hello;
	struct gk_web_host other;
	const char *data;

	(void)state;
	begin();
	gk_buf_puts(&text, "{\"hostname\":\"atlas\",\"interval_seconds\":1,"
			   "\"devices\":[");
	for (int i = 0; i < GK_WEB_DEVICES; i++)
		gk_buf_printf(&text,
			      "%s{\"uuid\":\"GPU-%032d\",\"label\":\"%d\"}",
			      i ? "," : "", i, i);
	gk_buf_puts(&text, "]}");
	assert_int_equal(take(GK_EVENT_HELLO, text.data), 0);
	for (int i = 0; i < GK_WEB_STEPS; i++)
		feed("GPU-00000000000000000000000000000000",
		     ",\"power_watts\":123");
	hello = gk_web_host_hello(&h, "t", id);
	assert_true(hello->len < 1 << 20);
	text.len = 0;
	gk_buf_add(&text, hello->text, hello->len - 2);
	data = strstr(text.data, "data: ") + 6;
	gk_web_host_init(&other, "other", false);
	assert_int_equal(gk_web_host_take(&other, GK_EVENT_HELLO, data,
					  strlen(data), "t", 1),
			 0);
	assert_in_range(other.steps, 100, GK_WEB_STEPS - 1);
	gk_event_drop(hello);
	gk_web_host_free(&other);
	gk_web_host_free(&h);
	gk_buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(frames_become_history),
	    cmocka_unit_test(what_is_not_known_is_a_gap),
	    cmocka_unit_test(a_gap_is_as_many_intervals_as_passed),
	    cmocka_unit_test(a_hello_brings_its_history),
	    cmocka_unit_test(what_was_held_back_is_remembered),
	    cmocka_unit_test(strangers_are_not_believed),
	    cmocka_unit_test(odd_histories_do_no_harm),
	    cmocka_unit_test(names_are_quoted),
	    cmocka_unit_test(numbers_of_a_peer_are_those_of_a_gpu),
	    cmocka_unit_test(a_history_of_nonsense_is_none),
	    cmocka_unit_test(a_history_without_a_time_is_none),
	    cmocka_unit_test(line_ends_in_an_event_are_refused),
	    cmocka_unit_test(events_that_take_much_memory_are_refused),
	    cmocka_unit_test(the_ring_has_so_many_bytes),
	    cmocka_unit_test(sums_count_each_gpu_once),
	    cmocka_unit_test(a_hello_of_many_devices_has_fewer_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

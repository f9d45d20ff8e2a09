/* host_test.c - what is kept of a host, and what is not believed. */
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

/* The history of the only device, as the hello tells it. */
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

/* A peer's history is the hub's: the same goes in and comes out. */
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
	/* Nothing comes before a hello. */
	assert_int_equal(take(GK_EVENT_ALERT, "{\"alerts\":[]}"),
			 GK_ERR_INVALID);
	assert_int_equal(take(GK_EVENT_HELLO, HELLO), 0);
	frame(100, 10);
	for (size_t i = 0; i < COUNT(lies); i++)
		assert_int_equal(take(lies[i].kind, lies[i].json),
				 GK_ERR_INVALID);
	assert_int_equal(h.count, 2);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(frames_become_history),
	    cmocka_unit_test(what_is_not_known_is_a_gap),
	    cmocka_unit_test(a_hello_brings_its_history),
	    cmocka_unit_test(what_was_held_back_is_remembered),
	    cmocka_unit_test(strangers_are_not_believed),
	    cmocka_unit_test(odd_histories_do_no_harm),
	    cmocka_unit_test(names_are_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

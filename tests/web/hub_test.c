/* SPDX-License-Identifier: Apache-2.0 */
/* hub_test.c - checks that clients get all events, in pieces of any size. */
#include "web/hub.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELLO                                                                  \
	"{\"hostname\":\"atlas\",\"interval_seconds\":1,"                      \
	"\"devices\":[{\"uuid\":\"a\"}]}"

static struct gk_hub *hub;
static int woken;

static void wake(void *owner)
{
	assert_ptr_equal(owner, &woken);
	woken++;
}

static void begin(size_t hosts)
{
	static const char *const names[] = {"one", "two", "three"};

	woken = 0;
	hub = gk_hub_new(names, hosts, wake, &woken);
	assert_non_null(hub);
}

static int take(size_t host, enum gk_event_kind kind, const char *json)
{
	return gk_hub_take(hub, host, kind, json, strlen(json));
}

static void frame(size_t host, int time)
{
	char json[96];

	snprintf(json, sizeof json,
		 "{\"time\":%d,\"devices\":[{\"uuid\":\"a\"}]}", time);
	assert_int_equal(take(host, GK_EVENT_FRAME, json), 0);
}

/* Reads all that a stream has now, in pieces of this many bytes. */
static char *read_all(struct gk_stream *s, size_t piece)
{
	static char text[1 << 17];
	size_t len = 0;
	ssize_t n;

	while ((n = gk_stream_read(s, text + len, piece)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	return text;
}

/* The times of the frames in a text: "1 2 3 ". */
static const char *times(const char *text)
{
	static char list[4096];
	size_t len = 0;

	*list = '\0';
	while ((text = strstr(text, "data: {\"time\":"))) {
		text += strlen("data: {\"time\":");
		len += (size_t)snprintf(list + len, sizeof list - len, "%d ",
					atoi(text));
	}
	return list;
}

static void the_bytes_are_the_same_in_any_pieces(void **state)
{
	char *first = NULL;

	(void)state;
	begin(1);
	assert_int_equal(take(0, GK_EVENT_HELLO, HELLO), 0);
	frame(0, 1);
	assert_int_equal(take(0, GK_EVENT_ALERT, "{\"alerts\":[]}"), 0);
	assert_int_equal(woken, 3);
	for (size_t piece = 1; piece < 5000; piece = piece * 2 + 1) {
		struct gk_stream *s = gk_hub_look(hub, NULL, "");
		char *text = read_all(s, piece);

		if (!first)
			first = strdup(text);
		assert_string_equal(text, first);
		gk_stream_end(s);
	}
	assert_non_null(strstr(first, "event: hello"));
	assert_non_null(strstr(first, "event: alert"));
	free(first);
	gk_hub_free(hub);
}

static void who_is_slow_gets_the_newest(void **state)
{
	struct gk_stream *s;

	(void)state;
	begin(1);
	assert_int_equal(take(0, GK_EVENT_HELLO, HELLO), 0);
	frame(0, 1);
	s = gk_hub_look(hub, NULL, "");
	read_all(s, 4096);
	for (int i = 2; i < 10; i++)
		frame(0, i);
	assert_string_equal(times(read_all(s, 4096)), "9 ");
	assert_string_equal(read_all(s, 4096), "");
	gk_stream_end(s);
	gk_hub_free(hub);
}

/* The id of the last frame in a text. */
static void last_id(const char *text, char id[64])
{
	const char *at = NULL;

	while ((text = strstr(text, "id: "))) {
		at = text += 4;
	}
	assert_non_null(at);
	snprintf(id, 64, "%.*s", (int)strcspn(at, "\n"), at);
}

static void who_comes_again_gets_what_was_missed(void **state)
{
	struct gk_stream *s;
	char id[64];

	(void)state;
	begin(1);
	assert_int_equal(take(0, GK_EVENT_HELLO, HELLO), 0);
	frame(0, 1);
	s = gk_hub_look(hub, NULL, "");
	last_id(read_all(s, 4096), id);
	gk_stream_end(s);
	for (int i = 2; i < 6; i++)
		frame(0, i);
	s = gk_hub_look(hub, NULL, id);
	assert_string_equal(times(read_all(s, 100)), "2 3 4 5 ");
	for (int i = 6; i < 9; i++)
		frame(0, i);
	assert_string_equal(times(read_all(s, 100)), "8 ");
	gk_stream_end(s);
	/* Too long ago, so from the beginning. */
	for (int i = 9; i < 9 + GK_WEB_RING; i++)
		frame(0, i);
	s = gk_hub_look(hub, NULL, id);
	assert_non_null(strstr(read_all(s, 4096), "event: hello"));
	gk_stream_end(s);
	gk_hub_free(hub);
}

/*
 * A slow reader also gets what seldom changes: it is the newest of its kind,
 * however many frames have come since.
 */
static void who_is_slow_misses_no_alert(void **state)
{
	struct gk_stream *slow, *again;
	const char *text;
	char id[64];

	(void)state;
	begin(1);
	assert_int_equal(take(0, GK_EVENT_HELLO, HELLO), 0);
	frame(0, 1);
	slow = gk_hub_look(hub, NULL, "");
	last_id(read_all(slow, 4096), id);
	frame(0, 2);
	again = gk_hub_look(hub, NULL, id);
	assert_int_equal(take(0, GK_EVENT_ALERT, "{\"alerts\":[7]}"), 0);
	for (int i = 0; i < 2 * GK_WEB_RING; i++)
		frame(0, 3 + i);
	for (int i = 0; i < 2; i++) {
		text = read_all(i ? again : slow, 4096);
		assert_non_null(strstr(text, "{\"alerts\":[7]}"));
		assert_string_equal(times(text), "242 ");
		gk_stream_end(i ? again : slow);
	}
	gk_hub_free(hub);
}

static void a_host_is_found_by_the_name_it_was_given(void **state)
{
	struct gk_stream *s;
	const char *text;

	(void)state;
	begin(2);
	s = gk_hub_look(hub, "two", "");
	assert_int_equal(take(1, GK_EVENT_HELLO, HELLO), 0);
	frame(1, 5);
	assert_string_equal(times(read_all(s, 4096)), "5 ");
	gk_stream_end(s);
	/* The name that a host gives itself may be another machine's. */
	assert_null(gk_hub_look(hub, "atlas", ""));
	gk_hub_tell_hosts(hub);
	s = gk_hub_look(hub, "two", "");
	assert_non_null(s);
	text = read_all(s, 4096);
	assert_non_null(strstr(text, "\"name\":\"two\",\"told\":\"atlas\""));
	gk_stream_end(s);
	gk_hub_free(hub);
}

static void a_stream_is_of_one_host(void **state)
{
	struct gk_stream *s;
	const char *text;

	(void)state;
	begin(3);
	assert_null(gk_hub_look(hub, "nobody", ""));
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(take(i, GK_EVENT_HELLO, HELLO), 0);
	frame(0, 7);
	frame(1, 8);
	s = gk_hub_look(hub, "two", "");
	assert_non_null(s);
	assert_string_equal(times(read_all(s, 4096)), "8 ");
	gk_stream_end(s);
	s = gk_hub_look(hub, "one", "");
	assert_string_equal(times(read_all(s, 4096)), "7 ");
	gk_hub_away(hub, 2, "it \"ended\"");
	gk_hub_tell_hosts(hub);
	text = read_all(s, 4096);
	assert_non_null(strstr(text, "event: hosts"));
	assert_non_null(strstr(text, "it \\\"ended\\\""));
	gk_stream_end(s);
	gk_hub_free(hub);
}

static void one_host_alone_is_no_list(void **state)
{
	struct gk_stream *s;

	(void)state;
	begin(1);
	gk_hub_away(hub, 0, "no driver");
	gk_hub_tell_hosts(hub);
	s = gk_hub_look(hub, NULL, "");
	assert_non_null(strstr(read_all(s, 4096), "no driver"));
	assert_int_equal(take(0, GK_EVENT_HELLO, HELLO), 0);
	frame(0, 1);
	gk_hub_tell_hosts(hub);
	assert_null(strstr(read_all(s, 4096), "event: hosts"));
	gk_stream_end(s);
	gk_hub_free(hub);
}

/* An old hello is useless, and large. */
static void the_newest_hello_alone_is_kept(void **state)
{
	struct gk_stream *s;
	char *text;

	(void)state;
	begin(1);
	for (int i = 0; i < 50; i++)
		assert_int_equal(take(0, GK_EVENT_HELLO, HELLO), 0);
	frame(0, 1);
	s = gk_hub_look(hub, NULL, "");
	text = strdup(read_all(s, 4096));
	assert_non_null(strstr(text, "event: hello"));
	assert_null(strstr(strstr(text, "event: hello") + 1, "event: hello"));
	assert_int_equal(take(0, GK_EVENT_HELLO, HELLO), 0);
	frame(0, 2);
	assert_non_null(strstr(read_all(s, 4096), "event: hello"));
	assert_string_equal(read_all(s, 4096), "");
	gk_stream_end(s);
	free(text);
	gk_hub_free(hub);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_bytes_are_the_same_in_any_pieces),
	    cmocka_unit_test(who_is_slow_gets_the_newest),
	    cmocka_unit_test(who_comes_again_gets_what_was_missed),
	    cmocka_unit_test(who_is_slow_misses_no_alert),
	    cmocka_unit_test(a_host_is_found_by_the_name_it_was_given),
	    cmocka_unit_test(a_stream_is_of_one_host),
	    cmocka_unit_test(one_host_alone_is_no_list),
	    cmocka_unit_test(the_newest_hello_alone_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

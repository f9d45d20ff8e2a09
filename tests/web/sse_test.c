/* SPDX-License-Identifier: Apache-2.0 */
/* sse_test.c - checks parsing streams of events, wherever they are cut. */
#include "web/sse.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

static struct gk_buf got;

static void note(void *owner, const char *kind, const char *data, size_t len)
{
	assert_ptr_equal(owner, &got);
	assert_int_equal(data[len], '\0');
	gk_buf_printf(&got, "[%s|%.*s]", kind, (int)len, data);
}

static void begin(struct gk_sse *s)
{
	*s = (struct gk_sse){0};
	got.len = 0;
	gk_buf_puts(&got, "");
}

static void assert_got(const char *text)
{
	assert_int_equal(got.len, strlen(text));
	assert_memory_equal(got.len ? got.data : "", text, got.len);
}

static const char stream[] = "retry: 2000\r\n"
			     "id: a-1\n"
			     "event: hello\n"
			     "data: {\"a\":1}\n"
			     "\n"
			     ":\n\n"
			     "id:a-2\n"
			     "data:one\n"
			     "data: two\n"
			     "unknown: x\n"
			     "data\n"
			     "\r\n"
			     "event: frame\n\n";

static void events_are_the_same_wherever_they_are_cut(void **state)
{
	struct gk_sse s;

	(void)state;
	for (size_t step = 1; step <= sizeof stream; step++) {
		begin(&s);
		for (size_t at = 0; at < sizeof stream - 1; at += step) {
			size_t left = sizeof stream - 1 - at;

			assert_true(gk_sse_feed(&s, stream + at,
						left < step ? left : step, note,
						&got));
		}
		assert_got("[hello|{\"a\":1}][message|one\ntwo]");
		assert_string_equal(s.id, "a-2");
		gk_sse_free(&s);
	}
}

static void a_new_stream_forgets_half_an_event(void **state)
{
	static const char half[] = "id: x-7\nevent: frame\ndata: ha";
	static const char whole[] = "data: whole\n\n";
	struct gk_sse s;

	(void)state;
	begin(&s);
	assert_true(gk_sse_feed(&s, half, sizeof half - 1, note, &got));
	gk_sse_begin(&s);
	assert_string_equal(s.id, "x-7");
	assert_true(gk_sse_feed(&s, whole, sizeof whole - 1, note, &got));
	assert_got("[message|whole]");
	gk_sse_free(&s);
}

static void an_event_without_an_end_is_refused(void **state)
{
	char block[4096];
	struct gk_sse s;
	size_t sent = 0;

	(void)state;
	memset(block, 'x', sizeof block);
	begin(&s);
	while (gk_sse_feed(&s, block, sizeof block, note, &got)) {
		sent += sizeof block;
		assert_true(sent <= GK_SSE_REFUSED);
		assert_true(s.line.cap + s.data.cap <= 4 * GK_SSE_MOST);
	}
	assert_true(sent > GK_SSE_REFUSED / 2);
	gk_sse_free(&s);
}

/*
 * An event that is too large is passed over, whether it is in one line or in
 * many; the next one is read as usual.
 */
static void an_event_that_is_too_large_is_passed_over(void **state)
{
	static const char next[] = "\n\r\nevent: frame\ndata: small\n\n";
	char block[4096];
	struct gk_sse s;

	(void)state;
	for (int lines = 0; lines < 2; lines++) {
		memset(block, 'x', sizeof block);
		memcpy(block, lines ? "\ndata: " : "data: x", 7);
		begin(&s);
		for (size_t n = 0; n <= GK_SSE_MOST; n += sizeof block)
			assert_true(
			    gk_sse_feed(&s, block, sizeof block, note, &got));
		assert_true(gk_sse_feed(&s, next, sizeof next - 1, note, &got));
		assert_got("[frame|small]");
		assert_int_equal(s.passed, 1);
		gk_sse_free(&s);
	}
}

static void names_that_are_too_long_are_left_out(void **state)
{
	static const char long_names[] =
	    "event: a-name-that-nobody-has\n"
	    "id: 0123456789012345678901234567890123456789012345678901234567890"
	    "123456789\n"
	    "data: x\n\n";
	struct gk_sse s;

	(void)state;
	begin(&s);
	assert_true(
	    gk_sse_feed(&s, long_names, sizeof long_names - 1, note, &got));
	assert_got("[message|x]");
	assert_string_equal(s.id, "");
	gk_sse_free(&s);
}

static int end(void **state)
{
	(void)state;
	gk_buf_free(&got);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(events_are_the_same_wherever_they_are_cut),
	    cmocka_unit_test(a_new_stream_forgets_half_an_event),
	    cmocka_unit_test(an_event_without_an_end_is_refused),
	    cmocka_unit_test(an_event_that_is_too_large_is_passed_over),
	    cmocka_unit_test(names_that_are_too_long_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}

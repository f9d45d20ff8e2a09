/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_test.c - checks where time goes: self and cumulative, nesting, threads.
 */
#include "unit.h"

#include "base/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Spins, so that the time is the thread's own and never too short. */
static void spend(uint64_t ns)
{
	uint64_t end = gk_mono_ns() + ns;

	while (gk_mono_ns() < end)
		;
}

static struct gk_trace_row row_of(const char *name)
{
	struct gk_trace_row *rows, found = {0};
	size_t count = gk_trace_rows(&rows);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].name, name))
			found = rows[i];
	free(rows);
	return found;
}

/* The first test: later ones have it turned on. */
static void nothing_is_kept_while_it_is_off(void **state)
{
	struct gk_trace_event *events;
	struct gk_trace_row *rows;
	struct gk_span span;

	(void)state;
	gk_span_begin(&span, "off");
	gk_trace_start(true);
	gk_span_end(&span); /* began while it was off: not counted */
	assert_int_equal(gk_trace_rows(&rows), 0);
	assert_int_equal(gk_trace_events(&events), 0);
	assert_null(rows);
	assert_null(events);
}

static void self_time_is_without_the_spans_inside(void **state)
{
	struct gk_trace_row outer, inner;
	struct gk_span a, b;

	(void)state;
	gk_span_begin(&a, "outer");
	spend(2 * GK_NS_PER_MS);
	for (int i = 0; i < 3; i++) {
		gk_span_begin(&b, "inner");
		spend((uint64_t)(i + 1) * GK_NS_PER_MS);
		gk_span_end(&b);
	}
	gk_span_end(&a);
	outer = row_of("outer");
	inner = row_of("inner");
	assert_int_equal(outer.calls, 1);
	assert_int_equal(inner.calls, 3);
	assert_true(inner.total_ns >= 6 * GK_NS_PER_MS);
	assert_true(inner.self_ns == inner.total_ns);
	assert_true(inner.max_ns >= 3 * GK_NS_PER_MS);
	assert_true(inner.max_ns < inner.total_ns);
	assert_true(outer.self_ns >= 2 * GK_NS_PER_MS);
	assert_true(outer.self_ns + inner.total_ns == outer.total_ns);
	assert_true(outer.max_ns == outer.total_ns);
}

static void grandchildren_count_once(void **state)
{
	struct gk_trace_row a, b, c;
	struct gk_span x, y, z;

	(void)state;
	gk_span_begin(&x, "a");
	gk_span_begin(&y, "b");
	gk_span_begin(&z, "c");
	spend(GK_NS_PER_MS);
	gk_span_end(&z);
	gk_span_end(&y);
	gk_span_end(&x);
	a = row_of("a");
	b = row_of("b");
	c = row_of("c");
	assert_true(a.self_ns + b.self_ns + c.self_ns == a.total_ns);
	assert_true(c.self_ns >= GK_NS_PER_MS);
	assert_true(a.total_ns >= b.total_ns && b.total_ns >= c.total_ns);
}

static void equal_names_share_a_row(void **state)
{
	static char one[] = "same name", two[] = "same name";
	struct gk_span span;

	(void)state;
	gk_span_begin(&span, one);
	gk_span_end(&span);
	gk_span_begin(&span, two);
	gk_span_end(&span);
	assert_int_equal(row_of("same name").calls, 2);
}

enum { THREADS = 8, SPANS = 500 };

static void *many_spans(void *arg)
{
	(void)arg;
	for (int i = 0; i < SPANS; i++) {
		struct gk_span a, b;

		gk_span_begin(&a, "thread outer");
		gk_span_begin(&b, "thread inner");
		gk_span_end(&b);
		gk_span_end(&a);
	}
	return NULL;
}

static void threads_nest_for_themselves(void **state)
{
	struct gk_trace_row outer, inner;
	pthread_t thread[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, many_spans, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	outer = row_of("thread outer");
	inner = row_of("thread inner");
	assert_int_equal(outer.calls, THREADS * SPANS);
	assert_int_equal(inner.calls, THREADS * SPANS);
	assert_true(outer.self_ns + inner.total_ns == outer.total_ns);
	assert_true(outer.max_ns <= outer.total_ns);
}

static void events_tell_thread_and_time(void **state)
{
	struct gk_trace_event *events;
	uint64_t before = gk_mono_ns();
	struct gk_span span;
	size_t count;

	(void)state;
	gk_span_begin(&span, "event");
	spend(GK_NS_PER_MS);
	gk_span_end(&span);
	count = gk_trace_events(&events);
	assert_true(count > 0);
	assert_string_equal(events[count - 1].name, "event");
	assert_int_equal(events[count - 1].thread, syscall(SYS_gettid));
	assert_true(events[count - 1].start_ns >= before);
	assert_true(events[count - 1].duration_ns >= GK_NS_PER_MS);
	assert_true(events[count - 1].start_ns +
			events[count - 1].duration_ns <=
		    gk_mono_ns());
	free(events);
}

/* A call that hangs is what users look for in the table. */
static void an_open_span_counts_so_far(void **state)
{
	static struct gk_span outer, inner; /* they stay open if it fails */
	struct gk_trace_row *rows, of_outer = {0}, of_inner = {0};
	struct gk_trace_event *events;
	size_t count;

	(void)state;
	gk_span_begin(&outer, "open outer");
	gk_span_begin(&inner, "open inner");
	spend(2 * GK_NS_PER_MS);
	count = gk_trace_rows(&rows);
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(rows[i].name, "open inner"))
			of_inner = rows[i];
		else if (!strcmp(rows[i].name, "open outer"))
			of_outer = rows[i];
	}
	free(rows);
	assert_int_equal(of_inner.calls, 1);
	assert_true(of_inner.self_ns >= 2 * GK_NS_PER_MS);
	assert_true(of_inner.self_ns == of_inner.total_ns);
	assert_true(of_outer.self_ns + of_inner.total_ns == of_outer.total_ns);
	count = gk_trace_events(&events);
	assert_true(count >= 2);
	assert_true(events[count - 2].duration_ns >= 2 * GK_NS_PER_MS);
	free(events);
	gk_span_end(&inner);
	gk_span_end(&outer);
	count = gk_trace_rows(&rows);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].name, "open inner"))
			assert_int_equal(rows[i].calls, 1);
	free(rows);
}

/* Near the end: it fills the table. */
static void more_names_than_rows_do_no_harm(void **state)
{
	static char names[600][16];
	struct gk_trace_row *rows;
	size_t count;

	(void)state;
	for (int i = 0; i < 600; i++) {
		struct gk_span span;

		names[i][0] = 'n';
		names[i][1] = (char)('a' + i % 26);
		names[i][2] = (char)('a' + i / 26);
		gk_span_begin(&span, names[i]);
		gk_span_end(&span);
	}
	count = gk_trace_rows(&rows);
	assert_true(count >= 256 && count < 600);
	for (size_t i = 0; i < count; i++)
		assert_true(rows[i].calls > 0);
	free(rows);
}

/* The last test. What was in the table does not appear in the next one. */
static void when_it_was_off_counting_begins_anew(void **state)
{
	struct gk_trace_row *rows;
	struct gk_span span;

	(void)state;
	gk_trace_stop();
	gk_span_begin(&span, "while off");
	gk_span_end(&span);
	assert_int_equal(gk_trace_rows(&rows), 0);
	gk_trace_start(false);
	gk_span_begin(&span, "outer");
	gk_span_end(&span);
	assert_int_equal(gk_trace_rows(&rows), 1);
	assert_string_equal(rows[0].name, "outer");
	assert_int_equal(rows[0].calls, 1);
	assert_int_equal(rows[0].total_ns, rows[0].max_ns);
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_kept_while_it_is_off),
	    cmocka_unit_test(self_time_is_without_the_spans_inside),
	    cmocka_unit_test(grandchildren_count_once),
	    cmocka_unit_test(equal_names_share_a_row),
	    cmocka_unit_test(threads_nest_for_themselves),
	    cmocka_unit_test(events_tell_thread_and_time),
	    cmocka_unit_test(an_open_span_counts_so_far),
	    cmocka_unit_test(more_names_than_rows_do_no_harm),
	    cmocka_unit_test(when_it_was_off_counting_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

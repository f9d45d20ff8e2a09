/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_test.c - checks the ring of events: which are kept, and how sleepers
 * wait on it.
 */
#include "base/clock.h"
#include "machine/asleep.h"
#include "machine/file/event_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/fixture.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/writers_lock.h"

#include <pthread.h>

enum { XID = 8, PSTATE = 4, CLOCK = 16 };

static struct fixture fx;

static int open_two(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	gkf_clock_speed(fx.m, 0);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static void push_in(uint64_t type, uint64_t data, uint32_t instance)
{
	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_event_push(fx.m, 1, type, data, instance);
	gkf_unlock(fx.m);
}

static void push(uint64_t type, uint64_t data)
{
	push_in(type, data, GKF_NO_INSTANCE);
}

static void an_event_tells_all_that_happened(void **state)
{
	struct gkf_event e;
	uint64_t number = 0;

	(void)state;
	gkf_machine_age(fx.m, 5 * GK_NS_PER_S);
	assert_false(gkf_event_next(fx.m, &number, &e));
	push_in(XID, 79, 0x20003);
	assert_int_equal(gkf_event_last(fx.m), 1);
	assert_true(gkf_event_next(fx.m, &number, &e));
	assert_int_equal(number, 1);
	assert_int_equal(e.number, 1);
	assert_int_equal(e.device, 1);
	assert_int_equal(e.type, XID);
	assert_int_equal(e.data, 79);
	assert_int_equal(e.instance, 0x20003);
	assert_int_equal(e.machine_ns, gkf_machine_ns(fx.m));
	assert_false(gkf_event_next(fx.m, &number, &e));
	assert_int_equal(number, 1);
}

static void only_what_somebody_waits_for_is_kept_but_xids(void **state)
{
	(void)state;
	push(PSTATE, 0);
	push(GKF_EVENT_SYSTEM | 1, 0);
	assert_int_equal(gkf_event_last(fx.m), 0);
	push(XID, 0);
	assert_int_equal(gkf_event_last(fx.m), 1);
	gkf_event_interest(fx.m, PSTATE);
	push(PSTATE, 0);
	push(CLOCK, 0);
	assert_int_equal(gkf_event_last(fx.m), 2);
	gkf_event_interest(fx.m, CLOCK);
	push(PSTATE, 0); /* still of interest */
	push(CLOCK, 0);
	assert_int_equal(gkf_event_last(fx.m), 4);
	/* The low bits of system event types are not device types. */
	push(GKF_EVENT_SYSTEM | XID, 0);
	assert_int_equal(gkf_event_last(fx.m), 4);
	gkf_event_interest(fx.m, GKF_EVENT_SYSTEM);
	push(GKF_EVENT_SYSTEM | 1, 0);
	assert_int_equal(gkf_event_last(fx.m), 5);
}

static void who_is_late_begins_with_what_is_left(void **state)
{
	uint64_t number = 0, at_end;
	struct gkf_event e;

	(void)state;
	for (unsigned i = 1; i <= GKF_EVENTS_MAX; i++)
		push(XID, i);
	assert_true(gkf_event_next(fx.m, &number, &e));
	assert_int_equal(e.data, 1);
	push(XID, GKF_EVENTS_MAX + 1);
	push(XID, GKF_EVENTS_MAX + 2);
	push(XID, GKF_EVENTS_MAX + 3);
	number = 0;
	for (uint64_t i = 4; i <= GKF_EVENTS_MAX + 3; i++) {
		assert_true(gkf_event_next(fx.m, &number, &e));
		assert_int_equal(number, i);
		assert_int_equal(e.data, i);
	}
	assert_false(gkf_event_next(fx.m, &number, &e));
	at_end = gkf_event_last(fx.m);
	assert_int_equal(number, at_end);
}

static void what_is_not_whole_is_left_out(void **state)
{
	struct gkf_event e, *ring = fx.file->events.ring;
	uint64_t number = 0;

	(void)state;
	for (unsigned i = 1; i <= 5; i++)
		push(XID, i);
	ring[1].number = 0;                  /* it is being written */
	ring[2].number = 2 + GKF_EVENTS_MAX; /* replaced by a later one */
	ring[3].type = 0;                    /* nothing happened */
	ring[4].device = 2;                  /* of no GPU */
	assert_true(gkf_event_next(fx.m, &number, &e));
	assert_int_equal(number, 5);
	assert_int_equal(e.data, 5);
}

static void each_event_wakes(void **state)
{
	uint32_t word = gkf_event_word(fx.m);

	(void)state;
	push(XID, 1);
	assert_int_equal(gkf_event_word(fx.m), word + 1);
	push(PSTATE, 1); /* of interest to nobody */
	assert_int_equal(gkf_event_word(fx.m), word + 1);
	gkf_event_wake(fx.m);
	assert_int_equal(gkf_event_word(fx.m), word + 2);
}

static void sleep_ends_with_its_time(void **state)
{
	uint64_t begin = gk_mono_ns();

	(void)state;
	gkf_event_sleep(fx.m, gkf_event_word(fx.m), 30 * GK_NS_PER_MS);
	assert_true(gk_mono_ns() - begin >= 30 * GK_NS_PER_MS);
	assert_int_equal(atomic_load(&fx.file->events.sleepers), 0);
	/* Something has happened since: it does not sleep. */
	gkf_event_sleep(fx.m, gkf_event_word(fx.m) - 1, 3600 * GK_NS_PER_S);
	assert_int_equal(atomic_load(&fx.file->events.sleepers), 0);
}

static void *sleep_long(void *word)
{
	gkf_event_sleep(fx.m, *(uint32_t *)word, 3600 * GK_NS_PER_S);
	return NULL;
}

static void who_sleeps_is_counted_and_woken(void **state)
{
	uint32_t word = gkf_event_word(fx.m);
	pthread_t a, b;

	(void)state;
	assert_int_equal(pthread_create(&a, NULL, sleep_long, &word), 0);
	assert_int_equal(pthread_create(&b, NULL, sleep_long, &word), 0);
	while (atomic_load(&fx.file->events.sleepers) != 2)
		usleep(100);
	await_others_asleep();
	push(XID, 1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert_int_equal(atomic_load(&fx.file->events.sleepers), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    T(an_event_tells_all_that_happened),
	    T(only_what_somebody_waits_for_is_kept_but_xids),
	    T(who_is_late_begins_with_what_is_left),
	    T(what_is_not_whole_is_left_out),
	    T(each_event_wakes),
	    T(sleep_ends_with_its_time),
	    T(who_sleeps_is_counted_and_woken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

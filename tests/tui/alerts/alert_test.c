/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alert_test.c - checks alerts: when they begin and end, and what is remembered
 * of them.
 */
#include "tui/screen.h"

#include "base/clock.h"
#include "tui/alerts/alert.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static struct fixture f;
static struct tui_alerts alerts;
static struct tui_alert_rules rules;

static int begin(void **state)
{
	(void)state;
	fixture_init(&f, 2);
	f.snap.process_count = 0;
	for (int i = 0; i < 2; i++)
		f.devices[i].process_count = 0;
	rules = (struct tui_alert_rules){0};
	return 0;
}

static int end(void **state)
{
	(void)state;
	tui_alerts_free(&alerts);
	return 0;
}

/* The result of an update with a value of the first GPU: "new", "on" or "". */
static const char *with(enum gk_metric metric, int64_t value)
{
	bool fresh;

	f.devices[0].m[metric] = present(value);
	fresh = tui_alerts_update(&alerts, &rules, &f.snap);
	return fresh ? "new" : alerts.on ? "on" : "";
}

static void heat_ends_below_the_threshold(void **state)
{
	(void)state;
	rules.temperature = 90;
	assert_string_equal(with(GK_M_TEMP, 89), "");
	assert_string_equal(with(GK_M_TEMP, 90), "new");
	assert_string_equal(with(GK_M_TEMP, 95), "on");
	assert_string_equal(with(GK_M_TEMP, 88), "on");
	assert_string_equal(with(GK_M_TEMP, 87), "");
	assert_string_equal(with(GK_M_TEMP, 89), "");
	assert_string_equal(with(GK_M_TEMP, 90), "new");
}

static void no_threshold_no_alert(void **state)
{
	(void)state;
	assert_string_equal(with(GK_M_TEMP, 1000), "");
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 1000), "");
}

static void each_rise_of_a_count_is_new(void **state)
{
	(void)state;
	rules.ecc = 1;
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 0), "");
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 1), "new");
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 1), "on");
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 2), "new");
}

/* The result of an update, and the text of the active alerts. */
static const char *told(void)
{
	static char text[160];
	bool fresh = tui_alerts_update(&alerts, &rules, &f.snap);

	*text = '\0';
	for (size_t i = 0; i < alerts.count; i++)
		if (alerts.rows[i].on)
			tui_alert_text(&alerts.rows[i], text, sizeof text);
	if (*text && !fresh)
		strcat(text, " still");
	return text;
}

static void a_gpu_that_is_lost_is_told_until_it_is_back(void **state)
{
	(void)state;
	rules.lost = true;
	assert_string_equal(told(), "");
	f.devices[0].health = GK_HEALTH_LOST;
	assert_string_equal(told(), "GPU 0: lost");
	assert_string_equal(told(), "GPU 0: lost still");
	f.devices[0].health = GK_HEALTH_OK;
	assert_string_equal(told(), "");
	rules.lost = false;
	f.devices[0].health = GK_HEALTH_LOST;
	assert_string_equal(told(), "");
}

static void a_gpu_hangs_after_ten_seconds(void **state)
{
	(void)state;
	rules.hung = true;
	f.devices[0].health = GK_HEALTH_STALE;
	f.devices[0].read_ns[GK_TIER_FAST] = f.snap.mono_ns - 9 * GK_NS_PER_S;
	assert_string_equal(told(), "");
	f.devices[0].read_ns[GK_TIER_FAST] = f.snap.mono_ns - 10 * GK_NS_PER_S;
	assert_string_equal(told(), "GPU 0: does not answer");
	f.devices[0].health = GK_HEALTH_OK;
	assert_string_equal(told(), "");
}

/* A power brake holds the clocks at half. */
static void clocks_are_held_back_for_a_while(void **state)
{
	(void)state;
	rules.held = 30;
	f.devices[0].m[GK_M_THROTTLE] = present(0x80);
	f.devices[0].m[GK_M_SM_CLOCK] = present(990000000);
	f.devices[0].m[GK_M_SM_CLOCK_MAX] = present(1980000000);
	assert_string_equal(told(), "");
	f.snap.mono_ns += 29 * GK_NS_PER_S;
	assert_string_equal(told(), "");
	f.snap.mono_ns += GK_NS_PER_S;
	assert_string_equal(told(), "GPU 0: power brake: slowed down for at "
				    "least 30 s (alert from 30 s)");
	/* Held back by only a twentieth: no alert. */
	f.devices[0].m[GK_M_SM_CLOCK] = present(1900000000);
	assert_string_equal(told(), "");
}

static void idleness_has_to_last(void **state)
{
	(void)state;
	rules.idle = 2;
	f.devices[0].process_count = 1;
	assert_string_equal(with(GK_M_GPU_UTIL, 0), "");
	f.snap.mono_ns += 119 * GK_NS_PER_S;
	assert_string_equal(with(GK_M_GPU_UTIL, 0), "");
	f.snap.mono_ns += GK_NS_PER_S;
	assert_string_equal(with(GK_M_GPU_UTIL, 0), "new");
	assert_string_equal(with(GK_M_GPU_UTIL, 1), "");
	f.snap.mono_ns += GK_NS_PER_S;
	assert_string_equal(with(GK_M_GPU_UTIL, 0), "");
}

/* A call that failed once means nothing; a lost GPU is not hot. */
static void a_lost_gpu_is_not_hot(void **state)
{
	(void)state;
	rules.temperature = 90;
	assert_string_equal(with(GK_M_TEMP, 95), "new");
	f.devices[0].m[GK_M_TEMP].why = GK_ABSENT_NOT_READ;
	tui_alerts_update(&alerts, &rules, &f.snap);
	assert_int_equal(alerts.on, 1);
	f.devices[0].health = GK_HEALTH_LOST;
	tui_alerts_update(&alerts, &rules, &f.snap);
	assert_int_equal(alerts.on, 0);
	/* Counted errors stay. */
	f.devices[0].health = GK_HEALTH_OK;
	rules.ecc = 1;
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 1), "new");
	f.devices[0].health = GK_HEALTH_LOST;
	f.devices[0].m[GK_M_ECC_UNCORRECTED].why = GK_ABSENT_NOT_READ;
	tui_alerts_update(&alerts, &rules, &f.snap);
	assert_int_equal(alerts.on, 1);
}

/* As in the first frames: nothing was read yet, and no UUID is known. */
static void nothing_is_read(void)
{
	for (size_t i = 0; i < f.snap.device_count; i++) {
		struct gk_device *d = &f.devices[i];

		*d->uuid = '\0';
		memset(d->read_ns, 0, sizeof d->read_ns);
		for (int m = 0; m < GK_M_COUNT; m++)
			d->m[m].why = GK_ABSENT_NOT_READ;
	}
	tui_alerts_update(&alerts, &rules, &f.snap);
}

/* The kind of the active alert of a GPU; "": none. */
static const char *on_of(unsigned gpu)
{
	for (size_t i = 0; i < alerts.count; i++)
		if (alerts.rows[i].on && alerts.rows[i].gpu.index == gpu)
			return tui_alert_kind_name(alerts.rows[i].kind);
	return "";
}

/* GPU 1 was lost before, GPU 3 hangs; the others have their UUIDs. */
static void who_has_told_no_uuid_is_named(void **state)
{
	(void)state;
	fixture_init(&f, 4);
	rules.lost = rules.hung = true;
	nothing_is_read();
	assert_int_equal(alerts.count, 0);
	fixture_init(&f, 4);
	for (unsigned i = 1; i < 4; i += 2) {
		*f.devices[i].uuid = '\0';
		memset(f.devices[i].read_ns, 0, sizeof f.devices[i].read_ns);
	}
	f.devices[1].health = GK_HEALTH_LOST;
	f.devices[3].health = GK_HEALTH_STALE;
	for (int i = 0; i < 5; i++) {
		tui_alerts_update(&alerts, &rules, &f.snap);
		assert_string_equal(on_of(0), "");
		assert_string_equal(on_of(1), "lost");
		assert_string_equal(on_of(2), "");
		assert_string_equal(on_of(3), "hung");
		assert_int_equal(alerts.on, 2);
		assert_int_equal(alerts.event_count, 2);
	}
}

/* Two alerts of GPU 0, which is lost, and two of GPU 1; the machine then has
 * only GPU 0, and later both again. */
static void a_gpu_that_is_gone_has_no_alerts(void **state)
{
	uint64_t gone;

	(void)state;
	rules.lost = rules.ecc = true;
	rules.temperature = 90;
	f.devices[0].health = GK_HEALTH_LOST;
	f.devices[1].m[GK_M_TEMP] = present(95);
	f.devices[1].m[GK_M_ECC_UNCORRECTED] = present(3);
	told();
	assert_int_equal(alerts.on, 3);
	assert_int_equal(alerts.event_count, 3);
	gone = f.snap.wall_ns += GK_NS_PER_S;
	f.snap.device_count = 1;
	assert_string_equal(told(), "GPU 0: lost still");
	assert_int_equal(alerts.on, 1);
	for (size_t i = 0; i < 3; i++) {
		const struct tui_alert_event *e = &alerts.events[i];

		assert_int_equal(e->ended_ns, e->alert.gpu.index ? gone : 0);
	}
	/*
	 * The alert ended once, and begins again if the GPU is hot when it is
	 * back.
	 */
	f.snap.wall_ns += GK_NS_PER_S;
	f.devices[0].health = GK_HEALTH_OK;
	assert_string_equal(told(), "");
	f.snap.device_count = 2;
	f.devices[1].m[GK_M_ECC_UNCORRECTED] = present(0);
	assert_string_equal(told(), "GPU 1: 95 C (alert from 90 C)");
	assert_int_equal(alerts.event_count, 4);
	assert_int_equal(alerts.events[3].ended_ns, 0);
	/* There is no GPU. */
	f.snap.device_count = 0;
	assert_string_equal(told(), "");
	assert_int_equal(alerts.on, 0);
}

/* It comes back with its UUID, and is lost without it once more. */
static void it_is_the_same_when_it_tells_its_uuid(void **state)
{
	char uuid[GK_NAME_MAX];

	(void)state;
	strcpy(uuid, f.devices[1].uuid);
	*f.devices[1].uuid = '\0';
	f.devices[1].health = GK_HEALTH_LOST;
	rules.lost = true;
	assert_string_equal(told(), "GPU 1: lost");
	strcpy(f.devices[1].uuid, uuid);
	assert_string_equal(told(), "GPU 1: lost still");
	assert_string_equal(alerts.events[0].alert.gpu.uuid, uuid);
	*f.devices[1].uuid = '\0';
	assert_string_equal(told(), "GPU 1: lost still");
	f.devices[1].health = GK_HEALTH_OK;
	assert_string_equal(told(), "");
	assert_int_equal(alerts.event_count, 1);
	assert_true(alerts.events[0].ended_ns);
}

/* ---- events ---- */

static const struct tui_alert_event *event(size_t at)
{
	assert_true(at < alerts.event_count);
	return &alerts.events[at];
}

/* Without rules these are not alerts, but they are recorded as events. */
static void what_happens_is_written_down(void **state)
{
	uint64_t began = f.snap.wall_ns + GK_NS_PER_S;

	(void)state;
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 7), "");
	assert_int_equal(alerts.event_count, 0); /* of the time before */
	f.snap.wall_ns = began;
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 8), "");
	assert_int_equal(alerts.event_count, 1);
	assert_int_equal(event(0)->alert.kind, ALERT_ECC);
	assert_int_equal(event(0)->began_ns, began);
	assert_int_equal(event(0)->ended_ns, 0);
	f.snap.wall_ns += 5 * GK_NS_PER_S;
	f.devices[1].health = GK_HEALTH_LOST;
	tui_alerts_update(&alerts, &rules, &f.snap);
	assert_int_equal(alerts.event_count, 2);
	assert_int_equal(event(1)->alert.gpu.index, 1);
	f.snap.wall_ns += 3 * GK_NS_PER_S;
	f.devices[1].health = GK_HEALTH_OK;
	tui_alerts_update(&alerts, &rules, &f.snap);
	assert_int_equal(event(1)->ended_ns - event(1)->began_ns,
			 3 * GK_NS_PER_S);
	/* Another error ends the event of the previous one. */
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 9), "");
	assert_int_equal(alerts.event_count, 3);
	assert_int_equal(event(0)->ended_ns, f.snap.wall_ns);
	assert_int_equal(event(2)->alert.value, 9);
	assert_int_equal(event(2)->number, 3);
	assert_int_equal(alerts.on, 0);
}

static const uint64_t one_second = GK_NS_PER_S;

/* A second later. */
static void next_frame(void)
{
	f.snap.mono_ns += one_second;
	f.snap.wall_ns += one_second;
	for (int i = 0; i < 2; i++)
		if (f.devices[i].health == GK_HEALTH_OK)
			f.devices[i].read_ns[GK_TIER_FAST] = f.snap.mono_ns;
}

/* The power cap holds the clocks at half, though not in the beginning. */
static void capped(unsigned seconds)
{
	if (!alerts.count)
		with(GK_M_THROTTLE, 0);
	f.devices[0].m[GK_M_SM_CLOCK] = present(990000000);
	f.devices[0].m[GK_M_SM_CLOCK_MAX] = present(1980000000);
	for (unsigned i = 0; i < seconds; i++, next_frame())
		with(GK_M_THROTTLE, 4);
}

static void assert_lasted(size_t at, unsigned seconds, const char *text)
{
	char is[160];

	tui_alert_text(&event(at)->alert, is, sizeof is);
	assert_string_equal(is, text);
	assert_int_equal(tui_alert_event_lasted(event(at), f.snap.mono_ns),
			 seconds * one_second);
}

static void it_began_before_it_was_told(void **state)
{
	uint64_t began = f.snap.wall_ns;

	(void)state;
	capped(46);
	assert_int_equal(event(0)->began_ns, began);
	assert_string_equal(with(GK_M_THROTTLE, 0), "");
	assert_int_equal(alerts.event_count, 1);
	assert_int_equal(event(0)->ended_ns, began + 46 * one_second);
	assert_lasted(0, 46,
		      "GPU 0: power cap: slowed down for 45 s "
		      "(alert from 30 s)");
}

/* What began earlier comes before what was reported earlier. */
static void events_stand_as_they_began(void **state)
{
	(void)state;
	capped(10);
	f.devices[1].health = GK_HEALTH_LOST;
	capped(30);
	assert_int_equal(alerts.event_count, 2);
	assert_int_equal(event(0)->alert.kind, ALERT_HELD);
	assert_int_equal(event(1)->alert.kind, ALERT_LOST);
	assert_int_equal(event(1)->began_mono_ns - event(0)->began_mono_ns,
			 10 * one_second);
}

static void a_gpu_hangs_since_its_last_answer(void **state)
{
	uint64_t last = f.snap.wall_ns;

	(void)state;
	f.devices[0].read_ns[GK_TIER_FAST] = f.snap.mono_ns;
	f.devices[0].health = GK_HEALTH_STALE;
	for (int i = 0; i < 12; i++) {
		next_frame();
		tui_alerts_update(&alerts, &rules, &f.snap);
	}
	assert_int_equal(alerts.event_count, 1);
	assert_int_equal(event(0)->began_ns, last);
	f.devices[0].health = GK_HEALTH_OK;
	next_frame();
	tui_alerts_update(&alerts, &rules, &f.snap);
	assert_lasted(0, 13, "GPU 0: does not answer");
}

/* Set back by an hour, then forward by two. */
static void a_clock_that_is_set_is_no_time(void **state)
{
	(void)state;
	capped(35);
	f.snap.wall_ns -= 3600 * one_second;
	capped(5);
	f.devices[1].health = GK_HEALTH_LOST;
	with(GK_M_THROTTLE, 0);
	assert_lasted(0, 40,
		      "GPU 0: power cap: slowed down for 39 s "
		      "(alert from 30 s)");
	f.snap.wall_ns += 7200 * one_second;
	next_frame();
	with(GK_M_THROTTLE, 0);
	assert_lasted(1, 1, "GPU 1: lost");
}

/* Its state is the Xid, but its clocks are held back all the same. */
static void an_xid_does_not_end_what_slows_down(void **state)
{
	(void)state;
	f.devices[0].m[GK_M_XID_COUNT] = present(0);
	f.devices[0].m[GK_M_XID_LAST] = present(0);
	capped(20);
	f.devices[0].m[GK_M_XID_COUNT] = present(1);
	f.devices[0].m[GK_M_XID_LAST] = present(31);
	f.devices[0].m[GK_M_XID_TIME] = present((int64_t)f.snap.wall_ns);
	capped(21);
	assert_int_equal(alerts.event_count, 2);
	assert_int_equal(event(1)->alert.kind, ALERT_XID);
	assert_int_equal(event(0)->ended_ns, 0);
	assert_lasted(0, 41,
		      "GPU 0: power cap: slowed down for 40 s "
		      "(alert from 30 s)");
	/* The state of a GPU that does not answer is unknown. */
	f.devices[0].health = GK_HEALTH_STALE;
	f.devices[0].read_ns[GK_TIER_FAST] = f.snap.mono_ns - 10 * one_second;
	with(GK_M_THROTTLE, 4);
	assert_true(event(0)->ended_ns);
}

static void an_ecc_error_is_told_for_ten_minutes(void **state)
{
	uint64_t began;

	(void)state;
	rules.ecc = true;
	with(GK_M_ECC_UNCORRECTED, 0);
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 2), "new");
	began = f.snap.mono_ns;
	f.snap.mono_ns = began + 599 * one_second;
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 2), "on");
	f.snap.mono_ns = began + 600 * one_second;
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 2), "");
	assert_lasted(0, 600,
		      "GPU 0: 2 uncorrected memory errors (alert from 1)");
	/* So is that of a lost GPU. */
	assert_string_equal(with(GK_M_ECC_UNCORRECTED, 3), "new");
	f.devices[0].health = GK_HEALTH_LOST;
	f.devices[0].m[GK_M_ECC_UNCORRECTED].why = GK_ABSENT_LOST;
	f.snap.mono_ns += 600 * one_second;
	tui_alerts_update(&alerts, &rules, &f.snap);
	assert_int_equal(alerts.on, 0);
}

/* Seven errors from before; a reset clears them, and one more is new. */
static void after_a_reset_errors_are_new(void **state)
{
	(void)state;
	with(GK_M_ECC_UNCORRECTED, 7);
	with(GK_M_ECC_UNCORRECTED, 0);
	assert_int_equal(alerts.event_count, 0);
	with(GK_M_ECC_UNCORRECTED, 1);
	assert_int_equal(alerts.event_count, 1);
	assert_int_equal(event(0)->alert.value, 1);
}

/* It is active with the duration at that time; before it began it is absent. */
static void an_event_is_as_it_was_then(void **state)
{
	uint64_t began = f.snap.mono_ns;
	struct tui_alert_event e;

	(void)state;
	capped(46);
	with(GK_M_THROTTLE, 0);
	assert_int_equal(tui_alert_events_until(&alerts, began - 1), 0);
	assert_int_equal(tui_alert_events_until(&alerts, began), 1);
	e = tui_alert_event_at(event(0), began + 31 * one_second);
	assert_int_equal(e.ended_ns, 0);
	assert_int_equal(e.alert.value, 31);
	e = tui_alert_event_at(event(0), began + 60 * one_second);
	assert_int_equal(e.ended_ns, event(0)->ended_ns);
	assert_int_equal(e.alert.value, 45);
}

static void those_that_ended_make_room(void **state)
{
	(void)state;
	f.devices[1].health = GK_HEALTH_LOST; /* the oldest alert, and active */
	for (int i = 0; i < 2 * TUI_ALERT_EVENTS; i++)
		with(GK_M_ECC_UNCORRECTED, i);
	assert_int_equal(alerts.event_count, TUI_ALERT_EVENTS);
	assert_int_equal(event(0)->alert.kind, ALERT_LOST);
	assert_int_equal(event(0)->ended_ns, 0);
	assert_int_equal(event(TUI_ALERT_EVENTS - 1)->alert.value,
			 2 * TUI_ALERT_EVENTS - 1);
	for (size_t i = 1; i < TUI_ALERT_EVENTS; i++)
		assert_true(event(i)->number > event(i - 1)->number);
}

/* ---- order of alerts ---- */

static void what_failed_is_first_then_the_newest(void **state)
{
	const struct tui_alert hot = {.kind = ALERT_TEMPERATURE, .fresh_ns = 9};
	const struct tui_alert lost = {.kind = ALERT_LOST, .fresh_ns = 1};
	const struct tui_alert xid = {.kind = ALERT_XID, .fresh_ns = 2};

	(void)state;
	assert_true(tui_alert_compare(&lost, &hot) < 0);
	assert_true(tui_alert_compare(&hot, &lost) > 0);
	assert_true(tui_alert_compare(&xid, &lost) < 0);
	assert_true(tui_alert_compare(&lost, &xid) > 0);
	assert_int_equal(tui_alert_compare(&xid, &xid), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(heat_ends_below_the_threshold),
	    T(no_threshold_no_alert),
	    T(each_rise_of_a_count_is_new),
	    T(a_gpu_that_is_lost_is_told_until_it_is_back),
	    T(a_gpu_hangs_after_ten_seconds),
	    T(clocks_are_held_back_for_a_while),
	    T(idleness_has_to_last),
	    T(a_lost_gpu_is_not_hot),
	    T(who_has_told_no_uuid_is_named),
	    T(a_gpu_that_is_gone_has_no_alerts),
	    T(it_is_the_same_when_it_tells_its_uuid),
	    T(what_happens_is_written_down),
	    T(it_began_before_it_was_told),
	    T(events_stand_as_they_began),
	    T(a_gpu_hangs_since_its_last_answer),
	    T(a_clock_that_is_set_is_no_time),
	    T(an_xid_does_not_end_what_slows_down),
	    T(an_ecc_error_is_told_for_ten_minutes),
	    T(after_a_reset_errors_are_new),
	    T(an_event_is_as_it_was_then),
	    T(those_that_ended_make_room),
	    T(what_failed_is_first_then_the_newest),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

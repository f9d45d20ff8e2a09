/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alert_fault_test.c - checks alerts of GPUs that need repair, and of what
 * began before the viewer.
 */
#include "tui/screen.h"

#include "base/clock.h"
#include "tui/alerts/alert.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

static struct fixture f;
static struct tui_alerts alerts;
static struct tui_alert_rules rules;

static int begin(void **state)
{
	(void)state;
	fixture_init(&f, 2);
	rules = (struct tui_alert_rules){.lost = true, .fault = true};
	return 0;
}

static int end(void **state)
{
	(void)state;
	tui_alerts_free(&alerts);
	return 0;
}

/* Updates after a second; returns the text of the active alerts. */
static const char *told(void)
{
	static char text[160];
	bool fresh;

	f.snap.mono_ns += GK_NS_PER_S;
	fresh = tui_alerts_update(&alerts, &rules, &f.snap);
	*text = '\0';
	for (size_t i = 0; i < alerts.count; i++)
		if (alerts.rows[i].on)
			tui_alert_text(&alerts.rows[i], text, sizeof text);
	if (*text && !fresh)
		strcat(text, " still");
	return text;
}

static void a_gpu_in_error_is_not_lost(void **state)
{
	(void)state;
	assert_string_equal(told(), "");
	f.devices[0].health = GK_HEALTH_ERROR;
	assert_string_equal(told(), "GPU 0: in error");
	assert_string_equal(told(), "GPU 0: in error still");
	f.devices[0].health = GK_HEALTH_OK;
	assert_string_equal(told(), "");
	rules.lost = false;
	f.devices[0].health = GK_HEALTH_ERROR;
	assert_string_equal(told(), "");
}

static void one_that_must_be_reset_is_told_until_it_is(void **state)
{
	(void)state;
	assert_string_equal(told(), "");
	f.devices[0].m[GK_M_RECOVERY_ACTION] = present(1);
	assert_string_equal(told(), "GPU 0: must be reset");
	f.devices[0].health = GK_HEALTH_STALE;
	assert_string_equal(told(), "GPU 0: must be reset still");
	f.devices[0].health = GK_HEALTH_OK;
	f.snap.mono_ns += 3600 * GK_NS_PER_S;
	assert_string_equal(told(), "GPU 0: must be reset still");
	f.devices[0].m[GK_M_RECOVERY_ACTION] = present(0);
	assert_string_equal(told(), "");
	rules.fault = false;
	f.devices[0].m[GK_M_ROWS_PENDING] = present(1);
	assert_string_equal(told(), "");
}

/* It works, but worse than it could, and its state says so. */
static void a_slow_link_is_no_failure(void **state)
{
	(void)state;
	f.devices[0].m[GK_M_PCIE_WIDTH] = present(4);
	f.devices[0].m[GK_M_PCIE_WIDTH_MAX] = present(16);
	assert_string_equal(told(), "");
}

static bool from_start(size_t event)
{
	assert_true(event < alerts.event_count);
	return alerts.events[event].alert.from_start;
}

/* Nobody saw what was before; what ends and begins again was seen. */
static void what_was_so_at_first_may_have_begun_before(void **state)
{
	(void)state;
	f.devices[0].health = GK_HEALTH_LOST;
	told();
	f.devices[1].health = GK_HEALTH_LOST;
	told();
	assert_true(from_start(0));
	assert_false(from_start(1));
	f.devices[0].health = GK_HEALTH_OK;
	told();
	f.devices[0].health = GK_HEALTH_LOST;
	told();
	assert_true(from_start(0));
	assert_false(from_start(2));
}

/* A value below its threshold is not an alert yet. */
static void what_rises_later_began_then(void **state)
{
	(void)state;
	rules.temperature = 90;
	f.devices[0].m[GK_M_TEMP] = present(80);
	told();
	f.devices[0].m[GK_M_TEMP] = present(95);
	told();
	assert_false(from_start(0));
}

static void idleness_from_the_start_is_longer(void **state)
{
	(void)state;
	rules.idle = 1;
	f.devices[0].m[GK_M_GPU_UTIL] = present(0);
	f.devices[0].process_count = 1;
	f.devices[1].m[GK_M_GPU_UTIL] = present(50);
	told();
	f.snap.mono_ns += 119 * GK_NS_PER_S;
	assert_string_equal(
	    told(), "GPU 0: held but idle for at least 2 min (alert from 1)");
	f.devices[0].m[GK_M_GPU_UTIL] = present(50);
	assert_string_equal(told(), "");
	f.devices[0].m[GK_M_GPU_UTIL] = present(0);
	told();
	f.snap.mono_ns += 119 * GK_NS_PER_S;
	assert_string_equal(told(),
			    "GPU 0: held but idle for 2 min (alert from 1)");
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(a_gpu_in_error_is_not_lost),
	    T(one_that_must_be_reset_is_told_until_it_is),
	    T(a_slow_link_is_no_failure),
	    T(what_was_so_at_first_may_have_begun_before),
	    T(what_rises_later_began_then),
	    T(idleness_from_the_start_is_longer),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

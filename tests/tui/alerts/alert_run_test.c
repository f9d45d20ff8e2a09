/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alert_run_test.c - checks the command of alerts: what it is passed, and how
 * often it runs.
 */
#include "tui/screen.h"

#include "base/clock.h"
#include "tui/alerts/alert.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fixture f;
static struct tui_alerts alerts;
static struct tui_alert_rules rules;

static int begin(void **state)
{
	(void)state;
	fixture_init(&f, 1);
	rules = (struct tui_alert_rules){.temperature = 90};
	return 0;
}

static int end(void **state)
{
	(void)state;
	tui_alerts_free(&alerts);
	return 0;
}

/* Whether this temperature causes a new alert. */
static bool at_degrees(int64_t temperature)
{
	f.devices[0].m[GK_M_TEMP] = present(temperature);
	return tui_alerts_update(&alerts, &rules, &f.snap);
}

static char said[] = "/tmp/gpukit-alert-XXXXXX";

/* Waits until each child has been reaped. */
static void wait_for_end(void)
{
	siginfo_t info;

	for (int i = 0; i < 3000; i++) {
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT))
			return;
		usleep(10000);
		tui_alerts_reap();
	}
	fail_msg("a child is left");
}

/*
 * It gets the alert, has no signal blocked, and runs once within its interval.
 */
static void its_command_is_run(void **state)
{
	char script[256], text[256] = "";
	char shell[] = "sh", option[] = "-c";
	char *argv[] = {shell, option, script, NULL};
	int fd = mkstemp(said);
	ssize_t n;

	(void)state;
	assert_true(fd >= 0);
	snprintf(script, sizeof script,
		 "echo \"$GPUKIT_ALERT $GPUKIT_ALERT_GPU $GPUKIT_ALERT_VALUE "
		 "$GPUKIT_ALERT_LIMIT\" >>%s",
		 said);
	rules.command = argv;
	rules.command_ns = 60 * GK_NS_PER_S;
	for (int i = 0; i < 2; i++) {
		assert_true(at_degrees(95));
		assert_int_equal(
		    tui_alerts_run(&alerts, &rules, f.snap.mono_ns), 0);
		wait_for_end();
		assert_false(at_degrees(30));
	}
	n = read(fd, text, sizeof text - 1);
	close(fd);
	unlink(said);
	assert_true(n >= 0);
	assert_string_equal(text, "temperature 0 95 90\n");
}

/* Each Xid of a burst is an alert, an event at its time, and a command. */
static void each_xid_of_a_burst_has_its_command(void **state)
{
	static const unsigned burst[] = {48, 94, 63, 94};
	char script[256], text[256] = "";
	char shell[] = "sh", option[] = "-c";
	char *argv[] = {shell, option, script, NULL};
	struct gk_xids xids = {0};
	int fd;

	(void)state;
	memcpy(said, "/tmp/gpukit-alert-XXXXXX", sizeof said);
	fd = mkstemp(said);
	assert_true(fd >= 0);
	snprintf(script, sizeof script, "echo $GPUKIT_ALERT_VALUE >>%s", said);
	rules = (struct tui_alert_rules){
	    .xid = true, .command = argv, .command_ns = 60 * GK_NS_PER_S};
	f.devices[0].m[GK_M_XID_COUNT] = present(0);
	f.devices[0].m[GK_M_XID_LAST] = present(0);
	tui_alerts_update(&alerts, &rules, &f.snap);
	for (unsigned i = 0; i < 4; i++)
		xids.last[xids.count++] = (struct gk_xid){
		    .at = i + 1,
		    .number = burst[i],
		    .wall_ns = f.snap.wall_ns - (4 - i) * GK_NS_PER_MS};
	f.devices[0].xids = &xids;
	f.devices[0].m[GK_M_XID_COUNT] = present(4);
	f.devices[0].m[GK_M_XID_LAST] = present(94);
	f.devices[0].m[GK_M_XID_TIME] = present((int64_t)f.snap.wall_ns);
	assert_true(tui_alerts_update(&alerts, &rules, &f.snap));
	assert_int_equal(tui_alerts_run(&alerts, &rules, f.snap.mono_ns), 0);
	wait_for_end();
	assert_true(pread(fd, text, sizeof text - 1, 0) > 0);
	for (unsigned i = 0; i < 3; i++) {
		char line[16];

		snprintf(line, sizeof line, "%u\n", burst[i]);
		assert_non_null(strstr(text, line));
	}
	/* The second Xid of a number came within the interval of the first. */
	assert_int_equal(strlen(text), 9);
	assert_int_equal(alerts.event_count, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(alerts.events[i].alert.value, burst[i]);
		assert_int_equal(alerts.events[i].began_ns,
				 xids.last[i].wall_ns);
	}
	/* The same values again are not news. */
	assert_false(tui_alerts_update(&alerts, &rules, &f.snap));
	assert_int_equal(alerts.event_count, 4);
	close(fd);
	unlink(said);
}

/* Commands that wait for room run when there is some. */
static void more_than_run_at_once_are_run_later(void **state)
{
	char script[256], text[1024] = "";
	char shell[] = "sh", option[] = "-c";
	char *argv[] = {shell, option, script, NULL};
	struct gk_xids xids = {0};
	size_t lines = 0;
	int fd;

	(void)state;
	memcpy(said, "/tmp/gpukit-alert-XXXXXX", sizeof said);
	fd = mkstemp(said);
	assert_true(fd >= 0);
	snprintf(script, sizeof script, "echo $GPUKIT_ALERT_VALUE >>%s", said);
	rules = (struct tui_alert_rules){
	    .xid = true, .command = argv, .command_ns = 60 * GK_NS_PER_S};
	f.devices[0].m[GK_M_XID_COUNT] = present(0);
	f.devices[0].m[GK_M_XID_LAST] = present(0);
	tui_alerts_update(&alerts, &rules, &f.snap);
	for (unsigned i = 0; i < 30; i++)
		xids.last[xids.count++] = (struct gk_xid){
		    .at = i + 1, .number = 31 + i, .wall_ns = f.snap.wall_ns};
	f.devices[0].xids = &xids;
	f.devices[0].m[GK_M_XID_COUNT] = present(30);
	f.devices[0].m[GK_M_XID_LAST] = present(60);
	f.devices[0].m[GK_M_XID_TIME] = present((int64_t)f.snap.wall_ns);
	for (int i = 0; i < 10; i++) {
		tui_alerts_update(&alerts, &rules, &f.snap);
		assert_int_equal(
		    tui_alerts_run(&alerts, &rules, f.snap.mono_ns), 0);
		wait_for_end();
	}
	assert_true(pread(fd, text, sizeof text - 1, 0) > 0);
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 30);
	close(fd);
	unlink(said);
}

static void a_command_that_is_none_is_told(void **state)
{
	char path[] = "/nonexistent/command", *argv[] = {path, NULL};

	(void)state;
	rules.command = argv;
	assert_true(at_degrees(95));
	assert_int_not_equal(tui_alerts_run(&alerts, &rules, f.snap.mono_ns),
			     0);
	wait_for_end();
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(its_command_is_run),
	    T(each_xid_of_a_burst_has_its_command),
	    T(more_than_run_at_once_are_run_later),
	    T(a_command_that_is_none_is_told),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

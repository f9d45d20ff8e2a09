/* The command of alerts: what it is told, and how often it is run. */
#include "tui/screen.h"

#include "base/clock.h"
#include "tui/alert.h"

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

/* Whether that is a new alert. */
static bool at_degrees(int64_t temperature)
{
	f.devices[0].m[GK_M_TEMP] = present(temperature);
	return tui_alerts_update(&alerts, &rules, &f.snap);
}

static char said[] = "/tmp/gpukit-alert-XXXXXX";

/* Until each child has been reaped. */
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

/* It is told of what, has no signal blocked, and runs once in its time. */
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
	    T(a_command_that_is_none_is_told),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

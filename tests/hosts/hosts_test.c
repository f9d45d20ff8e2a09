/* SPDX-License-Identifier: Apache-2.0 */
/* hosts_test.c - checks watching hosts, with shells in place of ssh. */
#include "unit.h"

#include "base/clock.h"
#include "hosts/hosts.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SNAPSHOT "echo '{\"schema\":1,\"devices\":[]}'; "

/* How much later it is for gpukit than for others. */
static uint64_t later_ns;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, clock, t);

	*t = gk_timespec((uint64_t)t->tv_sec * GK_NS_PER_S +
			 (uint64_t)t->tv_nsec + later_ns);
	return r;
}

static struct gk_hosts *begin(struct gk_hosts_options options)
{
	struct gk_hosts *hosts;

	if (!options.interval_ns)
		options.interval_ns = GK_NS_PER_S;
	assert_int_equal(gk_hosts_new(&options, &hosts), 0);
	return hosts;
}

/* Waits with poll(), as callers do. */
static void turn(struct gk_hosts *hosts)
{
	struct pollfd ready = {.fd = gk_hosts_fd(hosts), .events = POLLIN};

	assert_true(ready.fd > STDERR_FILENO);
	assert_int_equal(poll(&ready, 1, 5000), 1);
	gk_hosts_turn(hosts);
}

static struct gk_host_state await_why(struct gk_hosts *hosts, size_t at)
{
	while (!*gk_hosts_state(hosts, at).why)
		turn(hosts);
	return gk_hosts_state(hosts, at);
}

static struct gk_snapshot *await_snapshot(struct gk_hosts *hosts, size_t at)
{
	struct gk_snapshot *snap;

	while (!(snap = gk_hosts_take(hosts, at)))
		turn(hosts);
	return snap;
}

static void no_child_is_left(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void each_host_sends_snapshots_until_the_end(void **state)
{
	static const char *const names[] = {"a", "b"};
	static const char *const command[] = {
	    "sh", "-c", SNAPSHOT "exec sleep 1000", "{}", NULL};
	struct gk_hosts *hosts = begin((struct gk_hosts_options){
	    .names = names, .count = 2, .command = command});

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		gk_snapshot_free(await_snapshot(hosts, i));
		assert_string_equal(gk_hosts_state(hosts, i).name, names[i]);
		assert_string_equal(gk_hosts_state(hosts, i).why, "");
		assert_true(gk_hosts_state(hosts, i).heard_ns > 0);
		assert_null(gk_hosts_take(hosts, i));
	}
	gk_hosts_free(hosts);
	no_child_is_left();
}

static void the_command_names_the_host_and_the_interval(void **state)
{
	static const char *const names[] = {"user@a"};
	static const char *const command[] = {
	    "sh", "-c", "echo \"$0 $*\" >&2; exit 3", "<{}> {}", NULL};
	struct gk_hosts *hosts = begin(
	    (struct gk_hosts_options){.names = names,
				      .count = 1,
				      .command = command,
				      .interval_ns = 2500 * GK_NS_PER_MS});
	struct gk_host_state one = await_why(hosts, 0);

	(void)state;
	assert_string_equal(one.why, "<user@a> user@a stat --json-lines --why "
				     "--interval=2.500");
	assert_true(one.again_ns - one.away_ns == GK_NS_PER_S);
	gk_hosts_free(hosts);
	no_child_is_left();
}

/* They are polled neither too often nor too seldom. */
static void pages_have_a_command_and_intervals_of_their_own(void **state)
{
	static const struct {
		uint64_t ns;
		const char *why;
	} rows[] = {
	    {GK_NS_PER_MS, "follow http://a:1 --interval=0.100"},
	    {GK_NS_PER_S, "follow http://a:1 --interval=1.000"},
	    {60 * GK_NS_PER_S, "follow http://a:1 --interval=10.000"},
	};
	static const char *const names[] = {"http://a:1"};
	static const char *const follow[] = {
	    "sh", "-c", "echo \"$0 $*\" >&2", "follow", "{}", NULL};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct gk_hosts *hosts =
		    begin((struct gk_hosts_options){.names = names,
						    .count = 1,
						    .follow = follow,
						    .interval_ns = rows[i].ns});

		assert_string_equal(await_why(hosts, 0).why, rows[i].why);
		assert_string_equal(gk_hosts_state(hosts, 0).name, "a:1");
		gk_hosts_free(hosts);
	}
}

/* For 15 seconds and two intervals. */
static void a_silent_host_is_given_time(void **state)
{
	static const char *const names[] = {"a"};
	static const char *const command[] = {"sh", "-c", "exec sleep 1000",
					      NULL};
	struct gk_hosts *hosts =
	    begin((struct gk_hosts_options){.names = names,
					    .count = 1,
					    .command = command,
					    .interval_ns = 100 * GK_NS_PER_S});

	(void)state;
	later_ns = 200 * GK_NS_PER_S;
	turn(hosts);
	assert_string_equal(gk_hosts_state(hosts, 0).why, "");
	later_ns = 216 * GK_NS_PER_S;
	turn(hosts);
	assert_memory_equal(gk_hosts_state(hosts, 0).why,
			    "it has sent nothing for 21", 26);
	gk_hosts_free(hosts);
	later_ns = 0;
	no_child_is_left();
}

/* After 1 s, 2 s, ... */
static void a_host_that_is_away_is_tried_again(void **state)
{
	static const char *const names[] = {"a"};
	static const char *const command[] = {"/nosuch/ssh", NULL};
	struct gk_hosts *hosts = begin((struct gk_hosts_options){
	    .names = names, .count = 1, .command = command});
	static const unsigned delays_s[] = {1, 2, 4, 8, 16, 32, 32};
	uint64_t away_ns = gk_hosts_state(hosts, 0).away_ns;

	(void)state;
	for (size_t i = 0; i < COUNT(delays_s); i++) {
		struct gk_host_state now = gk_hosts_state(hosts, 0);
		double delay_s =
		    ((double)now.again_ns - (double)gk_mono_ns()) / GK_NS_PER_S;

		assert_string_equal(now.why,
				    "/nosuch/ssh: No such file or directory");
		assert_true(now.away_ns == away_ns);
		assert_true(delay_s <= delays_s[i]);
		assert_true(delay_s > 0.6 * delays_s[i]);
		later_ns += (uint64_t)(delay_s * GK_NS_PER_S) + 1;
		gk_hosts_turn(hosts);
	}
	gk_hosts_free(hosts);
	later_ns = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_host_sends_snapshots_until_the_end),
	    cmocka_unit_test(the_command_names_the_host_and_the_interval),
	    cmocka_unit_test(pages_have_a_command_and_intervals_of_their_own),
	    cmocka_unit_test(a_silent_host_is_given_time),
	    cmocka_unit_test(a_host_that_is_away_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

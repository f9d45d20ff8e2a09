/* SPDX-License-Identifier: Apache-2.0 */
/* child_test.c - checks what a command gets and how it ends. */
#include "unit.h"

#include "hosts/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int start_words(const char *const *argv, struct gk_child *ret_child)
{
	return gk_child_start((char *const *)(uintptr_t)argv, ret_child);
}

static struct gk_child start(const char *script)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct gk_child child;

	assert_int_equal(start_words(argv, &child), 0);
	return child;
}

/* Reads all that comes, up to the end of the pipe. */
static const char *read_all(int fd)
{
	static char text[256];
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	size_t len = 0;
	ssize_t n;

	do {
		assert_int_equal(poll(&ready, 1, 5000), 1);
		n = read(fd, text + len, sizeof text - 1 - len);
		assert_true(n >= 0);
		len += (size_t)n;
	} while (n);
	text[len] = '\0';
	return text;
}

static int await_end(struct gk_child *child)
{
	int status;

	while (!gk_child_has_ended(child, &status))
		usleep(1000);
	assert_int_equal(child->pid, 0);
	return status;
}

static void each_output_has_its_pipe(void **state)
{
	struct gk_child child = start("cat; echo out; echo err >&2; exit 7");
	int out = child.out, err = child.err;

	(void)state;
	assert_true(fcntl(out, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(err, F_GETFL) & O_NONBLOCK);
	assert_string_equal(read_all(out), "out\n");
	assert_string_equal(read_all(err), "err\n");
	assert_int_equal(WEXITSTATUS(await_end(&child)), 7);
	gk_child_close(&child);
	assert_int_equal(child.out, -1);
	assert_int_equal(child.err, -1);
	assert_int_equal(fcntl(out, F_GETFD), -1);
	assert_int_equal(fcntl(err, F_GETFD), -1);
	gk_child_close(&child);
}

static void it_leads_a_session_of_its_own(void **state)
{
	struct gk_child child = start("echo; exec sleep 1000");
	int status;

	(void)state;
	assert_int_equal(getsid(child.pid), child.pid);
	while (!gk_child_end(&child, &status))
		usleep(1000);
	assert_int_equal(WTERMSIG(status), SIGTERM);
	gk_child_close(&child);
}

/* This process blocks one signal and ignores another. */
static void no_signal_is_blocked_or_ignored(void **state)
{
	sigset_t blocked, before;
	struct gk_child child;

	(void)state;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGUSR2, SIG_IGN);
	child = start("kill -USR1 $$; exit 7");
	assert_int_equal(WTERMSIG(await_end(&child)), SIGUSR1);
	gk_child_close(&child);
	child = start("kill -USR2 $$; exit 7");
	assert_int_equal(WTERMSIG(await_end(&child)), SIGUSR2);
	gk_child_close(&child);
	signal(SIGUSR2, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void a_failure_leaves_nothing_open(void **state)
{
	const char *const argv[] = {"/nosuch/command", NULL};
	struct gk_child child;
	int before = count_descriptors();

	(void)state;
	assert_int_equal(start_words(argv, &child), ENOENT);
	assert_int_equal(count_descriptors(), before);
}

/* Signals that a shell catches do not stop it for long. */
static void who_does_not_listen_is_killed(void **state)
{
	struct gk_child child =
	    start("trap '' TERM; echo; while :; do sleep 1; done");
	struct pollfd ready = {.fd = child.out, .events = POLLIN};
	int status;

	(void)state;
	assert_int_equal(poll(&ready, 1, 5000), 1);
	while (!gk_child_end(&child, &status))
		usleep(1000);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	gk_child_close(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_output_has_its_pipe),
	    cmocka_unit_test(it_leads_a_session_of_its_own),
	    cmocka_unit_test(no_signal_is_blocked_or_ignored),
	    cmocka_unit_test(a_failure_leaves_nothing_open),
	    cmocka_unit_test(who_does_not_listen_is_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

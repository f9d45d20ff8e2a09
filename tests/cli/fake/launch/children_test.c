/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children_test.c - checks how a launcher ends its children, and that none
 * stays a zombie.
 */
#include "cli/fake/fake.h"
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 4 };

/* The signals that were sent, in order, each with its target. */
static struct {
	pid_t pid;
	int number;
} sent[4 * CHILDREN];
static unsigned sent_count;

/* Replaces the C library's kill(). */
int kill(pid_t pid, int number)
{
	if (sent_count < COUNT(sent)) {
		sent[sent_count].pid = pid;
		sent[sent_count++].number = number;
	}
	return (int)syscall(SYS_kill, pid, number);
}

static pid_t start(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		for (;;)
			pause();
	return pid;
}

static struct fake_children start_all(void)
{
	struct fake_children children = {.pid = calloc(CHILDREN, sizeof(pid_t)),
					 .count = CHILDREN};

	assert_non_null(children.pid);
	for (unsigned i = 0; i < CHILDREN; i++)
		children.pid[i] = start();
	sent_count = 0;
	return children;
}

static void is_gone(pid_t pid)
{
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* SIGCONT to a process that exits would undo a debugger's SIGSTOP. */
static void nothing_follows_the_signal_to_end(void **state)
{
	struct fake_children children = start_all();
	pid_t pids[CHILDREN];

	(void)state;
	for (unsigned i = 0; i < CHILDREN; i++)
		pids[i] = children.pid[i];
	fake_children_end(&children);
	for (unsigned i = 0; i < CHILDREN; i++) {
		int last = 0;

		for (unsigned k = 0; k < sent_count; k++)
			if (sent[k].pid == pids[i])
				last = sent[k].number;
		assert_int_equal(last, SIGTERM);
		is_gone(pids[i]);
	}
	assert_null(children.pid);
	assert_int_equal(children.count, 0);
}

static void stopped_ones_end_too(void **state)
{
	struct fake_children children = start_all();
	pid_t pid = children.pid[1];
	int status;

	(void)state;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	fake_children_end(&children);
	is_gone(pid);
}

static void those_that_ended_are_forgotten(void **state)
{
	struct fake_children children = start_all();
	pid_t ended = children.pid[1], last = children.pid[CHILDREN - 1];
	siginfo_t info;

	(void)state;
	fake_children_reap(&children);
	assert_int_equal(children.count, CHILDREN);
	assert_int_equal(kill(ended, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT),
			 0);
	fake_children_reap(&children);
	assert_int_equal(children.count, CHILDREN - 1);
	assert_int_equal(children.pid[CHILDREN - 2], last);
	is_gone(ended);
	fake_children_end(&children);
	is_gone(last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_follows_the_signal_to_end),
	    cmocka_unit_test(stopped_ones_end_too),
	    cmocka_unit_test(those_that_ended_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

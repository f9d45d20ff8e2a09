/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_test.c - checks that a crash restores the terminal, with stack left or
 * without.
 */
#include "tui/screen/crash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static const char given_back[] = "GIVEN BACK";

static struct {
	int master, line;
	struct termios modes;
} pty;

static int begin(void **state)
{
	(void)state;
	pty.master = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(pty.master >= 0);
	assert_int_equal(grantpt(pty.master) | unlockpt(pty.master), 0);
	pty.line = open(ptsname(pty.master), O_RDWR | O_NOCTTY);
	assert_true(pty.line >= 0);
	assert_int_equal(tcgetattr(pty.line, &pty.modes), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	close(pty.line);
	close(pty.master);
	return 0;
}

/* Sets the terminal as a viewer does. */
static void take_terminal(void)
{
	struct rlimit small = {256 * 1024, 256 * 1024}, none = {0, 0};
	struct termios raw = pty.modes;

	setrlimit(RLIMIT_STACK, &small);
	setrlimit(RLIMIT_CORE, &none);
	dup2(pty.line, STDOUT_FILENO);
	tui_crash_catch();
	tui_crash_add(given_back);
	cfmakeraw(&raw);
	tcsetattr(STDOUT_FILENO, TCSANOW, &raw);
}

static volatile int deepest =
    -1; /* no value: only the compiler must not know it */

/* Recursion that the compiler must not turn into a loop. */
static int __attribute__((noinline)) overflow(int depth)
{
	volatile char frame[1024];

	frame[0] = (char)depth;
	if (depth == deepest)
		return 0;
	return overflow(depth + 1) + frame[0];
}

static void abort_it(void)
{
	abort();
}

static void overflow_it(void)
{
	overflow(0);
}

static void nothing_after_release(void)
{
	tcsetattr(STDOUT_FILENO, TCSANOW, &pty.modes);
	tui_crash_release();
	raise(SIGSEGV);
}

static void check(void (*crash)(void), int number, bool told)
{
	struct termios now;
	char text[64] = "";
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		take_terminal();
		crash();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), number);
	fcntl(pty.master, F_SETFL, O_NONBLOCK);
	(void)!read(pty.master, text, sizeof text - 1);
	assert_string_equal(text, told ? given_back : "");
	assert_int_equal(tcgetattr(pty.line, &now), 0);
	assert_int_equal(now.c_lflag, pty.modes.c_lflag);
	assert_int_equal(now.c_iflag, pty.modes.c_iflag);
	assert_int_equal(now.c_oflag, pty.modes.c_oflag);
}

static void abort_gives_it_back(void **state)
{
	(void)state;
	check(abort_it, SIGABRT, true);
}

static void a_stack_that_is_full_gives_it_back(void **state)
{
	(void)state;
	check(overflow_it, SIGSEGV, true);
}

static void what_is_released_is_left_alone(void **state)
{
	(void)state;
	check(nothing_after_release, SIGSEGV, false);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(abort_gives_it_back),
	    T(a_stack_that_is_full_gives_it_back),
	    T(what_is_released_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pidstat_test.c - checks parsing the line that the kernel writes about a
 * process.
 */
#include "unit.h"

#include "base/err.h"
#include "base/pidstat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Fields 4 to 24; 14, 15, 18, 19, 20, 22 and 24 are used. */
#define REST " S 10 0 0 0 -1 4194560 1 2 3 4 700 80 5 6 20 0 9 0 123456 999 77"

static struct gk_pidstat parse(const char *line)
{
	struct gk_pidstat st = {0};

	assert_int_equal(gk_pidstat_parse(line, &st), 0);
	return st;
}

static void the_fields_are_where_the_kernel_puts_them(void **state)
{
	struct gk_pidstat st = parse("4242 (python)" REST " 0 0 0\n");

	(void)state;
	assert_int_equal(st.pid, 4242);
	assert_int_equal(st.ppid, 10);
	assert_string_equal(st.comm, "python");
	assert_int_equal(st.state, 'S');
	assert_int_equal(st.utime, 700);
	assert_int_equal(st.stime, 80);
	assert_int_equal(st.priority, 20);
	assert_int_equal(st.nice, 0);
	assert_int_equal(st.threads, 9);
	st = parse("7 (x) S 1 0 0 0 -1 0 1 2 3 4 7 8 5 6 -51 -5 9 0 1 9 7");
	assert_int_equal(st.priority, -51);
	assert_int_equal(st.nice, -5);
	st = parse("4242 (python)" REST " 0 0 0\n");
	assert_int_equal(st.start, 123456);
	assert_int_equal(st.rss_pages, 77);
	assert_int_equal(st.stack, 0);
	st = parse("4242 (python)" REST " 18446744073709551615 1 2 140721 3\n");
	assert_int_equal(st.stack, 140721);
}

static void a_name_may_hold_anything(void **state)
{
	static const char *const names[] = {
	    "",       "(",    ")",         "a) R 1 2 3 (b", "x y",
	    "((()))", "a\nb", ") S 1 1 1", "\x1b[0m\xff",   "kworker/u8:0-ev",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		char line[256];
		struct gk_pidstat st;

		snprintf(line, sizeof line, "7 (%s)" REST "\n", names[i]);
		st = parse(line);
		assert_string_equal(st.comm, names[i]);
		assert_int_equal(st.pid, 7);
		assert_int_equal(st.ppid, 10);
		assert_int_equal(st.rss_pages, 77);
	}
}

static void a_long_name_is_cut(void **state)
{
	char line[512] = "7 (", name[200];

	(void)state;
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	strcat(line, name);
	strcat(line, ")" REST);
	assert_int_equal(strlen(parse(line).comm),
			 sizeof((struct gk_pidstat *)0)->comm - 1);
}

/* Every prefix of a line that lacks a field, and other junk. */
static void damaged_lines_are_refused(void **state)
{
	static const char whole[] = "4242 (py)" REST;
	static const char *const junk[] = {
	    "",
	    "7",
	    "7 (x",
	    "7 x)",
	    ")x( S 1",
	    "7 (x)",
	    "7 (x) ",
	    "7 (x) S",
	    "(x)" REST,
	    "pid (x)" REST,
	    "7 (x) S a b c d e f g h i j k l m n o p q r s t u",
	};
	struct gk_pidstat st = {.pid = -5};
	size_t last_field = strlen(whole) - 2;

	(void)state;
	for (size_t len = 0; len <= last_field; len++) {
		char line[256];

		memcpy(line, whole, len);
		line[len] = '\0';
		if (gk_pidstat_parse(line, &st) != GK_ERR_CORRUPT)
			fail_msg("taken: \"%s\"", line);
	}
	for (size_t i = 0; i < COUNT(junk); i++)
		if (gk_pidstat_parse(junk[i], &st) != GK_ERR_CORRUPT)
			fail_msg("taken: \"%s\"", junk[i]);
	assert_int_equal(st.pid, -5);
}

static void huge_numbers_do_not_wrap(void **state)
{
	struct gk_pidstat st =
	    parse("2147483647 (x) R 1 1 1 0 -1 0 0 0 0 0 "
		  "99999999999999999999999 18446744073709551615 0 0 20 0 1 0 "
		  "18446744073709551615 0 18446744073709551615\n");

	(void)state;
	assert_int_equal(st.pid, INT32_MAX);
	assert_true(st.utime == UINT64_MAX);
	assert_true(st.stime == UINT64_MAX);
	assert_true(st.start == UINT64_MAX);
	assert_true(st.rss_pages == UINT64_MAX);
}

static void the_own_process_is_found(void **state)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	struct gk_pidstat st;

	(void)state;
	assert_true(proc >= 0);
	prctl(PR_SET_NAME, "a) (b c");
	assert_int_equal(gk_pidstat_read(proc, getpid(), &st), 0);
	assert_int_equal(st.pid, getpid());
	assert_int_equal(st.ppid, getppid());
	assert_string_equal(st.comm, "a) (b c");
	assert_true(st.rss_pages > 0);
	assert_true(st.threads >= 1);
	close(proc);
}

static void a_process_that_is_gone_is_not_found(void **state)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	struct gk_pidstat st = {.pid = -5};
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(gk_pidstat_read(proc, pid, &st), GK_ERR_NOT_FOUND);
	assert_int_equal(st.pid, -5);
	close(proc);
}

/* The kernel returns an empty file when the process ends during the read. */
static void an_empty_file_is_a_process_that_is_gone(void **state)
{
	char dir[] = "/tmp/gpukit-pidstat-XXXXXX";
	struct gk_pidstat st;
	int at;

	(void)state;
	assert_non_null(mkdtemp(dir));
	at = open(dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(mkdirat(at, "9", 0700), 0);
	close(openat(at, "9/stat", O_CREAT | O_WRONLY, 0600));
	assert_int_equal(gk_pidstat_read(at, 9, &st), GK_ERR_NOT_FOUND);
	unlinkat(at, "9/stat", 0);
	unlinkat(at, "9", AT_REMOVEDIR);
	close(at);
	rmdir(dir);
}

static void write_stat(int at, const char *line)
{
	int fd = openat(at, "9/stat", O_CREAT | O_WRONLY | O_TRUNC, 0600);

	assert_int_equal(write(fd, line, strlen(line)), strlen(line));
	close(fd);
}

/* Nothing of the line that was read before, which was longer. */
static void a_line_ends_where_its_file_ends(void **state)
{
	char dir[] = "/tmp/gpukit-pidstat-XXXXXX", line[1000] = "9 (x)" REST;
	struct gk_pidstat st;
	int at;

	(void)state;
	assert_non_null(mkdtemp(dir));
	at = open(dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(mkdirat(at, "9", 0700), 0);
	memset(line + strlen(line), '7', sizeof line - 1 - strlen(line));
	write_stat(at, line);
	assert_int_equal(gk_pidstat_read(at, 9, &st), 0);
	assert_true(st.rss_pages == UINT64_MAX);
	write_stat(at, "9 (x)" REST);
	assert_int_equal(gk_pidstat_read(at, 9, &st), 0);
	assert_int_equal(st.rss_pages, 77);
	unlinkat(at, "9/stat", 0);
	unlinkat(at, "9", AT_REMOVEDIR);
	close(at);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_fields_are_where_the_kernel_puts_them),
	    cmocka_unit_test(a_name_may_hold_anything),
	    cmocka_unit_test(a_long_name_is_cut),
	    cmocka_unit_test(damaged_lines_are_refused),
	    cmocka_unit_test(huge_numbers_do_not_wrap),
	    cmocka_unit_test(the_own_process_is_found),
	    cmocka_unit_test(a_process_that_is_gone_is_not_found),
	    cmocka_unit_test(an_empty_file_is_a_process_that_is_gone),
	    cmocka_unit_test(a_line_ends_where_its_file_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

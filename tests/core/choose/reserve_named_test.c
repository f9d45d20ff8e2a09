/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserve_named_test.c - checks the file of reservations as others find it when
 * its maker was killed.
 */
#include "unit.h"

#include "core/choose/reserve.h"

#include <gpukit/gpukit.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIED 77

static char dir[] = "/tmp/gpukit-reserve-XXXXXX";
static char path[64], target[64];

/* ---- where makers die, and what the file system cannot do ---- */

static bool dies_at_fchmod, all_files_have_names;
static const char *planted; /* put there by somebody while a file is made */

int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);
int __real_openat(int at, const char *name, int flags, ...);
int __wrap_openat(int at, const char *name, int flags, ...);

int __wrap_fchmod(int fd, mode_t mode)
{
	if (dies_at_fchmod)
		_exit(DIED);
	if (planted) {
		assert_int_equal(symlink(planted, path), 0);
		planted = NULL;
	}
	return __real_fchmod(fd, mode);
}

int __wrap_openat(int at, const char *name, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(args, mode_t);
	va_end(args);
	if ((flags & O_TMPFILE) == O_TMPFILE && all_files_have_names) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_openat(at, name, flags, mode);
}

/* ---- places ---- */

static int setup(void **state)
{
	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/locks", dir);
	snprintf(target, sizeof target, "%s/target", dir);
	umask(077);
	all_files_have_names = false;
	planted = NULL;
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", dir);
	return system(command);
}

static unsigned count_files(void)
{
	DIR *list = opendir(dir);
	struct dirent *entry;
	unsigned n = 0;

	assert_non_null(list);
	while ((entry = readdir(list)))
		n += entry->d_name[0] != '.';
	closedir(list);
	return n;
}

static void assert_made(void)
{
	struct gk_reserve_bar bar;
	struct stat opened, named;
	int fd;

	assert_int_equal(gk_reserve_open(path, true, &fd, &bar), 0);
	assert_int_equal(bar.kind, GK_BAR_NONE);
	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(lstat(path, &named), 0);
	assert_int_equal(opened.st_ino, named.st_ino);
	assert_int_equal(named.st_mode, S_IFREG | 0666);
	assert_int_equal(named.st_nlink, 1);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

static void die_making(void)
{
	struct gk_reserve_bar bar;
	int fd, status;
	pid_t maker = fork();

	assert_true(maker >= 0);
	if (!maker) {
		dies_at_fchmod = true;
		gk_reserve_open(path, true, &fd, &bar);
		_exit(0);
	}
	assert_int_equal(waitpid(maker, &status, 0), maker);
	assert_int_equal(WEXITSTATUS(status), DIED);
}

/* ---- the tests ---- */

static void a_maker_that_dies_leaves_no_closed_file(void **state)
{
	(void)state;
	die_making();
	assert_int_equal(count_files(), 0);
	assert_made();
	assert_int_equal(count_files(), 1);
}

static void nor_does_one_where_all_files_have_names(void **state)
{
	struct stat st;

	(void)state;
	all_files_have_names = true;
	die_making();
	assert_int_equal(lstat(path, &st), -1);
	assert_made();
	assert_int_equal(count_files(), 2); /* and the dead maker's file */
	assert_int_equal(unlink(path), 0);
	assert_made();
	assert_int_equal(count_files(), 2);
}

/* What appears there while the file is made is not followed or replaced. */
static void what_comes_between_is_in_the_way(void **state)
{
	struct gk_reserve_bar bar;
	int fd;

	(void)state;
	for (int i = 0; i < 2; i++) {
		all_files_have_names = i;
		planted = target;
		assert_int_equal(gk_reserve_open(path, true, &fd, &bar),
				 GK_ERR_PERMISSION);
		assert_int_equal(fd, -1);
		assert_int_equal(bar.kind, GK_BAR_KIND);
		assert_true(S_ISLNK(bar.mode));
		assert_int_equal(access(target, F_OK), -1);
		assert_int_equal(count_files(), 1);
		assert_int_equal(unlink(path), 0);
	}
}

static void who_looks_makes_nothing(void **state)
{
	struct gk_reserve_bar bar;
	int fd;

	(void)state;
	assert_int_equal(gk_reserve_open(path, false, &fd, &bar), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(count_files(), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(a_maker_that_dies_leaves_no_closed_file),
	    T(nor_does_one_where_all_files_have_names),
	    T(what_comes_between_is_in_the_way),
	    T(who_looks_makes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

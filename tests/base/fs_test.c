/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fs_test.c - checks small files: read completely, replaced completely or not
 * at all.
 */
#include "can.h"
#include "unit.h"

#include "base/err.h"
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char dir[64];

/*
 * How many calls are interrupted by a signal; how many bytes a write takes at
 * most.
 */
static _Thread_local unsigned interrupts;
static _Thread_local size_t write_most = SIZE_MAX;

static bool is_interrupted(void)
{
	if (!interrupts)
		return false;
	interrupts--;
	errno = EINTR;
	return true;
}

ssize_t read(int fd, void *buf, size_t len)
{
	return is_interrupted() ? -1 : syscall(SYS_read, fd, buf, len);
}

ssize_t write(int fd, const void *buf, size_t len)
{
	if (is_interrupted())
		return -1;
	return syscall(SYS_write, fd, buf, len < write_most ? len : write_most);
}

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/gpukit-fs-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	return system(command);
}

static const char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static unsigned entries(const char *path)
{
	DIR *d = opendir(path);
	unsigned count = 0;
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)))
		count += e->d_name[0] != '.';
	closedir(d);
	return count;
}

static void reading_stops_at_the_room(void **state)
{
	char buf[9];

	(void)state;
	assert_int_equal(gk_write_atomic(in_dir("f"), "0123456789", 10, 0600),
			 0);
	memset(buf, '#', sizeof buf);
	assert_int_equal(gk_read_at(AT_FDCWD, in_dir("f"), buf, 8), 7);
	assert_memory_equal(buf, "0123456\0#", 9);
	assert_int_equal(gk_read_at(AT_FDCWD, in_dir("f"), buf, 1), 0);
	assert_string_equal(buf, "");
}

static void reading_takes_all_there_is(void **state)
{
	char buf[64] = "junk";
	int at = open(dir, O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_int_equal(gk_write_atomic(in_dir("f"), "a\0b", 3, 0600), 0);
	assert_int_equal(gk_write_atomic(in_dir("empty"), "", 0, 0600), 0);
	assert_int_equal(gk_read_at(at, "f", buf, sizeof buf), 3);
	assert_memory_equal(buf, "a\0b", 4);
	assert_int_equal(gk_read_at(at, "f", buf, 4), 3);
	assert_int_equal(gk_read_at(at, "empty", buf, sizeof buf), 0);
	assert_string_equal(buf, "");
	close(at);
}

static void signals_and_short_writes_do_not_matter(void **state)
{
	char buf[32] = "";

	(void)state;
	write_most = 3;
	interrupts = 2;
	assert_int_equal(gk_write_atomic(in_dir("f"), "0123456789", 10, 0600),
			 0);
	write_most = SIZE_MAX;
	assert_int_equal(interrupts, 0);
	interrupts = 3;
	assert_int_equal(gk_read_at(AT_FDCWD, in_dir("f"), buf, sizeof buf),
			 10);
	assert_int_equal(interrupts, 0);
	assert_string_equal(buf, "0123456789");
}

static void what_cannot_be_read_is_an_error(void **state)
{
	char buf[8];

	(void)state;
	assert_int_equal(gk_read_at(AT_FDCWD, in_dir("none"), buf, 8),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gk_read_at(AT_FDCWD, dir, buf, 8), GK_ERR_IO);
	assert_int_equal(gk_read_at(-1, "none", buf, 8), GK_ERR_IO);
}

static void a_file_is_replaced_whole(void **state)
{
	char buf[64];
	struct stat st;

	(void)state;
	assert_int_equal(gk_write_atomic(in_dir("f"), "a long text", 11, 0640),
			 0);
	assert_int_equal(gk_write_atomic(in_dir("f"), "new", 3, 0600), 0);
	assert_int_equal(gk_read_at(AT_FDCWD, in_dir("f"), buf, sizeof buf), 3);
	assert_string_equal(buf, "new");
	assert_int_equal(stat(in_dir("f"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(entries(dir), 1);
}

static void a_failure_leaves_nothing_behind(void **state)
{
	(void)state;
	assert_int_equal(gk_write_atomic(in_dir("gone/f"), "x", 1, 0600),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(mkdir(in_dir("d"), 0700), 0);
	/* A file cannot replace a directory. */
	assert_true(gk_write_atomic(in_dir("d"), "x", 1, 0600) < 0);
	assert_int_equal(entries(dir), 1);
	assert_int_equal(entries(in_dir("d")), 0);
}

static void a_path_too_long_is_refused(void **state)
{
	char path[5000];

	(void)state;
	memset(path, 'p', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	assert_int_equal(gk_write_atomic(path, "x", 1, 0600), GK_ERR_INVALID);
}

/*
 * A file left by an earlier process with the same pid must not prevent writing.
 */
static void leftovers_do_not_stop_writing(void **state)
{
	char name[64];

	(void)state;
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "f.%d.%d.tmp", (int)getpid(), i);
		close(open(in_dir(name), O_CREAT | O_WRONLY, 0600));
	}
	snprintf(name, sizeof name, "f.%d.tmp", (int)getpid());
	close(open(in_dir(name), O_CREAT | O_WRONLY, 0600));
	assert_int_equal(gk_write_atomic(in_dir("f"), "new", 3, 0600), 0);
}

enum { WRITERS = 4, ROUNDS = 50, BYTES = 20000 };

static void *write_often(void *arg)
{
	const char *letter = arg;
	char path[128], *text = malloc(BYTES);

	snprintf(path, sizeof path, "%s/shared", dir);
	memset(text, *letter, BYTES);
	for (int i = 0; i < ROUNDS; i++)
		if (gk_write_atomic(path, text, BYTES, 0600)) {
			free(text);
			return arg;
		}
	free(text);
	return NULL;
}

static void threads_that_write_at_once_leave_one_whole_text(void **state)
{
	static char letters[WRITERS] = "abcd";
	pthread_t thread[WRITERS];
	char buf[BYTES + 2];
	void *failed;

	(void)state;
	for (int i = 0; i < WRITERS; i++)
		pthread_create(&thread[i], NULL, write_often, &letters[i]);
	for (int i = 0; i < WRITERS; i++) {
		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
	assert_int_equal(
	    gk_read_at(AT_FDCWD, in_dir("shared"), buf, sizeof buf), BYTES);
	for (int i = 1; i < BYTES; i++)
		assert_int_equal(buf[i], buf[0]);
	assert_int_equal(entries(dir), 1);
}

static void a_full_disk_keeps_the_old_text(void **state)
{
	char mount_point[128], path[160], buf[16], *text;

	(void)state;
	snprintf(mount_point, sizeof mount_point, "%s", in_dir("tmpfs"));
	snprintf(path, sizeof path, "%s/f", mount_point);
	assert_int_equal(mkdir(mount_point, 0700), 0);
	if (mount("none", mount_point, "tmpfs", 0, "size=64k"))
		CANNOT("mounts-of-root", strerror(errno));
	text = calloc(1, 1 << 20);
	assert_int_equal(gk_write_atomic(path, "old", 3, 0600), 0);
	assert_int_equal(gk_write_atomic(path, text, 1 << 20, 0600),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gk_read_at(AT_FDCWD, path, buf, sizeof buf), 3);
	assert_string_equal(buf, "old");
	assert_int_equal(entries(mount_point), 1);
	free(text);
	umount(mount_point);
}

static void a_private_directory_is_ones_own(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(gk_make_private_dir(in_dir("p")), 0);
	assert_int_equal(stat(in_dir("p"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(gk_make_private_dir(in_dir("p")), 0);
	assert_int_equal(gk_make_private_dir(in_dir("no/p")), GK_ERR_NOT_FOUND);
}

static void directories_of_others_are_refused(void **state)
{
	char target[128];

	(void)state;
	snprintf(target, sizeof target, "%s", in_dir("target"));
	assert_int_equal(mkdir(target, 0700), 0);
	assert_int_equal(symlink(target, in_dir("link")), 0);
	assert_int_equal(gk_make_private_dir(in_dir("link")),
			 GK_ERR_PERMISSION);
	assert_int_equal(symlink("nowhere", in_dir("dangling")), 0);
	assert_int_equal(gk_make_private_dir(in_dir("dangling")),
			 GK_ERR_PERMISSION);
	close(open(in_dir("file"), O_CREAT | O_WRONLY, 0600));
	assert_int_equal(gk_make_private_dir(in_dir("file")),
			 GK_ERR_PERMISSION);
	assert_int_equal(mkdir(in_dir("open"), 0700), 0);
	assert_int_equal(chmod(in_dir("open"), 0777), 0);
	assert_int_equal(gk_make_private_dir(in_dir("open")),
			 GK_ERR_PERMISSION);
	if (geteuid() == 0) {
		assert_int_equal(chown(target, 12345, 12345), 0);
		assert_int_equal(gk_make_private_dir(in_dir("target")),
				 GK_ERR_PERMISSION);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)
	const struct CMUnitTest tests[] = {
	    T(reading_stops_at_the_room),
	    T(reading_takes_all_there_is),
	    T(signals_and_short_writes_do_not_matter),
	    T(what_cannot_be_read_is_an_error),
	    T(a_file_is_replaced_whole),
	    T(a_failure_leaves_nothing_behind),
	    T(a_path_too_long_is_refused),
	    T(leftovers_do_not_stop_writing),
	    T(threads_that_write_at_once_leave_one_whole_text),
	    T(a_full_disk_keeps_the_old_text),
	    T(a_private_directory_is_ones_own),
	    T(directories_of_others_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserve_open_test.c - checks making and opening the file of reservations, and
 * what prevents it.
 */
#include "can.h"
#include "core/reserve_tree.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define STRANGER 12345 /* a user that no test uses */

/* Checks that opening it is refused at once, for reading or for reserving. */
static void refused(bool to_take, enum gk_reserve_bar_kind kind, uid_t owner,
		    mode_t mode)
{
	int fd = 99;

	assert_int_equal(gk_reserve_open(path, to_take, &fd, &bar),
			 GK_ERR_PERMISSION);
	assert_int_equal(fd, -1);
	check_bar(kind, owner, mode);
}

static void refused_by_errno(bool to_take, int error, int err)
{
	int fd = 99;

	assert_int_equal(gk_reserve_open(path, to_take, &fd, &bar), err);
	assert_int_equal(fd, -1);
	assert_int_equal(bar.kind, GK_BAR_ERROR);
	assert_int_equal(bar.error, error);
	assert_int_equal(bar.owner, GK_RESERVE_NOBODY);
}

/* ---- the file ---- */

static void who_only_looks_makes_no_file(void **state)
{
	int fd = 99;

	(void)state;
	assert_int_equal(gk_reserve_open(path, false, &fd, &bar), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(bar.kind, GK_BAR_NONE);
	assert_int_equal(access(path, F_OK), -1);
	/* A missing directory is no obstacle either. */
	strcat(dir, "x");
	snprintf(path, sizeof path, "%s/file", dir);
	fd = 99;
	assert_int_equal(gk_reserve_open(path, false, &fd, &bar), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(bar.kind, GK_BAR_NONE);
	refused_by_errno(true, ENOENT, GK_ERR_NOT_FOUND);
	dir[strlen(dir) - 1] = '\0';
}

static void the_file_is_made_for_everybody(void **state)
{
	mode_t mask = umask(077);
	struct stat st;
	int fd = take_file();

	(void)state;
	umask(mask);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0666);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	close(fd);
	/*
	 * The next process opens the same file, whatever its mode: it is ours.
	 */
	assert_int_equal(chmod(path, 0600), 0);
	close(take_file());
	assert_int_equal(gk_reserve_open(path, false, &fd, &bar), 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(bar.kind, GK_BAR_NONE);
	close(fd);
}

static void what_is_no_file_is_not_used(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uid_t me = geteuid();

	(void)state;
	assert_int_equal(symlink("/dev/null", path), 0);
	refused(true, GK_BAR_KIND, me, S_IFLNK | 0777);
	refused(false, GK_BAR_KIND, me, S_IFLNK | 0777);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0640), 0);
	refused(true, GK_BAR_KIND, me, S_IFIFO | 0640);
	refused(false, GK_BAR_KIND, me, S_IFIFO | 0640);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0750), 0);
	refused(true, GK_BAR_KIND, me, S_IFDIR | 0750);
	refused(false, GK_BAR_KIND, me, S_IFDIR | 0750);
	assert_int_equal(rmdir(path), 0);
	snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(chmod(path, 0700), 0);
	refused(true, GK_BAR_KIND, me, S_IFSOCK | 0700);
	close(fd);
}

static void a_path_through_a_file_is_an_error(void **state)
{
	(void)state;
	close(take_file());
	strcat(path, "/file");
	refused_by_errno(true, ENOTDIR, GK_ERR_NOT_FOUND);
	refused_by_errno(false, ENOTDIR, GK_ERR_NOT_FOUND);
}

static void a_name_that_is_too_long_is_an_error(void **state)
{
	char name[NAME_MAX + 2];

	(void)state;
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_int_equal(chdir(dir), 0);
	for (int to_take = 0; to_take < 2; to_take++) {
		int fd;

		assert_int_equal(gk_reserve_open(name, to_take, &fd, &bar),
				 GK_ERR_INVALID);
		assert_int_equal(bar.kind, GK_BAR_ERROR);
		assert_int_equal(bar.error, ENAMETOOLONG);
	}
	assert_int_equal(chdir("/"), 0);
}

/* Opens DIR/././.../file with a path of this many letters before the file. */
static int open_long(size_t letters)
{
	static char longest[PATH_MAX + 16];
	int fd = -1, err;

	memset(longest, '/', sizeof longest);
	memcpy(longest, dir, strlen(dir));
	strcpy(longest + letters, "/file");
	err = gk_reserve_open(longest, true, &fd, &bar);
	assert_int_equal(err ? -1 : 0, fd < 0 ? -1 : 0);
	close(fd);
	return err;
}

static void the_longest_path_of_the_kernel_is_the_longest(void **state)
{
	(void)state;
	assert_int_equal(open_long(PATH_MAX - 2), 0);
	assert_int_equal(bar.kind, GK_BAR_NONE);
	assert_int_equal(open_long(PATH_MAX - 1), GK_ERR_INVALID);
	assert_int_equal(bar.kind, GK_BAR_ERROR);
	assert_int_equal(bar.error, ENAMETOOLONG);
}

static void a_path_may_begin_anywhere(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(gk_reserve_open("file", true, &fd, &bar), 0);
	close(fd);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(chdir("/"), 0);
	strcpy(path, "/proc");
	assert_int_equal(stat(path, &st), 0);
	refused(false, GK_BAR_KIND, st.st_uid, st.st_mode);
}

/* ---- its directory ---- */

static void a_directory_that_all_may_write_is_sticky(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(chmod(dir, 0777), 0);
	refused(true, GK_BAR_DIRECTORY, geteuid(), S_IFDIR | 0777);
	/* A mere reader is warned, and can read. */
	close(open(path, O_CREAT | O_WRONLY, 0666));
	assert_int_equal(gk_reserve_open(path, false, &fd, &bar), 0);
	assert_true(fd >= 0);
	check_bar(GK_BAR_DIRECTORY, geteuid(), S_IFDIR | 0777);
	close(fd);
	assert_int_equal(chmod(dir, 01777), 0);
	close(take_file());
	assert_int_equal(chmod(dir, 0775), 0);
	close(take_file());
}

/* ---- other users ---- */

static void a_stranger_may_own_neither_directory(void **state)
{
	(void)state;
	need_root();
	assert_int_equal(chown(dir, STRANGER, 0), 0);
	refused(true, GK_BAR_DIRECTORY, STRANGER, S_IFDIR | 0700);
}

/* Others would not see what root reserves in their private file. */
static void a_strangers_file_must_be_open_to_all(void **state)
{
	int fd;

	(void)state;
	need_root();
	close(take_file());
	assert_int_equal(chown(path, STRANGER, 0), 0);
	close(take_file());
	for (mode_t bit = 0400; bit; bit >>= 1) {
		bool matters = bit & 0666;

		assert_int_equal(chmod(path, 0777 & ~bit), 0);
		if (matters)
			refused(true, GK_BAR_CLOSED, STRANGER,
				S_IFREG | (0777 & ~bit));
		else
			close(take_file());
		assert_int_equal(gk_reserve_open(path, false, &fd, &bar), 0);
		assert_true(fd >= 0);
		assert_int_equal(bar.kind, GK_BAR_NONE);
		close(fd);
	}
}

/* Runs a test as another user in a child, which answers by its exit code. */
static void as_stranger(void (*test)(void))
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		if (setgid(STRANGER) || setuid(STRANGER))
			_exit(3);
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Ends the child if the condition does not hold. */
#define CHILD(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s\n", #condition);                   \
			_exit(1);                                              \
		}                                                              \
	} while (0)

static void see_a_closed_file(void)
{
	int fd;

	CHILD(gk_reserve_open(path, true, &fd, &bar) == GK_ERR_PERMISSION);
	CHILD(fd == -1 && bar.kind == GK_BAR_CLOSED && bar.owner == 0);
	CHILD(bar.mode == (S_IFREG | 0600));
	CHILD(gk_reserve_open(path, false, &fd, &bar) == GK_ERR_PERMISSION);
	CHILD(bar.kind == GK_BAR_CLOSED);
}

static void a_closed_file_is_told(void **state)
{
	(void)state;
	need_root();
	assert_int_equal(chmod(dir, 0755), 0);
	close(take_file());
	assert_int_equal(chmod(path, 0600), 0);
	as_stranger(see_a_closed_file);
}

static void fail_to_make_it(void)
{
	int fd;

	/* Root's directory is as good as the user's own. */
	CHILD(gk_reserve_open(path, true, &fd, &bar) == GK_ERR_PERMISSION);
	CHILD(bar.kind == GK_BAR_ERROR && bar.error == EACCES);
	CHILD(bar.owner == GK_RESERVE_NOBODY);
}

static void who_may_not_make_it_is_told(void **state)
{
	(void)state;
	need_root();
	assert_int_equal(chmod(dir, 0755), 0);
	as_stranger(fail_to_make_it);
}

/* Alone in a user namespace: all others have the overflow id. */
static void take_from_within(void)
{
	int fd, map;

	/* The /proc files of a process that changed its user belong to root. */
	if (prctl(PR_SET_DUMPABLE, 1) || unshare(CLONE_NEWUSER))
		_exit(77);
	map = open("/proc/self/uid_map", O_WRONLY);
	CHILD(map >= 0 && write(map, "0 12345 1\n", 10) == 10);
	CHILD(gk_reserve_open(path, true, &fd, &bar) == 0);
	CHILD(bar.kind == GK_BAR_NONE);
	_exit(0);
}

static void who_is_outside_of_a_container_is_no_stranger(void **state)
{
	pid_t child;
	int status;

	(void)state;
	need_root();
	close(take_file());
	assert_int_equal(chown(dir, STRANGER + 1, 0), 0);
	assert_int_equal(chmod(dir, 0755), 0);
	refused(true, GK_BAR_DIRECTORY, STRANGER + 1, S_IFDIR | 0755);
	/* Outside of namespaces the overflow id is a user like any other. */
	assert_int_equal(chown(dir, 65534, 0), 0);
	refused(true, GK_BAR_DIRECTORY, 65534, S_IFDIR | 0755);
	assert_int_equal(chown(dir, STRANGER + 1, 0), 0);
	child = fork();
	if (!child) {
		if (setgid(STRANGER) || setuid(STRANGER))
			_exit(3);
		take_from_within();
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WEXITSTATUS(status) == 77)
		CANNOT("user-namespaces", "unshare() refuses");
	assert_int_equal(status, 0);
}

/* ---- the place ---- */

/*
 * Which file is the host's when /run/lock is like this: 1 the one there, 2
 * another.
 */
static int place_with(const char *root)
{
	pid_t child = fork();
	int status;

	if (!child) {
		const char *place;

		if (chroot(root))
			_exit(77);
		place = gk_reserve_path();
		if (!strcmp(place, "/run/lock/gpukit-reservations"))
			_exit(1);
		_exit(strcmp(place, "/dev/shm/gpukit-reservations") ? 3 : 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WEXITSTATUS(status) == 77)
		CANNOT("roots-of-its-own", "chroot() refuses");
	return WEXITSTATUS(status);
}

static void all_users_must_be_able_to_write_the_place(void **state)
{
	static const struct {
		mode_t mode;
		int place;
	} cases[] = {{01777, 1}, {0777, 2}, {01775, 2}, {0755, 2}};
	char run[96], run_lock[128];

	(void)state;
	need_root();
	assert_int_equal(place_with(dir), 2);
	snprintf(run, sizeof run, "%s/run", dir);
	snprintf(run_lock, sizeof run_lock, "%s/lock", run);
	assert_int_equal(mkdir(run, 0755), 0);
	assert_int_equal(mkdir(run_lock, 0755), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(chmod(run_lock, cases[i].mode), 0);
		assert_int_equal(place_with(dir), cases[i].place);
	}
	assert_int_equal(rmdir(run_lock), 0);
	close(open(run_lock, O_CREAT | O_WRONLY, 0666));
	assert_int_equal(chmod(run_lock, 01777), 0);
	assert_int_equal(place_with(dir), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    RESERVE_TEST(who_only_looks_makes_no_file),
	    RESERVE_TEST(the_file_is_made_for_everybody),
	    RESERVE_TEST(what_is_no_file_is_not_used),
	    RESERVE_TEST(a_path_through_a_file_is_an_error),
	    RESERVE_TEST(a_name_that_is_too_long_is_an_error),
	    RESERVE_TEST(the_longest_path_of_the_kernel_is_the_longest),
	    RESERVE_TEST(a_path_may_begin_anywhere),
	    RESERVE_TEST(a_directory_that_all_may_write_is_sticky),
	    RESERVE_TEST(a_stranger_may_own_neither_directory),
	    RESERVE_TEST(a_strangers_file_must_be_open_to_all),
	    RESERVE_TEST(a_closed_file_is_told),
	    RESERVE_TEST(who_may_not_make_it_is_told),
	    RESERVE_TEST(who_is_outside_of_a_container_is_no_stranger),
	    RESERVE_TEST(all_users_must_be_able_to_write_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

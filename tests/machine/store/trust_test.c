/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust_test.c - checks which machine files are trusted, and how those that are
 * not are handled.
 */
#include "can.h"
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/boards.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/settings.h"
#include "machine/store/trust.h"

#include <fcntl.h>
#include <sys/stat.h>

#define STRANGER 12345

static struct fixture fx;

static int open_it(void **state)
{
	(void)state;
	fixture_open(&fx, 1);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static struct gkf_machine *open_strangers(void)
{
	struct gkf_machine *m = NULL;

	if (chown(fx.path, STRANGER, STRANGER))
		CANNOT("other-users", strerror(errno));
	assert_int_equal(gkf_machine_open(fx.path, &m), 0);
	return m;
}

static void a_machine_of_another_user_is_a_copy(void **state)
{
	struct gkf_machine *m = open_strangers();
	int64_t value = 0;

	(void)state;
	assert_true(gkf_machine_is_copy(m));
	assert_false(gkf_machine_is_copy(fx.m));
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 77), 0);
	assert_true(gkf_value_get(m, 0, GKF_V_TEMPERATURE, &value));
	assert_int_not_equal(value, 77);
	gkf_machine_close(m);
}

static void a_copy_cannot_be_changed(void **state)
{
	struct gkf_machine *m = open_strangers();
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_attach(m, 0, GKF_COMPUTE, NULL, &slot),
			 GK_ERR_PERMISSION);
	assert_int_equal(gkf_value_set(m, 0, GKF_V_TEMPERATURE, 50),
			 GK_ERR_PERMISSION);
	assert_int_equal(gkf_clock_speed(m, 1000), GK_ERR_PERMISSION);
	assert_int_equal(gkf_machine_settle(m), 0);
	gkf_machine_close(m);
}

static void the_time_of_a_copy_stands(void **state)
{
	struct gkf_machine *m = open_strangers();
	uint64_t then = gkf_machine_ns(m);

	(void)state;
	assert_int_equal(gkf_machine_age(fx.m, GK_NS_PER_S), 0);
	assert_true(gkf_machine_ns(m) == then);
	gkf_machine_close(m);
}

static void nobody_may_change_a_copy_through_nvml(void **state)
{
	struct gkf_machine *m = open_strangers();

	(void)state;
	assert_int_equal(gkf_setting(m, GKF_PERMISSION), GKF_PERMIT_NONE);
	assert_int_equal(gkf_setting(fx.m, GKF_PERMISSION), GKF_PERMIT_ROOT);
	assert_int_equal(gkf_clock_get(m).speed, 0);
	assert_int_equal(gkf_clock_get(fx.m).speed, 1000);
	gkf_machine_close(m);
}

static void no_copy_is_made_of_what_is_no_machine(void **state)
{
	struct gkf_machine *m = NULL;

	(void)state;
	if (chown(fx.path, STRANGER, STRANGER))
		CANNOT("other-users", strerror(errno));
	gkf_file_board(fx.file, 0)->profile.sm_count = 0;
	assert_int_equal(gkf_machine_open(fx.path, &m), GK_ERR_CORRUPT);
	gkf_file_board(fx.file, 0)->profile.sm_count = 1;
	fx.file->version++;
	assert_int_equal(gkf_machine_open(fx.path, &m), GK_ERR_VERSION);
	assert_null(m);
}

/* Its owner may do anything to the file. */
static void a_copy_outlives_its_file(void **state)
{
	struct gkf_machine *m = open_strangers();
	struct gkf_state s;

	(void)state;
	assert_int_equal(truncate(fx.path, 0), 0);
	gkf_state_now(m, 0, &s);
	gkf_reap(m, true);
	gkf_machine_close(m);
}

static void what_is_shared_by_its_owner_is_no_copy(void **state)
{
	struct gkf_machine *m = NULL;

	(void)state;
	assert_int_equal(chmod(fx.path, 0666), 0);
	assert_int_equal(gkf_machine_open(fx.path, &m), 0);
	assert_false(gkf_machine_is_copy(m));
	gkf_machine_close(m);
}

/* The result for a path, and how it was opened. */
struct opened {
	int r; /* 0 or an error */
	int access;
	bool foreign;
};

static struct opened open_path(const char *path)
{
	struct opened o = {.foreign = true};
	int fd = gkf_trust_open(path, &o.foreign);

	o.r = fd < 0 ? fd : 0;
	if (fd < 0)
		return o;
	o.access = fcntl(fd, F_GETFL) & O_ACCMODE;
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
	return o;
}

static void own_files_are_opened_for_writing(void **state)
{
	char missing[128], link[128];
	struct opened o = open_path(fx.path);

	(void)state;
	assert_int_equal(o.r, 0);
	assert_int_equal(o.access, O_RDWR);
	assert_false(o.foreign);
	snprintf(missing, sizeof missing, "%s/missing", fx.dir);
	o = open_path(missing);
	assert_int_equal(o.r, GK_ERR_NOT_FOUND);
	assert_false(o.foreign);
	/* In a directory that the user chose, a link is followed. */
	snprintf(link, sizeof link, "%s/link", fx.dir);
	assert_int_equal(symlink(fx.path, link), 0);
	o = open_path(link);
	unlink(link);
	assert_int_equal(o.r, 0);
	assert_int_equal(o.access, O_RDWR);
}

static void those_of_others_are_opened_for_reading(void **state)
{
	struct opened o;

	(void)state;
	if (chown(fx.path, STRANGER, STRANGER))
		CANNOT("other-users", strerror(errno));
	o = open_path(fx.path);
	assert_int_equal(o.r, 0);
	assert_int_equal(o.access, O_RDONLY);
	assert_true(o.foreign);
}

/* Opening it must not wait for a writer. */
static void a_pipe_is_no_machine(void **state)
{
	struct gkf_machine *m = NULL;

	(void)state;
	unlink(fx.path);
	assert_int_equal(mkfifo(fx.path, 0600), 0);
	assert_int_equal(gkf_machine_open(fx.path, &m), GK_ERR_CORRUPT);
	assert_null(m);
}

static void the_private_directory_is_that_of_the_user(void **state)
{
	char dir[64] = "?", expected[64];
	size_t len;

	(void)state;
	len = (size_t)snprintf(expected, sizeof expected, "/dev/shm/gpukit-%u",
			       (unsigned)geteuid());
	assert_int_equal(gkf_private_dir(dir, sizeof dir), 0);
	assert_string_equal(dir, expected);
	assert_int_equal(gkf_private_dir(dir, len + 1), 0);
	assert_string_equal(dir, expected);
	assert_int_equal(gkf_private_dir(dir, len), GK_ERR_INVALID);
}

/* ---- the private directory of a user who owns nothing else ---- */

static struct {
	uid_t user;
	char dir[64], aside[80], file[96], deeper[112];
} own;

static void put_file(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static int leave_own(void **state)
{
	(void)state;
	if (geteuid() == own.user)
		assert_int_equal(seteuid(0), 0);
	unlink(own.deeper);
	rmdir(own.aside);
	unlink(own.file);
	unlink(own.dir);
	rmdir(own.dir);
	snprintf(own.file, sizeof own.file, "%s/machine", own.aside);
	unlink(own.file);
	rmdir(own.aside);
	unlink(own.aside);
	return 0;
}

/* Root becomes a user who owns nothing yet. */
static void become_user(void)
{
	own.user = 100000 + (uid_t)getpid();
	snprintf(own.dir, sizeof own.dir, "/dev/shm/gpukit-%u",
		 (unsigned)own.user);
	snprintf(own.aside, sizeof own.aside, "%s-aside", own.dir);
	snprintf(own.file, sizeof own.file, "%s/machine", own.dir);
	if (seteuid(own.user))
		CANNOT("other-users", strerror(errno));
	assert_int_equal(mkdir(own.dir, 0700), 0);
	put_file(own.file);
}

static void be_root(void)
{
	assert_int_equal(seteuid(0), 0);
}

static void be_user(void)
{
	assert_int_equal(seteuid(own.user), 0);
}

static void nobody_else_may_write_there(void **state)
{
	static const struct {
		mode_t mode;
		int r;
	} cases[] = {{0600, 0},
		     {0644, 0},
		     {0700, 0},
		     {0755, 0},
		     {0720, GK_ERR_PERMISSION},
		     {0702, GK_ERR_PERMISSION},
		     {0777, GK_ERR_PERMISSION}};

	(void)state;
	become_user();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct opened o;

		assert_int_equal(chmod(own.file, cases[i].mode), 0);
		o = open_path(own.file);
		assert_int_equal(o.r, cases[i].r);
		assert_false(o.foreign);
		if (!o.r)
			assert_int_equal(o.access, O_RDWR);
		assert_int_equal(chmod(own.file, 0600), 0);
		if (!(cases[i].mode & 0100))
			continue;
		assert_int_equal(chmod(own.dir, cases[i].mode), 0);
		assert_int_equal(open_path(own.file).r, cases[i].r);
		assert_int_equal(chmod(own.dir, 0700), 0);
	}
}

static void it_may_be_roots_but_no_strangers(void **state)
{
	(void)state;
	become_user();
	assert_int_equal(chmod(own.dir, 0755), 0);
	be_root();
	assert_int_equal(chown(own.dir, 0, 0), 0);
	be_user();
	assert_int_equal(open_path(own.file).r, 0);
	be_root();
	assert_int_equal(chown(own.dir, STRANGER, STRANGER), 0);
	be_user();
	assert_int_equal(open_path(own.file).r, GK_ERR_PERMISSION);
}

static void links_lead_nowhere_there(void **state)
{
	(void)state;
	become_user();
	snprintf(own.deeper, sizeof own.deeper, "%s/link", own.dir);
	assert_int_equal(symlink(own.file, own.deeper), 0);
	assert_int_equal(open_path(own.deeper).r, GK_ERR_PERMISSION);
	assert_int_equal(rename(own.dir, own.aside), 0);
	assert_int_equal(symlink(own.aside, own.dir), 0);
	assert_int_equal(open_path(own.file).r, GK_ERR_PERMISSION);
	assert_int_equal(unlink(own.dir), 0);
	/* Links elsewhere than in the private directory are followed. */
	snprintf(own.deeper, sizeof own.deeper, "%s/link", own.aside);
	assert_int_equal(unlink(own.deeper), 0);
	snprintf(own.file, sizeof own.file, "%s/machine", own.aside);
	assert_int_equal(symlink(own.file, own.deeper), 0);
	assert_int_equal(open_path(own.deeper).r, 0);
}

static void what_is_missing_or_no_directory_is_told(void **state)
{
	(void)state;
	become_user();
	assert_int_equal(unlink(own.file), 0);
	assert_int_equal(open_path(own.file).r, GK_ERR_NOT_FOUND);
	assert_int_equal(rmdir(own.dir), 0);
	assert_int_equal(open_path(own.file).r, GK_ERR_NOT_FOUND);
	put_file(own.dir);
	assert_int_equal(open_path(own.file).r, GK_ERR_PERMISSION);
}

/*
 * Only files directly in it count; a path that only begins like it is another.
 */
static void deeper_directories_are_like_any_other(void **state)
{
	(void)state;
	become_user();
	assert_int_equal(chmod(own.file, 0666), 0);
	assert_int_equal(open_path(own.file).r, GK_ERR_PERMISSION);
	assert_int_equal(mkdir(own.aside, 0700), 0);
	snprintf(own.deeper, sizeof own.deeper, "%s/machine", own.aside);
	put_file(own.deeper);
	assert_int_equal(chmod(own.deeper, 0666), 0);
	assert_int_equal(open_path(own.deeper).r, 0);
	unlink(own.deeper);
	rmdir(own.aside);
	snprintf(own.aside, sizeof own.aside, "%s/lab", own.dir);
	assert_int_equal(mkdir(own.aside, 0700), 0);
	snprintf(own.deeper, sizeof own.deeper, "%s/machine", own.aside);
	put_file(own.deeper);
	assert_int_equal(chmod(own.deeper, 0666), 0);
	assert_int_equal(open_path(own.deeper).r, 0);
}

int main(void)
{
#define OWN(name) cmocka_unit_test_teardown(name, leave_own)
#define T(name)   cmocka_unit_test_setup_teardown(name, open_it, close_it)
	const struct CMUnitTest tests[] = {
	    T(a_machine_of_another_user_is_a_copy),
	    T(a_copy_cannot_be_changed),
	    T(the_time_of_a_copy_stands),
	    T(nobody_may_change_a_copy_through_nvml),
	    T(no_copy_is_made_of_what_is_no_machine),
	    T(a_copy_outlives_its_file),
	    T(what_is_shared_by_its_owner_is_no_copy),
	    T(own_files_are_opened_for_writing),
	    T(those_of_others_are_opened_for_reading),
	    T(a_pipe_is_no_machine),
	    T(the_private_directory_is_that_of_the_user),
	    OWN(nobody_else_may_write_there),
	    OWN(it_may_be_roots_but_no_strangers),
	    OWN(links_lead_nowhere_there),
	    OWN(what_is_missing_or_no_directory_is_told),
	    OWN(deeper_directories_are_like_any_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

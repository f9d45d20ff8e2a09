/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity_test.c - checks that a process keeps its identity whatever it does
 * to its descriptors.
 */
#include "can.h"
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/fixture.h"
#include "machine/store/process/identity.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

static struct fixture fx;

static int open_one(void **state)
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

static unsigned count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void an_open_machine_keeps_no_descriptor(void **state)
{
	unsigned before = count_descriptors(), slot;
	struct gkf_machine *m;

	(void)state;
	assert_int_equal(gkf_machine_open(fx.path, &m), 0);
	assert_int_equal(gkf_attach(m, 0, GKF_COMPUTE, NULL, &slot), 0);
	gkf_reap(m, true);
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(gkf_detach(m, slot), 0);
	gkf_machine_close(m);
	assert_int_equal(count_descriptors(), before);
}

/* A file that reuses the number of a closed descriptor stays open. */
static void closing_a_machine_closes_nothing_of_the_program(void **state)
{
	struct gkf_machine *m;
	int ends[2];

	(void)state;
	if (!fork()) {
		if (gkf_machine_open(fx.path, &m))
			_exit(1);
		closefrom(0);
		for (int i = 0; i < 32; i++)
			if (pipe(ends))
				_exit(2);
		gkf_machine_close(m);
		for (int i = 0; i < 64; i++)
			if (fcntl(i, F_GETFD) < 0)
				_exit(3);
		_exit(0);
	}
	fixture_await(-1, 0);
}

static void a_child_of_who_closed_all_is_itself(void **state)
{
	struct gkf_process row;
	unsigned count;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		unsigned slot;

		closefrom(3);
		_exit(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot) ? 1 : 0);
	}
	fixture_await(pid, 0);
	assert_int_equal(gkf_reap(fx.m, true), 1);
	assert_int_equal(gkf_processes(fx.m, 0, GKF_COMPUTE, &row, 1, &count),
			 0);
	assert_int_equal(count, 0);
}

/* Hides /proc from this process; false where that is not allowed. */
static bool hide_proc(void)
{
	return !unshare(CLONE_NEWNS) &&
	       !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", "/proc", "tmpfs", 0, NULL);
}

/* A process whose end nobody could notice gets no slot. */
static void who_is_not_known_gets_no_slot(void **state)
{
	struct gkf_machine *m;
	unsigned slot;
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		if (!hide_proc())
			_exit(77);
		if (gkf_machine_open(fx.path, &m))
			_exit(1);
		_exit(gkf_attach(m, 0, GKF_COMPUTE, NULL, &slot) == GK_ERR_IO
			  ? 0
			  : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 77 << 8)
		CANNOT("mounts-of-root", "unshare() and mount() refuse");
	assert_int_equal(status, 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	assert_false(atomic_load(&fx.file->slot[0].life) & 1);
}

/* It was identified when it opened the machine; that does not change. */
static void who_was_known_stays_known(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		unsigned slot;

		gkf_self(fx.m);
		if (!hide_proc())
			_exit(77);
		_exit(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 77 << 8)
		CANNOT("mounts-of-root", "unshare() and mount() refuse");
	assert_int_equal(status, 0);
	assert_int_equal(gkf_reap(fx.m, true), 1);
}

/* A slot without an owner, in an overwritten file. */
static void a_slot_of_nobody_is_taken_away(void **state)
{
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	fx.file->slot[slot].pid_ns = 0;
	assert_int_equal(gkf_reap(fx.m, true), 1);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	fx.file->slot[slot].pid = -1;
	assert_int_equal(gkf_reap(fx.m, true), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_one, close_it)
	const struct CMUnitTest tests[] = {
	    T(an_open_machine_keeps_no_descriptor),
	    T(closing_a_machine_closes_nothing_of_the_program),
	    T(a_child_of_who_closed_all_is_itself),
	    T(who_is_not_known_gets_no_slot),
	    T(who_was_known_stays_known),
	    T(a_slot_of_nobody_is_taken_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

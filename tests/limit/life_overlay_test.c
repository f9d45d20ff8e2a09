/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life_overlay_test.c - checks who counts as alive on overlayfs, where locks
 * belong to descriptors.
 */
#include "can.h"
#include "limit/fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define LIMIT GIB

static struct fixture fx;
static int told[2]; /* the child writes, the parent reads */

static void hold(void)
{
	if (!gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, LIMIT, LIMIT) ||
	    write(told[1], "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static bool has_room(void)
{
	if (!gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, LIMIT, LIMIT))
		return false;
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, LIMIT);
	return true;
}

/* The file system of a container's own files. */
static bool mount_overlay(const char *dir)
{
	static const char *const parts[] = {"lower", "upper", "work", "all"};
	char path[128];

	if ((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", dir, "tmpfs", 0, NULL))
		return false;
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, parts[i]);
		if (mkdir(path, 0700))
			return false;
	}
	return !chdir(dir) && !mount("none", path, "overlay", 0,
				     "lowerdir=lower,upperdir=upper,"
				     "workdir=work");
}

enum { NO_OVERLAY = 77 };

static void hold_on_overlay(void)
{
	char path[128], byte;
	pid_t pid;
	bool room;

	snprintf(path, sizeof path, "%s/all/ledger", fx.dir);
	if (!mount_overlay(fx.dir))
		_exit(NO_OVERLAY);
	if (gkl_ledger_open(path, GKL_PRIVATE, &fx.ledger))
		_exit(2);
	pid = start_child(hold);
	if (read(told[0], &byte, 1) != 1)
		_exit(5);
	room = has_room();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	_exit(room ? 3 : has_room() ? 0 : 4);
}

static void where_locks_go_with_descriptors_the_living_live(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	fixture_open(&fx);
	assert_int_equal(pipe(told), 0);
	pid = start_child(hold_on_overlay);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	fixture_close(&fx);
	/* Mounting may not be allowed. */
	if (WEXITSTATUS(status) == NO_OVERLAY)
		CANNOT("overlays", "mount() refuses");
	assert_int_equal(status, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(where_locks_go_with_descriptors_the_living_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
